/*
 * session/retry.h - may this request be sent again?
 *
 * The only place that decides it: a command is sent again when the first try
 * certainly did not run, or when it only reads; and never in a way that would
 * let it overtake a later write of the same client on the same shard.  The
 * table from error words of replies to actions (redirects, LOADING ...) has its
 * place here; for pools of listed servers every reply is passed on.
 */
#ifndef SESSION_RETRY_H
#define SESSION_RETRY_H

#include <stdbool.h>

#include "base/close_reason.h"
#include "session/request.h"

#define RETRY_MAX 1 /* times that a request is sent again */

/* Its lane was lost; `sent`: some of it may have reached the server. */
bool retry_may_resend(const struct request *request, enum close_reason why,
                      bool sent) MUST_CHECK;

#endif
