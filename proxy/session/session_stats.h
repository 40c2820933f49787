/*
 * session/session_stats.h - the counters of one pool in one worker.
 *
 * The block belongs to control, which outlives the workers; the worker that it
 * was made for is its only writer, but for what CONFIG RESETSTAT remembers.
 */
#ifndef SESSION_SESSION_STATS_H
#define SESSION_SESSION_STATS_H

#include "base/close_reason.h"
#include "base/counter.h"
#include "session/command_stats.h"
#include "session/error_stats.h"

enum session_stat {
#define STAT(name, kind, unit, help) SESSION_STAT_##name,
#include "session/session_stats.def"
#undef STAT
    SESSION_STAT_COUNT
};

struct session_stats {
#define STAT(name, kind, unit, help) struct cell name;
#include "session/session_stats.def"
#undef STAT
    struct cell before[SESSION_STAT_COUNT]; /* the last CONFIG RESETSTAT */
    struct cell ended;                      /* client connections */
    struct cell closed[CLOSE_REASON_COUNT]; /* client connections, by why */
    struct cell commands[COMMAND_ID_ALL];   /* requests, by command */
    /* What became of them; those that have none yet are NULL. */
    struct command_account *accounts[COMMAND_ACCOUNTS];
    struct learnt_account *learnt;
    struct error_stats errors; /* answered, by code */
};

struct session_stats *session_stats_new(void);
void session_stats_free(struct session_stats **statsp);

/* CONFIG RESETSTAT: what INFO tells of calls and errors begins anew.  By control
 * alone. */
void session_stats_reset(struct session_stats *stats);

/* Where the requests of this command count; NULL: what is none. */
static inline struct command_account *
session_stats_account(struct session_stats *stats,
                      const struct command *command)
{
    struct command_account *account =
        command == NULL ? NULL : stats->accounts[command->id];

    return likely(account != NULL) ? account
                                   : command_account_open(stats, command);
}

/* Every account of a command that there is, with its name. */
typedef void (*command_account_fn)(void *arg, const char *name,
                                   const struct command_account *account);
void session_stats_each(const struct session_stats *stats,
                        command_account_fn visit, void *arg);
/* The time of all calls, from request to reply. */
struct histogram session_stats_latency(const struct session_stats *stats);

extern const struct stat_desc session_stat_descs[];
extern const unsigned session_stat_count;

#endif
