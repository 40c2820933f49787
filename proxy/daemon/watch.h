/*
 * daemon/watch.h - one server under watch, for the prober.
 *
 * Control thread only.  Owner: the prober, of which this shows the insides.
 */
#ifndef DAEMON_WATCH_H
#define DAEMON_WATCH_H

#include "daemon/prober.h"
#include "daemon/worker.h"
#include "upstream/health.h"

struct watch {
    struct prober *prober;
    struct watched_pool *pool;
    struct server *server; /* control's own, which has the probing lane */
    uint32_t shard;
    struct address_list *addresses; /* a ref; of which the health is */
    struct health health;
    struct call call;
    struct timer timer;        /* the next probe, or the end of this one's time */
    uint64_t due_us;           /* when that is */
    struct server_stats stats; /* of the probing lane */
    uint64_t answers;          /* of workers, when last looked at */
    bool is_ejected;           /* out of the distribution ... */
    uint64_t ejected_us;       /* ... since then */
    bool is_unpublished;       /* some worker does not know the verdict */
};

struct watched_pool {
    size_t id;            /* of the edition */
    size_t number;        /* in the settings */
    uint64_t numbered_at; /* epoch since which the shards have their numbers */
    struct pool *pool;    /* control's own */
    struct watch **watches; /* by shard */
    uint32_t count;
    bool is_all_live;     /* in the snapshot that is published */
};

struct prober {
    prober_live_fn on_live;
    void *on_live_arg;
    prober_failure_fn on_failure;
    void *on_failure_arg;
    struct timer review; /* health has changed: who is live? */
    struct loop *loop;
    struct worker **workers; /* borrowed */
    unsigned worker_count;
    struct edition **editions; /* by worker; borrowed */
    struct watched_pool **pools; /* as the settings number them */
    size_t pool_count;
    struct chunk *ping;
};

/* With no place yet. */
struct watch *watch_new(struct prober *prober, struct watched_pool *pool);
/* The pool has a new generation, in which the server has this number. */
void watch_place(struct watch *watch, uint32_t shard);
/* Its lanes are closed. */
void watch_free(struct watch **watchp);

/* A worker has met this, or a probe. */
void watch_on_incident(struct watch *watch, enum incident what);

#endif
