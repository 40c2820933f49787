/*
 * command/learnt.h - a command that no row has, as a server describes it.
 *
 * Made of the reply to COMMAND INFO with one name: of a module, of a later
 * version, or a command that the server's configuration calls otherwise.  Its
 * keys are where the server's key specifications say, else in the places that
 * it has for them.  What can be done with it:
 *
 *   it has keys                      CLASS_ROUTE, blocking ones CLASS_ROUTE_PIN
 *   it has none, or they move in a   CLASS_ANY: where one server is all there is
 *   way that is not told; a module's
 *   anything else                    CLASS_REFUSE: it may change the connection
 *
 * Pure.
 */
#ifndef COMMAND_LEARNT_H
#define COMMAND_LEARNT_H

#include "base/buf.h"
#include "command/keyspec.h"

struct learnt {
    struct command command; /* first; id COMMAND_ID_LEARNT */
    struct key_plan plan;
    struct learnt *subs; /* of a container */
    struct learnt *next; /* of those of the same container */
    char *name;
    char *categories;
    char *reply;         /* all of it; words of the plan point into it */
    size_t reply_len;
    char *docs;          /* the reply to COMMAND DOCS, or NULL */
    size_t docs_len;
};

enum learnt_result {
    LEARNT_BAD,     /* no reply to COMMAND INFO */
    LEARNT_UNKNOWN, /* the server has no such command */
    LEARNT_RENAMED, /* *row is ours, under another name */
    LEARNT_NEW      /* *learnt is the caller's */
};

/* The whole reply, in either version of the protocol. */
enum learnt_result learnt_read(struct view reply, const struct command **row,
                               struct learnt **learnt) MUST_CHECK;
void learnt_free(struct learnt **learntp);

/* Append its entry of COMMAND INFO, as the server has it. */
void learnt_describe(const struct learnt *learnt, int resp, struct buf *out);

/* Keep the whole reply to COMMAND DOCS with its name.  False: it is none. */
bool learnt_take_docs(struct learnt *learnt, struct view reply) MUST_CHECK;
/* Append its name and what COMMAND DOCS has of it, as the server has it; it has
 * docs. */
void learnt_describe_docs(const struct learnt *learnt, int resp,
                          struct buf *out);

/* Was it made of this reply? */
bool learnt_is_of(const struct learnt *learnt, struct view reply) MUST_CHECK;

/* Of a row with the id COMMAND_ID_LEARNT. */
const struct key_plan *learnt_plan(const struct command *command) MUST_CHECK;
const struct command *learnt_find_sub(const struct command *container,
                                      struct view sub) MUST_CHECK;

#endif
