/*
 * command/describe_priv.h - what the files of COMMAND share.
 */
#ifndef COMMAND_DESCRIBE_PRIV_H
#define COMMAND_DESCRIBE_PRIV_H

#include "base/buf.h"
#include "command/command.h"
#include "command/describe.h"

/* Do clients get more than a refusal? */
bool row_is_served(const struct command *row) MUST_CHECK;

static inline bool
row_is_sub(const struct command *row)
{
    return memchr(row->name, '|', row->name_len) != NULL;
}

/* Take the next word off a list of words between spaces; false at its end. */
static inline bool
next_word(struct view *list, struct view *word)
{
    if (list->len == 0)
        return false;
    *word = view_take(list, ' ');
    return true;
}

/* The set of these words, as statuses (+write) or as bulks. */
void describe_words(struct buf *out, int resp, struct view list, bool as_bulks);

/* What documents.def has of a row, nothing if there is none of it. */
struct document {
    const char *key_specs; /* a tree: one set; "": it is empty */
    size_t pairs;
    const char *rest; /* trees: so many pairs of a map */
};

struct document document_of(const struct command *row);
/* Append the replies that these trees are. */
void describe_tree(struct buf *out, int resp, const char *tree);

/* The flag of this name; 0: none that matters. */
uint32_t describe_flag(struct view name) MUST_CHECK;

/* A learnt command by its name, or NULL. */
const struct learnt *describe_find_learnt(const struct describe_more *more,
                                          struct view name) MUST_CHECK;

/* COMMAND DOCS; COMMAND LIST; COMMAND GETKEYS and GETKEYSANDFLAGS. */
void describe_docs(const struct command_args *args, int resp,
                   const struct describe_more *more, struct buf *out);
void describe_list(const struct command_args *args,
                   const struct describe_more *more, struct buf *out);
void describe_keys(const struct command_args *args, bool with_flags, int resp,
                   struct buf *out);

/* A served row by the name that COMMAND INFO and DOCS take, subcommands as
 * "config|get"; NULL for others. */
const struct command *describe_find(struct view name) MUST_CHECK;

/* The next served subcommand of a container behind the row `after`, which is
 * the container itself to begin with; NULL at the end. */
const struct command *describe_next_sub(const struct command *container,
                                        const struct command *after) MUST_CHECK;

#endif
