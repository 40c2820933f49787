/*
 * command/describe_docs.c - COMMAND DOCS and COMMAND LIST.
 */
#include "command/describe_priv.h"
#include "command/glob.h"
#include "command/learnt.h"
#include "resp/encode.h"

struct field {
    const char *name;
    const char *text; /* "" when it is not known and left out */
};

/* redis-cli shows a summary whether there is one or not. */
static const char *
summary_of(const struct command *row)
{
    return row->summary[0] != '\0' ? row->summary : "Not documented here";
}

static void
docs_fields(const struct field *fields, size_t count, struct buf *out)
{
    for (size_t i = 0; i < count; i++) {
        if (fields[i].text[0] == '\0')
            continue;
        encode_bulk_str(out, fields[i].name);
        encode_bulk_str(out, fields[i].text);
    }
}

static void
docs_row(const struct command *row, size_t subs, int resp, struct buf *out)
{
    const struct field fields[] = {
        {"summary", summary_of(row)},
        {"since", row->since},
        {"group", row->group},
        {"complexity", row->complexity},
    };
    struct document document = document_of(row);
    size_t pairs = document.pairs + (subs > 0);

    for (size_t i = 0; i < ARRAY_LEN(fields); i++)
        pairs += fields[i].text[0] != '\0';
    encode_bulk_str(out, row->name);
    encode_map(out, resp, pairs);
    docs_fields(fields, ARRAY_LEN(fields), out);
    describe_tree(out, resp, document.rest);
}

/* Name and map of one command, those of its subcommands inside. */
static void
docs_entry(const struct command *row, int resp, struct buf *out)
{
    const struct command *sub = row;
    size_t subs = 0;

    while ((sub = describe_next_sub(row, sub)) != NULL)
        subs++;
    docs_row(row, subs, resp, out);
    if (subs == 0)
        return;
    encode_bulk_str(out, "subcommands");
    encode_map(out, resp, subs);
    for (sub = row; (sub = describe_next_sub(row, sub)) != NULL;)
        docs_row(sub, 0, resp, out);
}

/* What servers have told. */
static size_t
count_told(const struct describe_more *more)
{
    size_t count = 0;

    for (size_t i = 0; i < more->count; i++)
        count += more->learnt[i]->docs != NULL;
    return count;
}

static void
docs_all(int resp, const struct describe_more *more, struct buf *out)
{
    size_t count = count_told(more);

    for (int i = 0; i < COMMAND_ID_COUNT; i++) {
        const struct command *row = command_by_id((enum command_id)i);
        count += row_is_served(row) && !row_is_sub(row);
    }
    encode_map(out, resp, count);
    for (int i = 0; i < COMMAND_ID_COUNT; i++) {
        const struct command *row = command_by_id((enum command_id)i);
        if (row_is_served(row) && !row_is_sub(row))
            docs_entry(row, resp, out);
    }
    for (size_t i = 0; i < more->count; i++)
        if (more->learnt[i]->docs != NULL)
            learnt_describe_docs(more->learnt[i], resp, out);
}

/* Append what there is of a name; false: nothing. */
static bool
docs_of_name(struct view name, int resp, const struct describe_more *more,
             struct buf *out)
{
    const struct command *row = describe_find(name);
    const struct learnt *learnt =
        row != NULL ? NULL : describe_find_learnt(more, name);

    if (row != NULL)
        docs_entry(row, resp, out);
    else if (learnt != NULL && learnt->docs != NULL)
        learnt_describe_docs(learnt, resp, out);
    else
        return false;
    return true;
}

/* Names that nobody knows are passed over. */
void
describe_docs(const struct command_args *args, int resp,
              const struct describe_more *more, struct buf *out)
{
    struct buf entries = {0};
    size_t count = 0;

    if (args->argc == 2) {
        docs_all(resp, more, out);
        return;
    }
    for (uint32_t i = 2; i < args->argc; i++)
        count += docs_of_name(command_arg(args, i), resp, more, &entries);
    encode_map(out, resp, count);
    buf_append_view(out, buf_view(&entries));
    buf_fini(&entries);
}

/* A test of a row against the last word of COMMAND LIST FILTERBY x word. */
typedef bool (*filter_fn)(const struct command *row, struct view word);

static bool
filter_none(const struct command *row UNUSED, struct view word UNUSED)
{
    return true;
}

static bool
filter_module(const struct command *row, struct view word)
{
    return (row->flags & COMMAND_MODULE) &&
        view_equal_nocase(view_str(row->group), word);
}

static bool
filter_category(const struct command *row, struct view word)
{
    struct view list = view_str(row->categories), category;

    while (next_word(&list, &category))
        if (view_equal_nocase(view_of(category.data + 1, category.len - 1),
                              word))
            return true;
    return false;
}

static bool
filter_pattern(const struct command *row, struct view word)
{
    return glob_match_nocase(word, view_of(row->name, row->name_len));
}

/* NULL when the words make no sense. */
static filter_fn
list_filter(const struct command_args *args)
{
    if (args->argc == 2)
        return filter_none;
    if (args->argc != 5 ||
        !view_equal_nocase(command_arg(args, 2), VIEW("FILTERBY")))
        return NULL;
    if (view_equal_nocase(command_arg(args, 3), VIEW("MODULE")))
        return filter_module;
    if (view_equal_nocase(command_arg(args, 3), VIEW("ACLCAT")))
        return filter_category;
    if (view_equal_nocase(command_arg(args, 3), VIEW("PATTERN")))
        return filter_pattern;
    return NULL;
}

void
describe_list(const struct command_args *args,
              const struct describe_more *more, struct buf *out)
{
    filter_fn filter = list_filter(args);
    struct view word = command_arg(args, args->argc - 1);
    struct buf names = {0};
    size_t count = 0;

    if (filter == NULL) {
        encode_error(out, VIEW("ERR syntax error"));
        return;
    }
    for (int i = 0; i < COMMAND_ID_COUNT; i++) {
        const struct command *row = command_by_id((enum command_id)i);
        if (!row_is_served(row) || !filter(row, word))
            continue;
        encode_bulk_str(&names, row->name);
        count++;
    }
    for (size_t i = 0; i < more->count; i++) {
        const struct command *row = &more->learnt[i]->command;
        if (!filter(row, word))
            continue;
        encode_bulk_str(&names, row->name);
        count++;
    }
    encode_array(out, count);
    buf_append_view(out, buf_view(&names));
    buf_fini(&names);
}
