/*
 * daemon/epochs.c - a small file of epochs.
 */
#include "daemon/epochs.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "config/slurp.h"

struct epoch_line {
    char *pool;
    char *master;
    uint64_t epoch;
};

struct epochs {
    char *path; /* NULL: nowhere */
    struct epoch_line *lines;
    size_t count;
};

/* --- lines ------------------------------------------------------------------------ */

static struct epoch_line *
find_line(const struct epochs *epochs, struct view pool, struct view master)
{
    for (size_t i = 0; i < epochs->count; i++) {
        struct epoch_line *line = &epochs->lines[i];
        if (view_equal(view_str(line->pool), pool) &&
            view_equal(view_str(line->master), master))
            return line;
    }
    return NULL;
}

/* NULL when there are too many. */
static struct epoch_line *
get_line(struct epochs *epochs, struct view pool, struct view master)
{
    struct epoch_line *line = find_line(epochs, pool, master);

    if (line != NULL || epochs->count == EPOCHS_MAX)
        return line;
    epochs->lines = mem_realloc(epochs->lines,
                                (epochs->count + 1) * sizeof(*epochs->lines));
    line = &epochs->lines[epochs->count++];
    *line = (struct epoch_line){
        .pool = mem_view_dup(pool),
        .master = mem_view_dup(master),
    };
    return line;
}

/* --- reading ---------------------------------------------------------------------- */

int
epochs_parse(struct epochs *epochs, struct view text, struct error *error)
{
    for (unsigned number = 1; text.len > 0; number++) {
        struct view line = view_take(&text, '\n');
        uint64_t epoch;
        if (line.len == 0)
            continue;
        bool is_number = view_to_u64(view_take(&line, ' '), &epoch);
        struct view master = view_take(&line, ' ');
        if (!is_number || master.len == 0 || line.len == 0)
            return error_set(error, "line %u is not EPOCH MASTER POOL",
                             number);
        struct epoch_line *into = get_line(epochs, line, master);
        if (into == NULL)
            return error_set(error, "more than %d lines", EPOCHS_MAX);
        into->epoch = MAX(into->epoch, epoch);
    }
    return 0;
}

static int
read_file(struct epochs *epochs, struct error *error)
{
    struct buf text = {0};
    struct error why;

    if (access(epochs->path, F_OK) < 0 && errno == ENOENT)
        return 0; /* nothing was ever believed */
    int failed = slurp(epochs->path, EPOCHS_BYTES_MAX, &text, &why);
    if (!failed)
        failed = epochs_parse(epochs, buf_view(&text), &why);
    buf_fini(&text);
    if (failed)
        return error_set(error, "state_file %s: %s", epochs->path, why.text);
    return 0;
}

/* --- writing ---------------------------------------------------------------------- */

static int
write_whole(int fd, struct view text)
{
    while (text.len > 0) {
        ssize_t written = write(fd, text.data, text.len);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return -1;
        text = view_of(text.data + written, text.len - (size_t)written);
    }
    return fsync(fd);
}

/* The old file or the new one, whenever somebody pulls the plug. */
static int
replace_file(const char *path, const char *temporary, struct view text)
{
    int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    if (fd < 0)
        return -1;
    int failed = write_whole(fd, text);
    if (close(fd) < 0 || failed || rename(temporary, path) < 0) {
        int why = errno;
        unlink(temporary);
        errno = why;
        return -1;
    }
    return 0;
}

/* A device such as /dev/null must not be replaced by a file. */
static bool
is_something_else(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

/* NULL: nothing stands against it, as far as can be told without trying. */
static const char *
why_unwritable(const char *path)
{
    if (is_something_else(path))
        return "Not a regular file";
    char *folder = mem_strdup(path);
    bool failed = access(dirname(folder), W_OK | X_OK) < 0;
    mem_free(folder);
    return failed ? strerror(errno) : NULL;
}

static void
log_unwritable(const char *path, const char *why)
{
    char quoted[LOG_PATH_MAX];

    log_error("state_file cannot be written", "path=%s error=\"%s\"",
              log_quote(quoted, sizeof(quoted), view_str(path)), why);
}

static void
write_file(const struct epochs *epochs)
{
    struct buf text = {0};

    if (epochs->path == NULL)
        return;
    if (is_something_else(epochs->path)) {
        log_unwritable(epochs->path, "Not a regular file");
        return;
    }
    for (size_t i = 0; i < epochs->count; i++)
        buf_printf(&text, "%llu %s %s\n",
                   (unsigned long long)epochs->lines[i].epoch,
                   epochs->lines[i].master, epochs->lines[i].pool);
    char *temporary = mem_printf("%s.new", epochs->path);
    if (replace_file(epochs->path, temporary, buf_view(&text)) < 0)
        log_unwritable(epochs->path, strerror(errno));
    mem_free(temporary);
    buf_fini(&text);
}

/* --- the table --------------------------------------------------------------------- */

uint64_t
epochs_find(const struct epochs *epochs, const char *pool, const char *master)
{
    const struct epoch_line *line =
        find_line(epochs, view_str(pool), view_str(master));

    return line == NULL ? 0 : line->epoch;
}

void
epochs_raise(struct epochs *epochs, const char *pool, const char *master,
             uint64_t epoch)
{
    struct epoch_line *line =
        get_line(epochs, view_str(pool), view_str(master));

    if (line == NULL || line->epoch >= epoch)
        return;
    line->epoch = epoch;
    write_file(epochs);
}

void
epochs_set_path(struct epochs *epochs, const char *path)
{
    bool is_same = path == NULL || epochs->path == NULL
        ? path == epochs->path
        : strcmp(path, epochs->path) == 0;

    if (is_same)
        return;
    mem_free(epochs->path);
    epochs->path = path == NULL ? NULL : mem_strdup(path);
    write_file(epochs);
}

struct epochs *
epochs_new(const char *path, struct error *error)
{
    struct epochs *epochs = MEM_NEW(struct epochs);

    epochs->path = path == NULL ? NULL : mem_strdup(path);
    if (path == NULL)
        return epochs;
    if (read_file(epochs, error) < 0) {
        epochs_free(&epochs);
        return NULL;
    }
    /* Told now, not by the first failover; nothing is written, as another
     * process may be about to end that still writes there. */
    const char *why = why_unwritable(path);
    if (why != NULL)
        log_unwritable(path, why);
    return epochs;
}

void
epochs_free(struct epochs **epochsp)
{
    struct epochs *epochs = *epochsp;

    *epochsp = NULL;
    if (epochs == NULL)
        return;
    for (size_t i = 0; i < epochs->count; i++) {
        mem_free(epochs->lines[i].pool);
        mem_free(epochs->lines[i].master);
    }
    mem_free(epochs->lines);
    mem_free(epochs->path);
    mem_free(epochs);
}
