/*
 * daemon/main.c - the command line.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log_limit.h"
#include "base/mem.h"
#include "base/version.h"
#include "daemon/control.h"
#include "daemon/crash.h"
#include "daemon/descriptors.h"
#include "daemon/messages.h"
#include "daemon/tools.h"

static const char usage[] =
    "usage: pointsman -c FILE                     run in the foreground\n"
    "       pointsman -t -c FILE                  check the file\n"
    "       pointsman route -c FILE POOL KEY...   where keys go, and why\n"
    "       pointsman --version | --help\n";

enum action { ACTION_RUN, ACTION_CHECK, ACTION_ROUTE };

struct command_line {
    enum action action;
    const char *path;
    int argc; /* what follows the options */
    char **argv;
};

/* `word`: what the problem is with, or NULL. */
static void
leave_with_usage(const char *problem, const char *word)
{
    fprintf(stderr, "pointsman: %s%s%s\n%s", problem,
            word == NULL ? "" : ": ", word == NULL ? "" : word, usage);
    exit(EXIT_FAILURE);
}

/* The status to leave with: that nothing is missing of what was printed. */
static int
finish_output(int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    fprintf(stderr, "pointsman: cannot write to standard output: %s\n",
            strerror(errno));
    return EXIT_FAILURE;
}

static void
parse_options(struct command_line *line, int argc, char **argv)
{
    static const struct option options[] = {
        {"config", required_argument, NULL, 'c'},
        {"test", no_argument, NULL, 't'},
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},
        {NULL, 0, NULL, 0},
    };
    int option;

    while ((option = getopt_long(argc, argv, "+c:thV", options, NULL)) != -1) {
        switch (option) {
        case 'c':
            line->path = optarg;
            break;
        case 't':
            line->action = ACTION_CHECK;
            break;
        case 'h':
            fputs(usage, stdout);
            exit(finish_output(EXIT_SUCCESS));
        case 'V':
            printf("pointsman %s\n", POINTSMAN_VERSION);
            exit(finish_output(EXIT_SUCCESS));
        default:
            fputs(usage, stderr);
            exit(EXIT_FAILURE);
        }
    }
    line->argc = argc - optind;
    line->argv = argv + optind;
    if (line->action != ACTION_ROUTE && line->argc > 0)
        leave_with_usage("there is a word too many", line->argv[0]);
}

static void
parse_command_line(struct command_line *line, int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "route") == 0) {
        line->action = ACTION_ROUTE;
        argc--;
        argv++;
    }
    parse_options(line, argc, argv);
    if (line->path == NULL)
        leave_with_usage("a configuration FILE is needed (-c)", NULL);
    if (line->action == ACTION_ROUTE && line->argc < 2)
        leave_with_usage("route wants a POOL and at least one KEY", NULL);
}

/* What stands in the way is left there: not ours, or a device. */
static void
remove_pid_file(const char *path)
{
    struct stat status;

    if (stat(path, &status) == 0 && S_ISREG(status.st_mode))
        unlink(path);
}

/* False when there is none of ours, which the log tells. */
static bool
write_pid_file(const char *path)
{
    FILE *file = path == NULL ? NULL : fopen(path, "we");

    if (path == NULL)
        return false;
    bool is_written =
        file != NULL && fprintf(file, "%ld\n", (long)getpid()) > 0;
    if (file != NULL && fclose(file) != 0)
        is_written = false;
    if (!is_written) {
        const char *why = strerror(errno);
        char quoted[LOG_PATH_MAX];
        log_warn("cannot write pid_file", "path=%s error=\"%s\"",
                 log_quote(quoted, sizeof(quoted), view_str(path)), why);
    }
    return is_written;
}

/* NULL after having printed why. */
static struct snapshot *
load_snapshot(const char *path)
{
    struct buf messages = {0};
    struct settings *settings = settings_load(path, &messages);
    struct error error;

    if (settings == NULL) {
        fwrite(messages.data, 1, messages.len, stderr);
        buf_fini(&messages);
        return NULL;
    }
    log_set_level(settings->log_level);
    log_limit_set(settings->log_repeats);
    if (log_open(settings->log_file, &error) < 0) {
        fprintf(stderr, "pointsman: %s\n", error.text);
        buf_fini(&messages);
        settings_free(&settings);
        return NULL;
    }
    messages_log(&messages);
    buf_fini(&messages);
    descriptors_bound_clients(settings);
    struct snapshot *snapshot = snapshot_new(settings, &error);
    if (snapshot == NULL) {
        fprintf(stderr, "pointsman: %s\n", error.text);
        settings_free(&settings);
    }
    return snapshot;
}

/* Takes the snapshot's ref over. */
static int
serve_snapshot(const char *path, struct snapshot *snapshot,
               const char *pid_file)
{
    struct error error;
    struct control *control = control_new(path, snapshot, &error);

    snapshot_unref(&snapshot);
    if (control == NULL) {
        log_error("cannot start", "error=\"%s\"", error.text);
        fprintf(stderr, "pointsman: %s\n", error.text);
        return EXIT_FAILURE;
    }
    /* Only now: who cannot listen must not replace another's file. */
    bool is_written = write_pid_file(pid_file);
    control_run(control);
    control_free(&control);
    if (is_written)
        remove_pid_file(pid_file);
    return EXIT_SUCCESS;
}

static int
serve_file(const char *path)
{
    struct snapshot *snapshot = load_snapshot(path);

    if (snapshot == NULL)
        return EXIT_FAILURE;
    char quoted[LOG_PATH_MAX];
    log_info("starting", "version=%s pid=%ld file=%s", POINTSMAN_VERSION,
             (long)getpid(), log_quote(quoted, sizeof(quoted), view_str(path)));
    /* It outlives the snapshot, as no reload changes it. */
    const char *text = snapshot->settings->pid_file;
    char *pid_file = text == NULL ? NULL : mem_strdup(text);
    int status = serve_snapshot(path, snapshot, pid_file);
    mem_free(pid_file);
    return status;
}

/* What would end us before control watches for signals. */
static void
prepare_signals(void)
{
    sigset_t kept;

    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a log that may not grow loses lines */
    /* They wait until control takes them. */
    sigemptyset(&kept);
    sigaddset(&kept, SIGHUP);
    sigaddset(&kept, SIGUSR1);
    sigprocmask(SIG_BLOCK, &kept, NULL);
}

static int
serve(const char *path)
{
    prepare_signals();
    descriptors_fill_standard();
    crash_install();
    struct crash_stack *stack = crash_join("control", 0);
    int status = serve_file(path);
    crash_leave(&stack);
    return status;
}

int
main(int argc, char **argv)
{
    struct command_line line = {.action = ACTION_RUN};

    parse_command_line(&line, argc, argv);
    switch (line.action) {
    case ACTION_RUN:
        return serve(line.path);
    case ACTION_CHECK:
        return finish_output(tool_check(line.path));
    case ACTION_ROUTE:
        return finish_output(tool_route(line.path, line.argc, line.argv));
    }
    return EXIT_FAILURE;
}
