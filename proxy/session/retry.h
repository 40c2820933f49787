/*
 * session/retry.h - may this request be sent again?
 *
 * The only place that decides it: a command is sent again when the first try
 * certainly did not run, or when it only reads; and never in a way that would
 * let it overtake a later write of the same client on the same shard.
 *
 * For pools of listed servers every reply is passed on.  In those of clusters, or
 * of masters that Sentinels name, a table says what is done about the errors that
 * tell of a change.
 */
#ifndef SESSION_RETRY_H
#define SESSION_RETRY_H

#include <stdbool.h>

#include "base/close_reason.h"
#include "command/outcome.h"
#include "session/request.h"
#include "upstream/server.h"

#define RETRY_MAX 1      /* times that a request is sent again */
#define RETRY_HOPS_MAX 5 /* redirects that one is sent after */

enum retry_action {
    RETRY_PASS_ON, /* an answer for the client */
    RETRY_FOLLOW,  /* to where it points, if it is a node of the cluster */
    RETRY_WAIT     /* and ask again */
};

/* What an error word asks for in the pool of a cluster. */
enum retry_action retry_action(enum outcome outcome);
/* A replica that says so to a command that only reads: may the primary know
 * better? */
bool retry_by_primary(enum outcome outcome);
/* The same of a master that Sentinels name, at its n-th such answer, from 0. */
enum retry_action retry_action_of_master(enum outcome outcome, unsigned n);
/* UNBLOCKED: was it the server itself that has ended the wait? */
bool retry_is_unblocked_by_role(struct view line) MUST_CHECK;
/* How long to wait at the n-th answer of the kind, from 0. */
uint64_t retry_wait_us(enum outcome outcome, unsigned n);

/* May users write the error replies of this command? */
bool retry_is_user_code(const struct command *command);
bool retry_only_reads(const struct command *command);
/* May it change anything but what the server knows of its client? */
bool retry_writes(const struct command *command);
/* May it write, where nobody takes that now? */
static inline bool
retry_is_barred(const struct command *command, const struct server *server)
{
    return unlikely(gate_bars(server->gate)) && retry_writes(command);
}

/* May it write, where the server may be a primary no more: it has to wait. */
static inline bool
retry_is_held(const struct command *command, const struct server *server)
{
    return unlikely(gate_holds(server->gate)) && !retry_only_reads(command);
}

/* May it run once more? `sent`: it may have run already. */
bool retry_may_run_again(const struct request *request, bool sent) MUST_CHECK;

/* Its lane was lost; `sent`: some of it may have reached the server. */
bool retry_may_resend(const struct request *request, enum close_reason why,
                      bool sent) MUST_CHECK;
/* The same, and its client has seen nothing of an answer: it is held, sent again,
 * or answered with an error. */
void retry_take_loss(struct request *request, enum close_reason why, bool sent);

#endif
