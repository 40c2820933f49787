/*
 * command/describe.c - COMMAND, COMMAND COUNT, INFO and HELP.
 */
#include "command/describe.h"

#include "command/describe_priv.h"
#include "command/keyspec.h"
#include "command/learnt.h"
#include "resp/encode.h"

/* Flags that COMMAND INFO shows; the others are the proxy's own business. */
static const struct {
    uint32_t flag;
    const char *name;
} flag_names[] = {
    {COMMAND_WRITE, "write"},
    {COMMAND_READONLY, "readonly"},
    {COMMAND_DENYOOM, "denyoom"},
    {COMMAND_MODULE, "module"},
    {COMMAND_ADMIN, "admin"},
    {COMMAND_PUBSUB, "pubsub"},
    {COMMAND_NOSCRIPT, "noscript"},
    {COMMAND_BLOCKING, "blocking"},
    {COMMAND_LOADING, "loading"},
    {COMMAND_STALE, "stale"},
    {COMMAND_SKIP_MONITOR, "skip_monitor"},
    {COMMAND_SKIP_SLOWLOG, "skip_slowlog"},
    {COMMAND_ASKING, "asking"},
    {COMMAND_FAST, "fast"},
    {COMMAND_NO_AUTH, "no_auth"},
    {COMMAND_MAY_REPLICATE, "may_replicate"},
    {COMMAND_NO_MANDATORY_KEYS, "no_mandatory_keys"},
    {COMMAND_PROTECTED, "protected"},
    {COMMAND_NO_ASYNC_LOADING, "no_async_loading"},
    {COMMAND_NO_MULTI, "no_multi"},
    {COMMAND_MOVABLEKEYS, "movablekeys"},
    {COMMAND_ALLOW_BUSY, "allow_busy"},
    {COMMAND_TOUCHES_ARBITRARY_KEYS, "touches_arbitrary_keys"},
};

static const char *const help_lines[] = {
    "COMMAND <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
    "(no subcommand)",
    "    Return details about all commands that the proxy serves.",
    "COUNT",
    "    Return the number of commands that the proxy serves.",
    "LIST [FILTERBY (MODULE <name>|ACLCAT <category>|PATTERN <pattern>)]",
    "    Return a list of all commands that the proxy serves.",
    "INFO [<command-name> ...]",
    "    Return details about multiple commands.",
    "    If no command names are given, details for all commands are",
    "    returned.",
    "DOCS [<command-name> ...]",
    "    Return documentation details about multiple commands.",
    "    If no command names are given, documentation details for all",
    "    commands are returned.",
    "GETKEYS <full-command>",
    "    Return the keys from a full command.",
    "GETKEYSANDFLAGS <full-command>",
    "    Return the keys and the access flags from a full command.",
    "HELP",
    "    Print this help.",
};

/* What no server could answer for all, but the proxy for itself. */
static bool
is_of_the_proxy(const struct command *row)
{
    switch ((int)row->id) {
    case COMMAND_ID_LATENCY_DOCTOR:
    case COMMAND_ID_LATENCY_GRAPH:
    case COMMAND_ID_LATENCY_HISTOGRAM:
    case COMMAND_ID_LATENCY_HISTORY:
    case COMMAND_ID_LATENCY_LATEST:
    case COMMAND_ID_MEMORY_DOCTOR:
    case COMMAND_ID_MEMORY_MALLOC_STATS:
    case COMMAND_ID_MEMORY_STATS:
    case COMMAND_ID_MONITOR:
        return true;
    default:
        return false;
    }
}

bool
row_is_served(const struct command *row)
{
    return row->class != CLASS_REFUSE || is_of_the_proxy(row);
}

uint32_t
describe_flag(struct view name)
{
    for (size_t i = 0; i < ARRAY_LEN(flag_names); i++)
        if (view_equal(name, view_str(flag_names[i].name)))
            return flag_names[i].flag;
    return 0;
}

const struct command *
describe_find(struct view name)
{
    const char *bar = name.len > 0 ? memchr(name.data, '|', name.len) : NULL;
    const struct command *row = command_find(name);

    if (bar != NULL) {
        size_t used = (size_t)(bar - name.data);
        row = command_find(view_of(name.data, used));
        if (row != NULL)
            row = command_find_sub(row, view_of(bar + 1, name.len - used - 1));
    }
    return row != NULL && row_is_served(row) ? row : NULL;
}

/* Rows are sorted by name, so subcommands stand behind their container, with
 * at most other names in between that begin alike. */
const struct command *
describe_next_sub(const struct command *container, const struct command *after)
{
    size_t len = container->name_len;

    if (!(container->flags & COMMAND_CONTAINER))
        return NULL;
    for (int i = (int)after->id + 1; i < COMMAND_ID_COUNT; i++) {
        const struct command *row = command_by_id((enum command_id)i);
        if (strncmp(row->name, container->name, len) != 0)
            break;
        if (row->name[len] == '|' && row_is_served(row))
            return row;
    }
    return NULL;
}

void
describe_words(struct buf *out, int resp, struct view list, bool as_bulks)
{
    struct view rest = list, word;
    size_t count = 0;

    while (next_word(&rest, &word))
        count++;
    encode_set(out, resp, count);
    while (next_word(&list, &word)) {
        if (as_bulks) {
            encode_bulk(out, word);
            continue;
        }
        buf_append_char(out, '+');
        buf_append_view(out, word);
        buf_append_str(out, "\r\n");
    }
}

static void
info_flags(const struct command *row, int resp, struct buf *out)
{
    /* Since 7.0 servers keep this one to themselves. */
    uint32_t flags = row->flags & ~(uint32_t)COMMAND_MAY_REPLICATE;
    size_t count = 0;

    for (size_t i = 0; i < ARRAY_LEN(flag_names); i++)
        count += (flags & flag_names[i].flag) != 0;
    encode_set(out, resp, count);
    for (size_t i = 0; i < ARRAY_LEN(flag_names); i++)
        if (flags & flag_names[i].flag)
            encode_simple(out, flag_names[i].name);
}

static void
info_positions(const struct command *row, struct buf *out)
{
    int triple[3];

    key_plan_triple(key_plan_of(row), triple);
    for (int i = 0; i < 3; i++)
        encode_integer(out, triple[i]);
}

static void
info_key_specs(const struct command *row, int resp, struct buf *out)
{
    struct document document = document_of(row);

    if (document.key_specs[0] == '\0')
        encode_set(out, resp, 0);
    else
        describe_tree(out, resp, document.key_specs);
}

/* The ten fields of COMMAND INFO but the last. */
static void
info_fields(const struct command *row, int resp, struct buf *out)
{
    encode_array(out, 10);
    encode_bulk_str(out, row->name);
    encode_integer(out, row->arity);
    info_flags(row, resp, out);
    info_positions(row, out);
    describe_words(out, resp, view_str(row->categories), false);
    describe_words(out, resp, view_str(row->tips), true);
    info_key_specs(row, resp, out);
}

static void
info_entry(const struct command *row, int resp, struct buf *out)
{
    const struct command *sub = row;
    size_t count = 0;

    info_fields(row, resp, out);
    while ((sub = describe_next_sub(row, sub)) != NULL)
        count++;
    /* As servers have it: a set only if it is empty. */
    if (count == 0)
        encode_set(out, resp, 0);
    else
        encode_array(out, count);
    for (sub = row; (sub = describe_next_sub(row, sub)) != NULL;) {
        info_fields(sub, resp, out);
        encode_set(out, resp, 0);
    }
}

static bool
is_counted(const struct command *row)
{
    return row_is_served(row) && !row_is_sub(row);
}

static size_t
served_count(const struct describe_more *more)
{
    size_t count = more->count;

    for (int i = 0; i < COMMAND_ID_COUNT; i++)
        count += is_counted(command_by_id((enum command_id)i));
    return count;
}

static void
info_all(int resp, const struct describe_more *more, struct buf *out)
{
    encode_array(out, served_count(more));
    for (int i = 0; i < COMMAND_ID_COUNT; i++) {
        const struct command *row = command_by_id((enum command_id)i);
        if (is_counted(row))
            info_entry(row, resp, out);
    }
    for (size_t i = 0; i < more->count; i++)
        learnt_describe(more->learnt[i], resp, out);
}

const struct learnt *
describe_find_learnt(const struct describe_more *more, struct view name)
{
    for (size_t i = 0; i < more->count; i++) {
        if (view_equal_nocase(name, view_str(more->learnt[i]->command.name)))
            return more->learnt[i];
    }
    return NULL;
}

static void
info_of_name(struct view name, int resp, const struct describe_more *more,
             struct buf *out)
{
    const struct command *row = describe_find(name);
    const struct learnt *learnt =
        row != NULL ? NULL : describe_find_learnt(more, name);

    if (row != NULL)
        info_entry(row, resp, out);
    else if (learnt != NULL)
        learnt_describe(learnt, resp, out);
    else
        encode_null(out, resp);
}

static void
info_named(const struct command_args *args, int resp,
           const struct describe_more *more, struct buf *out)
{
    if (args->argc == 2) {
        info_all(resp, more, out);
        return;
    }
    encode_array(out, args->argc - 2);
    for (uint32_t i = 2; i < args->argc; i++)
        info_of_name(command_arg(args, i), resp, more, out);
}

bool
describe_knows(struct view name)
{
    return describe_find(name) != NULL || command_find(name) != NULL;
}

static void
describe_help(struct buf *out)
{
    encode_array(out, ARRAY_LEN(help_lines));
    for (size_t i = 0; i < ARRAY_LEN(help_lines); i++)
        encode_simple(out, help_lines[i]);
}

void
describe_reply(const struct command *command, const struct command_args *args,
               int resp, const struct describe_more *more, struct buf *out)
{
    switch (command->id) {
    case COMMAND_ID_COMMAND:
        info_all(resp, more, out);
        break;
    case COMMAND_ID_COMMAND_COUNT:
        encode_integer(out, (int64_t)served_count(more));
        break;
    case COMMAND_ID_COMMAND_INFO:
        info_named(args, resp, more, out);
        break;
    case COMMAND_ID_COMMAND_DOCS:
        describe_docs(args, resp, more, out);
        break;
    case COMMAND_ID_COMMAND_LIST:
        describe_list(args, more, out);
        break;
    case COMMAND_ID_COMMAND_GETKEYS:
        describe_keys(args, false, resp, out);
        break;
    case COMMAND_ID_COMMAND_GETKEYSANDFLAGS:
        describe_keys(args, true, resp, out);
        break;
    default:
        ASSERT(command->id == COMMAND_ID_COMMAND_HELP);
        describe_help(out);
    }
}
