/*
 * session/learning.h - what a command is that no row has: servers are asked.
 *
 *   name -> known?  ----------------------> its row
 *      |    not, as a server has said ----> unknown command
 *      v
 *   the client waits, COMMAND INFO name --> a server -> the name is looked up again
 *
 * Asked is one server of the pool, once for a name and a while: LEARNING_KEEP_US
 * for a command that there is, LEARNING_DOUBT_US for one that there is not, and
 * LEARNING_FAILED_US when nobody could be asked.  (Each client that meets a new
 * name at the same time asks.)  Rows that were learnt stay
 * until the pool ends, since requests point at them: LEARNING_MAX of them.  Of
 * unknown names LEARNING_UNKNOWN_MAX are kept, none over LEARNING_NAME_MAX bytes.
 *
 * Owner: struct session_pool.  One thread.
 */
#ifndef SESSION_LEARNING_H
#define SESSION_LEARNING_H

#include "session/session.h"

#define LEARNING_KEEP_US 60000000u
#define LEARNING_DOUBT_US 5000000u
#define LEARNING_FAILED_US 100000u
#define LEARNING_MAX 512
#define LEARNING_UNKNOWN_MAX 512
#define LEARNING_NAME_MAX 128

struct learnt;
struct learning; /* what a pool has learnt, or NULL */

enum learning_result {
    LEARNING_KNOWN,   /* *command is its row */
    LEARNING_UNKNOWN, /* servers do not know it either */
    LEARNING_ASKED,   /* a server is asked: offer the request again */
    LEARNING_FAILED   /* none could be asked, just now */
};

/* Nothing of the session is in its queue when a server is asked; while something
 * is, LEARNING_ASKED is said without asking. */
enum learning_result learning_find(struct session *session, struct view name,
                                   const struct command **command) MUST_CHECK;

/* The same of what COMMAND DOCS has of a name: asked once for each row that is
 * learnt, and again after LEARNING_DOUBT_US while nobody tells.  Known is also what
 * there is no more to be known of. */
enum learning_result learning_find_docs(struct session *session,
                                        struct view name) MUST_CHECK;

/* The row of what has been taken before, without asking: ours, or a learnt one.
 * NULL: servers do not know it any more. */
const struct command *learning_known(const struct session_pool *pool,
                                     const struct command_args *args)
    MUST_CHECK;

/* All commands that have been learnt and are served, by name; mem_free() it. */
const struct learnt **learning_all(const struct session_pool *pool,
                                   size_t *count) MUST_CHECK;

void learning_free(struct learning **learningp);

#endif
