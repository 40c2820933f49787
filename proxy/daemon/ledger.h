/*
 * daemon/ledger.h - who counts where: the blocks of counters of all pools and
 * servers, of all workers.
 *
 *   account "users", id 1 --> worker 0: [block]   server a --> [block] [block]
 *                             worker 1: [block]   server b --> [block] [block]
 *
 * An account stays as long as a snapshot has a pool, or in it a server, of its
 * name, so that counters go on over reloads.  One that has left is freed when
 * every worker has let go of the snapshots that had it.  Owner: control.
 */
#ifndef DAEMON_LEDGER_H
#define DAEMON_LEDGER_H

#include <sys/queue.h>

#include "session/edition.h"

struct server_account {
    TAILQ_ENTRY(server_account) link;
    char *name;
    uint64_t left_at; /* epoch that has it no more; 0: it is there */
    bool is_claimed;  /* while an epoch is entered */
    struct server_stats **blocks; /* by worker */
};

struct account {
    TAILQ_ENTRY(account) link;
    char *name;
    size_t id; /* never used again */
    uint64_t left_at;
    bool is_claimed;
    TAILQ_HEAD(, server_account) servers;
    struct session_stats **blocks; /* by worker */
    struct audience *audience;     /* of all of them */
    uint64_t *handed;              /* connections ever given, by worker */
    struct script_memory *scripts; /* that clients of the pool have shown */
};

TAILQ_HEAD(account_list, account);

struct ledger {
    struct account_list accounts;
    unsigned workers;
    size_t next_id;
    uint64_t epoch;
    uint64_t *let_go; /* by worker: the epoch that it has reached */
};

struct ledger *ledger_new(unsigned workers);
void ledger_free(struct ledger **ledgerp);

/* Enter a snapshot, whose epoch this sets: make what it has, mark what it has
 * no more. */
void ledger_enter(struct ledger *ledger, struct snapshot *snapshot);

/* Of the snapshot entered last, for one worker. */
struct edition *ledger_edition(const struct ledger *ledger,
                               struct snapshot *snapshot, unsigned worker);

/* The worker has nothing left that this epoch lacks. */
void ledger_let_go(struct ledger *ledger, unsigned worker, uint64_t epoch);
/* How many epochs the slowest worker is behind. */
uint64_t ledger_behind(const struct ledger *ledger);

/* The pool with this id, or this name; NULL when there is none (any more). */
struct account *ledger_find(const struct ledger *ledger, size_t id);
struct account *ledger_find_name(const struct ledger *ledger,
                                 const char *name);

/* Sessions that the worker has, those on their way to it included. */
uint64_t account_sessions(const struct account *account, unsigned worker);

#endif
