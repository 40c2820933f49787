/*
 * discovery/sentinel_read.h - what Sentinels say, in words of ours.
 *
 *   SENTINEL MASTER name      one instance   -+
 *   SENTINEL GET-MASTER-ADDR-BY-NAME name     host and port
 *   SENTINEL SENTINELS name   several of it   +- fields and values in turn
 *   SENTINEL REPLICAS name    several of it  -+
 *   SENTINEL MYID             a run id
 *   messages                  +switch-master acc1 10.0.0.1 6379 10.0.0.2 6379
 *   __sentinel__:hello        ip,port,runid,epoch,name,ip,port,config epoch
 *
 * Pure.  Views point into what was read.  A Sentinel may be of any version, or
 * something else altogether: what is not understood is skipped, what does not
 * make sense is no answer, and lists are cut at the caller's bound.
 */
#ifndef DISCOVERY_SENTINEL_READ_H
#define DISCOVERY_SENTINEL_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "base/view.h"

/* Longer ones are nobody's: a DNS name has 253. */
#define SENTINEL_HOST_MAX 255
#define SENTINEL_RUN_ID_MAX 64 /* 40 are in use */

enum sentinel_reply {
    SENTINEL_OK,
    SENTINEL_NO_NAME, /* it does not know the master */
    SENTINEL_ERROR,   /* another error: who reads it shows its text */
    SENTINEL_BAD      /* not what was asked for */
};

/* Flags of an instance. */
enum sentinel_flag {
    SENTINEL_S_DOWN = 1 << 0,
    SENTINEL_O_DOWN = 1 << 1,
    SENTINEL_MASTER_DOWN = 1 << 2,
    SENTINEL_DISCONNECTED = 1 << 3,
    SENTINEL_FAILOVER = 1 << 4 /* failover_in_progress */
};

/* A master, a replica or another Sentinel. */
struct sentinel_instance {
    struct view host; /* as it is announced: an address or a name */
    struct view run_id;
    uint64_t epoch;   /* of a master: config-epoch */
    struct view master_host; /* of a replica, like the next two ... */
    uint64_t offset;
    uint16_t master_port;
    uint16_t port;
    unsigned flags;
    bool is_link_ok;  /* ... and the last three: to its master */
    bool is_replica;  /* it says so itself */
    bool is_hidden;   /* replica-announced 0 */
};

/* An answer to SENTINEL MASTER.  Without a config-epoch it is no answer. */
enum sentinel_reply sentinel_read_master(struct view reply,
                                         struct sentinel_instance *master);
/* An answer to SENTINEL GET-MASTER-ADDR-BY-NAME replaces the address: towards the
 * end of a failover its leader says there first who was promoted. */
void sentinel_read_address(struct view reply,
                           struct sentinel_instance *master);
/* An answer to SENTINEL SENTINELS or REPLICAS: up to `max` of those that have
 * an address. */
enum sentinel_reply sentinel_read_list(struct view reply,
                                       struct sentinel_instance *list,
                                       size_t max, size_t *count);
/* An answer to SENTINEL MYID: empty when it gives none. */
struct view sentinel_read_id(struct view reply);

/* May it be read from, as far as its Sentinel knows, if it is linked to its
 * master? */
bool sentinel_replica_is_well(const struct sentinel_instance *replica);

/* --- messages ----------------------------------------------------------------- */

struct sentinel_message {
    struct view channel;
    struct view payload;
};

/* A push or array of message or pmessage. */
bool sentinel_read_message(struct view reply,
                           struct sentinel_message *message) MUST_CHECK;

/* What an event asks us to do; it proves nothing. */
enum sentinel_event_kind {
    SENTINEL_EVENT_NOISE,
    SENTINEL_EVENT_MASTER,    /* the address may have changed, or be about to */
    SENTINEL_EVENT_FAILOVER,  /* one has begun */
    SENTINEL_EVENT_PROMOTING, /* ... and a replica has been told to be a master */
    SENTINEL_EVENT_ABORTED,   /* ... and it has come to nothing */
    SENTINEL_EVENT_REPLICAS,  /* one has come, gone or changed */
    SENTINEL_EVENT_SENTINELS, /* likewise */
    SENTINEL_EVENT_TILT,      /* its answers are doubtful ... */
    SENTINEL_EVENT_TILT_END   /* ... no longer */
};

struct sentinel_event {
    enum sentinel_event_kind kind;
    struct view master; /* empty: any */
};

struct sentinel_event
sentinel_read_event(const struct sentinel_message *message);

/* What Sentinels tell each other by way of the instances that they watch. */
struct sentinel_hello {
    struct view run_id; /* of the Sentinel */
    struct view master;
    struct view host;
    uint16_t port;
    uint64_t epoch;     /* config epoch of the master */
};

bool sentinel_read_hello(struct view payload,
                         struct sentinel_hello *hello) MUST_CHECK;

#endif
