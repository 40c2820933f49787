/*
 * command/access.c - rules to a set of rows.
 */
#include "command/access.h"

#include <string.h>

/* The next word between spaces; empty at the end. */
static struct view
next_rule(struct view *rest)
{
    struct view word = view_take(rest, ' ');

    while (word.len == 0 && rest->len > 0)
        word = view_take(rest, ' ');
    return word;
}

static void
set_row(struct access *access, const struct command *row, bool is_allowed)
{
    uint64_t bit = UINT64_C(1) << (row->id % 64);

    if (is_allowed || (row->flags & COMMAND_NO_AUTH) != 0)
        access->refused[row->id / 64] &= ~bit;
    else
        access->refused[row->id / 64] |= bit;
}

static bool
has_category(const struct command *row, struct view category)
{
    struct view list = view_str(row->categories), word;

    while ((word = view_take(&list, ' ')).len > 0) {
        if (view_equal_nocase(word, category))
            return true;
    }
    return false;
}

static bool
set_category(struct access *access, struct view category, bool is_allowed)
{
    bool is_all = view_equal_nocase(category, VIEW("@all"));
    bool is_known = is_all;

    for (unsigned id = 0; id < COMMAND_ID_COUNT; id++) {
        const struct command *row = command_by_id((enum command_id)id);
        if (!is_all && !has_category(row, category))
            continue;
        set_row(access, row, is_allowed);
        is_known = true;
    }
    return is_known;
}

/* Is it in this container? */
static bool
is_inside(const struct command *row, const struct command *container)
{
    return row->name_len > container->name_len &&
        row->name[container->name_len] == '|' &&
        memcmp(row->name, container->name, container->name_len) == 0;
}

static bool
set_name(struct access *access, struct view name, bool is_allowed)
{
    struct view sub = name, word = view_take(&sub, '|');
    const struct command *command = command_find(word);

    if (command == NULL)
        return false;
    if (word.len < name.len) {
        command = command_find_sub(command, sub);
        if (command != NULL)
            set_row(access, command, is_allowed);
        return command != NULL;
    }
    set_row(access, command, is_allowed);
    for (unsigned id = 0; id < COMMAND_ID_COUNT; id++) {
        const struct command *row = command_by_id((enum command_id)id);
        if (is_inside(row, command))
            set_row(access, row, is_allowed);
    }
    return true;
}

static bool
set_rule(struct access *access, struct view rule)
{
    if (view_equal_nocase(rule, VIEW("allcommands")))
        return set_category(access, VIEW("@all"), true);
    if (view_equal_nocase(rule, VIEW("nocommands")))
        return set_category(access, VIEW("@all"), false);
    if (rule.len < 2 || (rule.data[0] != '+' && rule.data[0] != '-'))
        return false;
    struct view what = view_of(rule.data + 1, rule.len - 1);
    bool is_allowed = rule.data[0] == '+';
    return what.data[0] == '@' ? set_category(access, what, is_allowed)
                               : set_name(access, what, is_allowed);
}

static int
no_rule(struct error *error, struct view rule)
{
    return error_set(error, "%.*s", (int)MIN(rule.len, (size_t)60), rule.data);
}

int
access_parse(struct access *access, struct view rules, struct error *error)
{
    struct view rule;

    *access = (struct access){0};
    while ((rule = next_rule(&rules)).len > 0) {
        if (!set_rule(access, rule))
            return no_rule(error, rule);
    }
    return 0;
}

bool
access_allows_learnt(struct view rules, const struct command *command)
{
    bool is_allowed = true;
    struct view rule;

    while ((rule = next_rule(&rules)).len > 0) {
        struct view what = view_of(rule.data + 1, rule.len - 1);
        if (view_equal_nocase(rule, VIEW("allcommands")))
            is_allowed = true;
        else if (view_equal_nocase(rule, VIEW("nocommands")))
            is_allowed = false;
        else if (view_equal_nocase(what, VIEW("@all")) ||
                 has_category(command, what))
            is_allowed = rule.data[0] == '+';
    }
    return is_allowed;
}

/* --- what goes to the servers -------------------------------------------------- */

/* Can it go to a server over a connection that others use as well? */
static bool
is_for_servers(const struct command *row)
{
    /* Each server has a log and latencies of its own, as the proxy has. */
    bool is_log = is_inside(row, command_by_id(COMMAND_ID_SLOWLOG)) ||
        is_inside(row, command_by_id(COMMAND_ID_LATENCY));

    if (row->class != CLASS_LOCAL && row->class != CLASS_ANY &&
        row->class != CLASS_REFUSE && !is_log)
        return false;
    switch ((int)row->id) {
    case COMMAND_ID_ASKING:
    case COMMAND_ID_AUTH:
    case COMMAND_ID_HELLO:
    case COMMAND_ID_MONITOR:
    case COMMAND_ID_PSYNC:
    case COMMAND_ID_QUIT:
    case COMMAND_ID_READONLY:
    case COMMAND_ID_READWRITE:
    case COMMAND_ID_REPLCONF:
    case COMMAND_ID_RESET:
    case COMMAND_ID_SCRIPT_DEBUG:
    case COMMAND_ID_SELECT:
    case COMMAND_ID_SYNC:
        return false;
    case COMMAND_ID_COMMAND: /* contains others, and is one itself */
        return true;
    default:
        return !is_inside(row, command_by_id(COMMAND_ID_CLIENT)) &&
            (row->flags & (COMMAND_CONTAINER | COMMAND_ONLY_SENTINEL)) == 0;
    }
}

static void
leave_out_others(struct access *access)
{
    for (unsigned id = 0; id < COMMAND_ID_COUNT; id++) {
        if (!is_for_servers(command_by_id((enum command_id)id)))
            access->refused[id / 64] |= UINT64_C(1) << (id % 64);
    }
}

static bool
allows_none(const struct access *access)
{
    for (unsigned id = 0; id < COMMAND_ID_COUNT; id++) {
        if (access_allows(access, command_by_id((enum command_id)id)))
            return false;
    }
    return true;
}

/* A rule that is one, and that means something here. */
static bool
set_server_rule(struct access *access, struct view rule)
{
    struct access alone;

    memset(&alone, 0xff, sizeof(alone));
    if (!set_rule(&alone, rule))
        return false;
    leave_out_others(&alone);
    if (rule.data[0] == '+' && allows_none(&alone))
        return false;
    return set_rule(access, rule);
}

int
access_parse_server_commands(struct access *access, struct view rules,
                             struct error *error)
{
    struct view rule;

    memset(access, 0xff, sizeof(*access));
    while ((rule = next_rule(&rules)).len > 0) {
        if (!set_server_rule(access, rule))
            return no_rule(error, rule);
    }
    leave_out_others(access);
    return 0;
}
