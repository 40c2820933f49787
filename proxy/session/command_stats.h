/*
 * session/command_stats.h - what became of the requests of each command.
 *
 *   session_stats.accounts["get"] --> calls by time, failed, rejected
 *                .learnt --> "mymodule.get" --> "mymodule.set" --> NULL
 *
 * Six hundred commands are known and few are used: an account is made when the
 * first request of its command has been answered.  It stays as long as the block
 * of counters that it belongs to.
 *
 * The worker adds to an account, and control keeps what it was at the last CONFIG
 * RESETSTAT; any thread may read it.
 */
#ifndef SESSION_COMMAND_STATS_H
#define SESSION_COMMAND_STATS_H

#include "base/histogram.h"
#include "command/command.h"

struct session_stats;

/* Commands without a row that have an account each; the others share one. */
#define LEARNT_ACCOUNTS_MAX 512

/* The account of what is no call of a command, but an error. */
#define COMMAND_ID_NOBODY COMMAND_ID_ALL
#define COMMAND_ACCOUNTS (COMMAND_ID_ALL + 1)

struct command_stats {
    struct histogram latency; /* of what was answered: the calls */
    struct cell failed;       /* of these, with an error */
    struct cell rejected;     /* got no further than the proxy */
};

struct command_account {
    struct command_stats all;
    struct command_stats before; /* the last CONFIG RESETSTAT */
};

/* One that has no row. */
struct learnt_account {
    struct learnt_account *next;
    char *name;
    struct command_account account;
};

/* Calls of them. */
uint64_t command_stats_calls(const struct command_stats *stats);
/* total += part. */
void command_stats_add(struct command_stats *total,
                       const struct command_stats *part);
/* total += what has been counted since the last CONFIG RESETSTAT. */
void command_stats_add_recent(struct command_stats *total,
                              const struct command_account *account);
void command_account_reset(struct command_account *account);

/* The account of a command, NULL for what is none, that has not got one yet, or
 * that has no row.  By the worker alone. */
struct command_account *command_account_open(struct session_stats *stats,
                                             const struct command *command);

#endif
