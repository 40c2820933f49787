/*
 * config/slurp.c - reading a file with a limit.
 */
#include "config/slurp.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define SLURP_STEP 65536

static int
read_all(int fd, size_t limit, struct buf *out, struct error *error)
{
    size_t start = out->len;

    for (;;) {
        ssize_t got = read(fd, buf_reserve(out, SLURP_STEP), SLURP_STEP);

        if (got == 0)
            return 0;
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return error_set(error, "cannot be read: %s", strerror(errno));
        out->len += (size_t)got;
        if (out->len - start > limit)
            return error_set(error, "is longer than %zu bytes", limit);
    }
}

int
slurp(const char *path, size_t limit, struct buf *out, struct error *error)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

    if (fd < 0)
        return error_set(error, "cannot be opened: %s", strerror(errno));
    /* Once open, waiting for the other end of a pipe is what is wanted. */
    int flags = fcntl(fd, F_GETFL);
    int result = fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) < 0
                     ? error_set(error, "cannot be read: %s", strerror(errno))
                     : read_all(fd, limit, out, error);
    close(fd);
    return result;
}
