/*
 * config/settings.h - what the operator wrote, checked and complete.
 *
 * Made by settings_load() (or settings_parse() from memory), then never
 * changed: a snapshot holds it and any thread reads it.  All strings belong to
 * the struct.  Scalars are rows of config/settings.def.
 */
#ifndef CONFIG_SETTINGS_H
#define CONFIG_SETTINGS_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/log.h"
#include "base/view.h"
#include "command/access.h"
#include "route/route.h"

#define SETTINGS_BOOL(key) bool key;
#define SETTINGS_COUNT(key) uint64_t key;
#define SETTINGS_MSEC(key) int64_t key##_ms;
#define SETTINGS_USEC(key) int64_t key##_us;
#define SETTINGS_BYTES(key) uint64_t key##_bytes;
#define SETTINGS_TEXT(key) char *key;

/* Where to listen or connect: text that net/address.h can take apart. */
struct address_text {
    char *host;         /* without brackets; NULL for a UNIX socket */
    uint16_t port;
    char *path;         /* UNIX socket, else NULL */
    int mode;           /* of the socket file, -1: leave to the umask */
    char *text;         /* as written, for messages */
};

/* Who answers commands that only read, in the pool of a cluster. */
enum read_from {
    READ_FROM_PRIMARY,
    READ_FROM_REPLICA,        /* the primary only while no replica can */
    READ_FROM_PREFER_REPLICA, /* any replica, else the primary */
    READ_FROM_NEAREST,        /* whoever answers soonest */
    READ_FROM_ZONE            /* in our zone, else as prefer_replica */
};

/* In which availability zone nodes are. */
struct zone_rule {
    uint8_t address[16]; /* the first `bits` of them count */
    uint8_t len;         /* 4 or 16 */
    uint8_t bits;
    uint16_t port;       /* 0: any */
    char *zone;
};

struct server_settings {
    char *name;         /* twemproxy's node name rules */
    struct address_text address;    /* empty when it has a master */
    char *master;       /* the name by which Sentinels know it, or NULL */
    uint32_t weight;
    bool is_default;                /* range */
    struct range_spec *ranges;      /* range */
    size_t range_count;
    struct slot_span *slots;        /* slots */
    size_t slot_count;
};

/* How requests for a server that cannot be reached are answered. */
enum down_answer {
    DOWN_ERROR, /* with an error */
    DOWN_NIL,   /* reads as if the key were missing, others with an error */
    DOWN_EJECT  /* by the others, as it is taken out of the distribution */
};

/* When the commands between MULTI and EXEC are sent. */
enum transactions {
    TRANSACTIONS_QUEUED, /* with EXEC, in one piece */
    TRANSACTIONS_DIRECT  /* each at once, over a connection of its own */
};

/* Over which connections servers tell clients what is changed. */
enum tracking_way {
    TRACKING_SHARED, /* one for all of a worker, but with NOLOOP */
    TRACKING_DIRECT  /* each client's own */
};

struct pool_settings {
    char *name;
    struct address_text *listens;
    size_t listen_count;
    enum distribution distribution;
    enum hash_kind hash;
    bool unsigned_chars;            /* hash_chars: signed | unsigned */
    bool has_tag;
    char tag[2];
    enum range_by range_by;
    enum down_answer on_server_down;
    enum transactions transactions;
    enum tracking_way tracking;
    bool auth_by_servers;           /* auth: servers */
    struct access *access;          /* commands; NULL: all are allowed ... */
    char *access_rules;             /* ... and as they were written */
    struct access *server_commands; /* allowed: to the servers; NULL: none */
    struct server_settings *servers;    /* in the order written */
    size_t server_count;
    struct address_text *seeds;         /* cluster: where to ask for servers */
    size_t seed_count;                  /* 0: they are listed */
    enum read_from read_from;
    bool rejects_without_quorum;        /* on_no_quorum: reject_writes */
    struct zone_rule *zones;            /* of a cluster's nodes */
    size_t zone_count;
    struct address_text announce;       /* to clients; no host: where they are */
    struct address_text *sentinels;     /* where to ask for masters */
    size_t sentinel_count;              /* 0: servers have addresses */
#define POOL(key, TYPE, def, min, max, help) SETTINGS_##TYPE(key)
#include "config/settings.def"
};

/* Are servers that are down taken out of the distribution? */
static inline bool
pool_ejects(const struct pool_settings *pool)
{
    return pool->auto_eject_hosts || pool->on_server_down == DOWN_EJECT;
}

struct settings {
    unsigned workers;               /* auto: the number of processors */
    bool has_stats;                 /* stats: off makes it false */
    struct address_text stats;
    enum log_level log_level;
    char *resolver;                 /* "127.0.0.1:53,[::1]:53"; NULL: the system's */
    struct pool_settings *pools;    /* in the order written */
    size_t pool_count;
#define PROCESS(key, TYPE, def, min, max, help) SETTINGS_##TYPE(key)
#include "config/settings.def"
};

/*
 * Read and check a file.  NULL on failure.  Messages for the operator are
 * appended to `messages`, one a line, each "file:line:column: error: ..." or
 * "...: warning: ..."; there may be warnings with a result that is not NULL,
 * and several errors at once without one.
 */
struct settings *settings_load(const char *path,
                               struct buf *messages) MUST_CHECK;
/* The same from memory; `name` stands for the file in messages. */
struct settings *settings_parse(const char *name, struct view text,
                                struct buf *messages) MUST_CHECK;
void settings_free(struct settings **settingsp);

/* Does it ask the nodes of a cluster who its servers are? */
static inline bool
pool_is_cluster(const struct pool_settings *pool)
{
    return pool->seed_count > 0;
}

/* Does it ask Sentinels where its servers are? */
static inline bool
pool_is_named(const struct pool_settings *pool)
{
    return pool->sentinel_count > 0;
}

/* Do its servers change while it runs, as somebody else says? */
static inline bool
pool_is_followed(const struct pool_settings *pool)
{
    return pool_is_cluster(pool) || pool_is_named(pool);
}

/* NULL when there is no such pool. */
const struct pool_settings *settings_find_pool(const struct settings *settings,
                                               struct view name);

/* The route of a pool (all servers live).  Checked when loading, so it only
 * fails when memory is short. */
struct route *settings_make_route(const struct pool_settings *pool,
                                  struct error *error) MUST_CHECK;
/* That of a cluster, as its nodes say: the names of the shards, and for each of
 * the ROUTE_SLOTS its owner's number or ROUTE_NO_OWNER. */
struct route *settings_make_cluster_route(const struct pool_settings *pool,
                                          const struct view *names,
                                          size_t count,
                                          const uint16_t *owners,
                                          struct error *error) MUST_CHECK;
/* The same with some servers not live: one word a server, NULL for all live. */
struct route *settings_make_live_route(const struct pool_settings *pool,
                                       const bool *live,
                                       struct error *error) MUST_CHECK;

/* Does every key belong to a shard of the same number and name in both?  Of pools
 * that are no clusters. */
bool settings_route_alike(const struct pool_settings *one,
                          const struct pool_settings *other) MUST_CHECK;

#endif
