/*
 * base/doing.h - what each thread is doing, for the last words of a crash.
 *
 * A thread notes pointers and numbers that it has at hand anyhow: a few stores
 * into its own memory.  Nobody reads them but the crash handler, when all is
 * over (daemon/crash.h).  The strings are those of settings: they live as long
 * as the snapshot that they belong to, so whoever lets go of one clears the
 * note.
 */
#ifndef BASE_DOING_H
#define BASE_DOING_H

#include <stdbool.h>

#include "base/base.h"

#define DOING_THREADS 72 /* control, workers, and some more */

struct doing {
    const char *thread;  /* "control", "worker"; NULL: it has not joined */
    unsigned number;     /* of a worker */
    const char *pool;    /* or NULL, as the rest */
    const char *server;  /* whose replies are being read */
    const char *command; /* of the request that was taken last ... */
    uint64_t session_id; /* ... by this client; 0: none */
};

extern _Thread_local struct doing doing_now;

/* The calling thread is to be mentioned, by this name, until it leaves.  False:
 * there are DOING_THREADS already. */
bool doing_join(const char *thread, unsigned number);
void doing_leave(void);

/* Of all that have joined: NULL where there is none. */
const struct doing *doing_at(unsigned place);

static inline void
doing_client(const char *pool, uint64_t session_id)
{
    doing_now.pool = pool;
    doing_now.session_id = session_id;
    doing_now.command = NULL;
    doing_now.server = NULL;
}

static inline void
doing_server(const char *pool, const char *server)
{
    doing_now.pool = pool;
    doing_now.server = server;
    doing_now.session_id = 0;
    doing_now.command = NULL;
}

static inline void
doing_nothing(void)
{
    doing_client(NULL, 0);
}

#endif
