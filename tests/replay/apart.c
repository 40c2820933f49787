/*
 * tests/replay/apart.c - a child, and what it leaves behind.
 */
#include "apart.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"

#define APART_SECONDS 60

static void
show(FILE *file)
{
    char line[1024];

    rewind(file);
    while (fgets(line, sizeof(line), file) != NULL)
        printf("  %s", line);
}

static const char *
describe(int status, char *text, size_t size)
{
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        snprintf(text, size, "did not end in %d s", APART_SECONDS);
    else if (WIFSIGNALED(status))
        snprintf(text, size, "ended by signal %d", WTERMSIG(status));
    else
        snprintf(text, size, "exit status %d", WEXITSTATUS(status));
    return text;
}

bool
apart_run(const char *name, void (*run)(void *arg), void *arg)
{
    FILE *output = tmpfile();
    char text[40];
    int status;

    ASSERT(output != NULL);
    fflush(NULL);
    pid_t pid = fork();
    ASSERT(pid >= 0);
    if (pid == 0) {
        dup2(fileno(output), STDERR_FILENO);
        alarm(APART_SECONDS);
        run(arg);
        exit(EXIT_SUCCESS);
    }
    waitpid(pid, &status, 0);
    bool passed = status == 0;
    if (!passed) {
        printf("FAIL %s: %s\n", name, describe(status, text, sizeof(text)));
        show(output);
    }
    fclose(output);
    return passed;
}
