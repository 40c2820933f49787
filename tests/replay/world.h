/*
 * tests/replay/world.h - the proxy of one script, and all whom it talks to.
 *
 * The real rooms session and upstream, one worker's worth, on a fake net.  A
 * script runs in a process of its own, so a failed step just says what was
 * wrong and ends it.
 */
#ifndef TESTS_REPLAY_WORLD_H
#define TESTS_REPLAY_WORLD_H

#include <stdbool.h>

#include "base/buf.h"
#include "daemon/ledger.h"
#include "fake_net.h"
#include "session/env.h"
#include "talk.h"

#define WORLD_PEERS_MAX 64
#define WORLD_NAME_MAX 16

struct world_peer {
    char name[WORLD_NAME_MAX];
    struct fake_peer *peer;
};

struct world {
    const struct talk *talk;
    unsigned line;   /* being run, from 1 */
    size_t piece;    /* of what peers send, unless they say otherwise */
    bool is_holding; /* nothing turns until "go" */
    struct loop *loop;
    const struct settings *settings; /* NULL until there is a pool */
    struct ledger *ledger;
    struct edition *edition; /* the newest */
    struct budget budget; /* of memory */
    struct session_env env;
    uint64_t sessions;
    struct world_peer peers[WORLD_PEERS_MAX];
    size_t peer_count;
    struct question question; /* the last that was asked of control ... */
    struct buf question_text; /* ... and its text */
    bool is_asked;
    enum map_cause hint; /* the last, about a map of a cluster */
    bool has_hint;
    unsigned hint_count; /* since the script began */
    bool takes_hints; /* control has one, and needs no more until the next map */
};

struct world *world_new(const struct talk *talk, size_t piece);
/* Everything is closed; what was forgotten to be freed ends the process. */
void world_free(struct world **worldp);

/* Say where and why, and end the script. */
void world_fail(const struct world *world, const char *fmt, ...)
    PRINTF_LIKE(2, 3) NORETURN;

/* Start the proxy with a configuration, or let it go on by another. */
void world_configure(struct world *world, struct view yaml);

/* The nodes of the cluster have been asked. */
void world_set_topology(struct world *world, const struct topology *topology);

/* Let happen what can without time going by, unless the script holds it. */
void world_settle(struct world *world);

/* The worker is sent an edition of it; takes the ref over. */
void world_publish(struct world *world, struct snapshot *snapshot);

/* Under a name that is free, or whose last owner is closed. */
struct fake_peer *world_add_peer(struct world *world, struct view name,
                                 struct fake_peer *peer);
struct world_peer *world_get_peer(struct world *world, struct view name);

/* The number of a server in the first pool, and the port that it listens on. */
size_t world_get_server(const struct world *world, struct view name);
uint16_t world_get_port(const struct world *world, struct view server);

#endif
