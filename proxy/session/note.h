/*
 * session/note.h - what a request met on its way, for counters and the log.
 *
 * Called where something takes an unusual course: what is refused, late, sent
 * again or thrown away can be found afterwards, with its reason.
 */
#ifndef SESSION_NOTE_H
#define SESSION_NOTE_H

#include <stdbool.h>

#include "base/close_reason.h"
#include "base/view.h"

struct command;
struct request;
struct session;

/* The session is about to close its connection, and ends. */
void note_end(const struct session *session, enum close_reason why);

/* A request is answered with an error of the proxy (code and text; '-' and CRLF
 * do no harm).  `command` is NULL when nobody knows it. */
void note_refusal(const struct session *session, const struct command *command,
                  struct view text);

/* Its time is up at this shard. */
void note_late(const struct request *request, uint32_t shard, bool sent);

/* It goes out once more, as its connection was lost. */
void note_resend(const struct request *request, enum close_reason why,
                 bool sent);

/* A whole reply of this shard's server came for nobody. */
void note_discard(const struct request *request, uint32_t shard);

#endif
