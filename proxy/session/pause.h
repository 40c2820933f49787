/*
 * session/pause.h - CLIENT PAUSE: the commands of a pool wait in the proxy.
 *
 * A command that would be executed is not taken from its client's input, nor is
 * what stands behind it, until the pause ends; the client is not read meanwhile
 * once much is here.  A client that leaves takes its commands with it.  In mode
 * WRITE only those wait that write, or may (EVAL, PUBLISH, PFCOUNT ...); scripts
 * that say that they do not write go on.  So do functions of which the servers say
 * it, who are asked when the first is called.
 *
 * Who asks is answered when what was under way before is answered, so that
 * nothing more happens at the servers.  Commands that block are not waited for.
 *
 * Owner: the pool of a worker.
 */
#ifndef SESSION_PAUSE_H
#define SESSION_PAUSE_H

#include "session/incoming.h"
#include "session/session.h"
#include "session/survey.h"

enum pause_mode {
    PAUSE_NONE,
    PAUSE_WRITE,
    PAUSE_ALL
};

struct pause;

/* Of a survey whose text is "milliseconds mode", or of its end. */
void pause_survey_begin(struct session_pool *pool,
                        const struct survey *survey);
void pause_survey_end(struct session_pool *pool, const struct survey *survey);

/* Must this command wait?  Then its session does, until the pause ends.  What
 * stands in a transaction that unfolds does not: its EXEC came before. */
bool pause_must_wait(const struct incoming *in) MUST_CHECK;
/* The same for a command that arrives and will be passed on. */
bool pause_must_wait_early(struct session *session,
                           const struct command *command) MUST_CHECK;

/* The session ends. */
void pause_leave(struct session *session);
void pause_free(struct session_pool *pool);

#endif
