/*
 * session/holding.h - commands that a cluster, or a master that Sentinels name,
 * did not take, until it does.
 *
 *   MOVED, ASK, TRYAGAIN, LOADING, a lost connection ...
 *        |
 *        v                        all other calls answered
 *   [held, in the session's queue] ----------------------> sent again, in order
 *
 * While a session has something held it accepts nothing new.  When no call of
 * it is under way any more, it takes the newest map up (unless a reload has given
 * keys to other shards: then behind what is held), and what is held goes
 * out again in the order of the queue: at once, or when the cluster may have
 * come to rest.  Order is kept by slot (of a master: its shard's number): a command that only reads and was
 * answered after a held one on its slot is asked again behind it; if one that
 * writes was, the held one is given up as not executed.  (Answers leave in
 * order, so none of these has reached the client.)
 *
 * A held command ends by its deadline like any other: not executed.
 */
#ifndef SESSION_HOLDING_H
#define SESSION_HOLDING_H

#include "base/close_reason.h"
#include "session/attempt.h"
#include "session/request.h"
#include "upstream/server.h"

/* The end of an error reply of server `asked` in such a pool: hold the attempt
 * instead of answering?  False: it is an answer for the client.  True
 * as well when it should be held and cannot be, as request_is_gone(). */
bool holding_take_reply(struct request *request, struct attempt *attempt,
                        uint32_t asked,
                        const struct reply_piece *piece) MUST_CHECK;
/* The same for any piece of any reply. */
static inline bool
attempt_is_refused(struct request *request, struct attempt *attempt,
                   uint32_t asked, const struct reply_piece *piece)
{
    return unlikely(piece->type == '-') &&
        pool_is_followed(request->pool->settings) &&
        holding_take_reply(request, attempt, asked, piece);
}

/* Its connection to server `asked` was lost, or there was none.  False: tell the
 * client. */
bool holding_take_loss(struct request *request, struct attempt *attempt,
                       uint32_t asked, bool sent) MUST_CHECK;
/* There is no lane for a request: held, or its client is told. */
void holding_take_unreachable(struct request *request);

/* What the server has said is kept, and no answer, until holding_settle() or who
 * else has asked knows whether the server itself, or a script, said it. */
void holding_take_doubtful(struct request *request, struct attempt *attempt,
                           const struct reply_piece *piece);
/* What the node says itself of a command that is in doubt; nothing when it could
 * not be heard. */
void holding_settle(struct request *request, struct view line);
/* It will not be heard in time. */
void holding_end_doubt(struct request *request);

/* No writes may be sent to its server for now. */
void holding_take_held(struct request *request, struct attempt *attempt);

/* Nobody serves its slot, as far as is known. */
void holding_take_unserved(struct request *request, struct attempt *attempt);

/* A new attempt is to go by the map. */
void holding_take_anew(struct request *request, struct attempt *attempt);
/* It goes when a map that was asked for is there, or after a while without. */
void holding_take_patience(struct request *request, struct attempt *attempt);
/* An attempt that was held is there no more. */
void holding_forget(struct request *request);

/* It has ended otherwise. */
void holding_drop(struct request *request, struct attempt *attempt);

/* Send out again what can be. */
void holding_go(struct session *session);

/* There is a new map: what waits for better times need not any longer. */
void holding_hurry(struct session *session);

/* Is no call of the session under way? */
bool holding_is_all(const struct session *session) MUST_CHECK;

/* One walk over a session's queue in which attempts are sent again. */
struct holding_pass;

/* Has this attempt, which is held, waited long enough? */
bool holding_is_due(struct holding_pass *pass,
                    const struct attempt *attempt) MUST_CHECK;
/* May this attempt go now, and to which server of the session's generation?  If
 * so it is held no more, and its call is to be submitted. */
bool holding_release(struct holding_pass *pass, struct request *request,
                     struct attempt *attempt, struct call *call,
                     uint32_t *server) MUST_CHECK;

void holding_free(struct session *session);

#endif
