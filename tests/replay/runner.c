/*
 * tests/replay/runner.c - run scripts, each in a process of its own.
 *
 *   runner [FILE.talk | FOLDER]...
 *
 * Every script runs twice: everything sent arrives whole, then byte by byte
 * (or as its "pieces" line says), with the same outcome.  What a script and
 * the proxy say on standard error is shown only when it fails; so are crashes,
 * leaks and scripts that do not end.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "apart.h"
#include "base/log.h"
#include "base/mem.h"
#include "steps.h"

struct run {
    const struct talk *talk;
    size_t piece;
};

static void
run_script(void *arg)
{
    const struct run *run = arg;

    log_set_level(LOG_LEVEL_DEBUG);
    struct world *world = world_new(run->talk, run->piece);
    steps_run(world);
    world_free(&world);
}

static bool
run_apart(const struct talk *talk, size_t piece)
{
    struct run run = {talk, piece};

    return apart_run(talk->name, run_script, &run);
}

static bool
run_file(const char *path)
{
    struct talk *talk = talk_new(path);

    if (talk == NULL)
        return false;
    size_t piece = steps_piece(talk);
    bool passed = run_apart(talk, FAKE_ANY) &&
        (piece == FAKE_ANY || run_apart(talk, piece));
    if (passed)
        printf("ok   %s\n", talk->name);
    talk_free(&talk);
    return passed;
}

static int
is_script(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');

    return dot != NULL && strcmp(dot, ".talk") == 0;
}

static void
run_folder(const char *folder, unsigned *passed, unsigned *failed)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, is_script, alphasort);

    for (int i = 0; i < count; i++) {
        char *path = mem_printf("%s/%s", folder, entries[i]->d_name);
        ++*(run_file(path) ? passed : failed);
        mem_free(path);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}

static void
run_path(const char *path, unsigned *passed, unsigned *failed)
{
    DIR *folder = opendir(path);

    if (folder == NULL) {
        ++*(run_file(path) ? passed : failed);
        return;
    }
    closedir(folder);
    run_folder(path, passed, failed);
}

int
main(int argc, char **argv)
{
    unsigned passed = 0, failed = 0;

    for (int i = 1; i < argc; i++)
        run_path(argv[i], &passed, &failed);
    if (argc == 1)
        run_path(TALKS, &passed, &failed);
    printf("%u scripts passed, %u failed\n", passed, failed);
    return passed > 0 && failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
