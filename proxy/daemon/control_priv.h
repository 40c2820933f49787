/*
 * daemon/control_priv.h - the state of control, for the files that act on it.
 *
 *   control.c   questions, signals, the end
 *   publish.c   a new snapshot for everybody
 *   reload.c    a new snapshot from the file
 *
 * Control thread only.
 */
#ifndef DAEMON_CONTROL_PRIV_H
#define DAEMON_CONTROL_PRIV_H

#include "admin/admin.h"
#include "daemon/clusters.h"
#include "daemon/control.h"
#include "daemon/door.h"
#include "daemon/epochs.h"
#include "daemon/gather.h"
#include "daemon/ledger.h"
#include "daemon/masters.h"
#include "daemon/memory_watch.h"
#include "daemon/monitors.h"
#include "daemon/prober.h"
#include "daemon/worker.h"
#include "discovery/names.h"

enum control_state {
    CONTROL_RUNNING,  /* accepting and serving */
    CONTROL_DRAINING, /* no new connections; requests in flight are finished */
    CONTROL_STOPPED   /* the loop is to end */
};

struct control {
    enum control_state state;
    const char *path; /* of the configuration file */
    struct loop *loop;
    struct mailbox mailbox; /* to control */
    struct snapshot *snapshot;
    struct ledger *ledger;
    struct worker **workers;
    unsigned worker_count;
    unsigned drained; /* workers without a session left */
    struct door *door;
    struct prober *prober;
    struct watched_cluster_list clusters;
    struct names *names;
    struct watched_masters_list masters;
    struct epochs *epochs; /* of masters */
    struct admin_source source;
    struct admin *admin;
    struct gather_list gathers;
    uint64_t next_gather_id;
    struct monitored_list monitored; /* pools that somebody watches */
    struct timer shutdown;
    struct timer tick; /* once a second */
    struct memory_watch memory;
    struct signal_watch signals[4];
};

/* --- publish.c -------------------------------------------------------------- */

/* The snapshot is in force from now on: accounts are made for what it has, the
 * workers go on by it.  Takes the ref over. */
void control_publish(struct control *control, struct snapshot *snapshot);

/* Publish a route of pool `number` for which some shards are not live: one word
 * a shard, NULL for all live.  Sessions take it up with nothing in flight, as
 * they do after a reload; a reload makes all shards live again. */
int control_publish_live(struct control *control, size_t number,
                         const bool *live, struct error *error) MUST_CHECK;

/* Names lead elsewhere: publish the same with other addresses. */
void control_publish_addresses(struct control *control);

/* A worker has nothing left that this epoch lacks. */
void control_take_let_go(struct control *control, unsigned worker,
                         uint64_t epoch);

/* --- reload.c --------------------------------------------------------------- */

/* Read the file again and go on by it, or log why not and change nothing. */
void control_reload(struct control *control);

#endif
