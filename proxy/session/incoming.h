/*
 * session/incoming.h - a request on its way through the checks.
 *
 * What dispatch and those who take requests from it share.
 */
#ifndef SESSION_INCOMING_H
#define SESSION_INCOMING_H

#include "session/request.h"
#include "session/session.h"

struct incoming {
    struct session *session;
    const struct command *command;
    struct command_args args;
    struct extent bytes; /* borrowed */
};

/* Answer with the error that `out` holds. */
void answer_error(struct session *session, const struct command *command,
                  const struct buf *out, struct cell *count);
/* Nobody knows it, in the words of a server. */
void answer_unknown(struct session *session, const struct command_args *args);
void answer_unknown_subcommand(struct session *session,
                               const struct command *container,
                               struct view sub);
void wrong_arity(struct session *session, const struct command *command);
/* Its keys stand on several shards. */
void crossslot(struct session *session, const struct command *command);
void no_auth(struct session *session, const struct command *command);
/* The pool's rules forbid it: in the words of a server's ACL. */
void no_permission(struct session *session, const struct command *command);
/* Not supported through this proxy. */
void refuse(struct session *session, const struct command *command,
            const struct command_args *args);
/* Its key belongs to no shard. */
void no_shard(struct session *session, const struct command *command,
              struct view key);
/* Has it no more than max_keys?  False after having answered. */
bool allow_keys(struct session *session, const struct command *command,
                uint32_t count) MUST_CHECK;
/* Of a key: it belongs nowhere; only the slots of a cluster may yet be given to
 * somebody. */
static inline bool
is_nowhere(const struct session *session, struct place place)
{
    return unlikely(place.shard == ROUTE_NONE) &&
        !pool_is_cluster(session->pool->settings);
}

#endif
