/*
 * command/command.h - what does this command mean?
 *
 * One row of command/commands.def a command or subcommand, generated from the
 * project's reference table and a server's COMMAND reply (scripts/gen-commands
 * checks it against an installed server).  Pure; everything is constant.
 */
#ifndef COMMAND_COMMAND_H
#define COMMAND_COMMAND_H

#include <stdbool.h>

#include "base/view.h"
#include "resp/request_scan.h"

enum command_class {
    CLASS_ROUTE,     /* one shard, by its keys */
    CLASS_ROUTE_PIN, /* the same, on a private lane: it may block */
    CLASS_SPLIT,     /* cut by key, merged */
    CLASS_FANOUT,    /* every shard, merged */
    CLASS_CURSOR,    /* the cursor names the shard */
    CLASS_LOCAL,     /* answered by the proxy */
    CLASS_PIN,       /* connection state on a private lane */
    CLASS_ANY,       /* any one shard */
    CLASS_REFUSE     /* an error */
};

/* Flags, by the servers' names. */
enum {
    COMMAND_WRITE = 1 << 0,
    COMMAND_READONLY = 1 << 1,
    COMMAND_DENYOOM = 1 << 2,
    COMMAND_ADMIN = 1 << 3,
    COMMAND_PUBSUB = 1 << 4,
    COMMAND_NOSCRIPT = 1 << 5,
    COMMAND_BLOCKING = 1 << 6,
    COMMAND_LOADING = 1 << 7,
    COMMAND_STALE = 1 << 8,
    COMMAND_NO_AUTH = 1 << 9,
    COMMAND_MAY_REPLICATE = 1 << 10,
    COMMAND_NO_MULTI = 1 << 11,
    COMMAND_ALLOW_BUSY = 1 << 12,
    COMMAND_FAST = 1 << 13,
    COMMAND_MOVABLEKEYS = 1 << 14,
    COMMAND_CONTAINER = 1 << 15, /* dispatches on argument 1 */
    COMMAND_MODULE = 1 << 16,    /* of a server module */
    COMMAND_NO_ASYNC_LOADING = 1 << 17,
    COMMAND_SENTINEL = 1 << 18,
    COMMAND_NO_MANDATORY_KEYS = 1 << 19,
    COMMAND_SKIP_MONITOR = 1 << 20,
    COMMAND_SKIP_SLOWLOG = 1 << 21,
    COMMAND_ASKING = 1 << 22,
    COMMAND_PROTECTED = 1 << 23,
    COMMAND_TOUCHES_ARBITRARY_KEYS = 1 << 24,
    COMMAND_ONLY_SENTINEL = 1 << 25, /* data servers do not know it */
    COMMAND_INTERNAL = 1 << 26
};

/* How a CLASS_SPLIT command is cut and merged. */
enum split_kind {
    SPLIT_NONE,
    SPLIT_VALUES, /* MGET: one key a unit; the array in the order asked */
    SPLIT_PAIRS,  /* MSET: key and value; +OK */
    SPLIT_SUM,    /* DEL, UNLINK, EXISTS, TOUCH: the sum of integers */
    SPLIT_VALUES_TAIL, /* JSON.MGET: keys, then one argument for all */
    SPLIT_TRIPLES,     /* JSON.MSET: key, path, value; +OK */
    SPLIT_TRIPLES_VALUES, /* TS.MADD: key, time, value; the array as for MGET */
    SPLIT_STREAMS /* XREAD: keys, then an ID each; what they have, as asked */
};

/* One word for each row: COMMAND_ID_GET, COMMAND_ID_CONFIG_GET, ... */
enum command_id {
#define COMMAND(id, ...) COMMAND_ID_##id,
#include "command/commands.def"
#undef COMMAND
    COMMAND_ID_COUNT,
    /* Those that have no row and were learnt from a server (learnt.h). */
    COMMAND_ID_LEARNT = COMMAND_ID_COUNT,
    COMMAND_ID_ALL /* for what is counted or found by an id */
};

struct command {
    enum command_id id;
    const char *name; /* lower case; subcommands "config|get" */
    uint8_t name_len;
    uint8_t class;    /* enum command_class */
    uint8_t split;    /* enum split_kind */
    bool is_plain;    /* one key, which is all there is to know about it */
    int16_t arity;    /* as COMMAND has it, the container word included */
    /* Keys in fixed places; all 0 when there are none and when it takes a look
     * at the words to know (COMMAND_MOVABLEKEYS): then ask command_keys(). */
    int16_t first_key, last_key, key_step;
    uint32_t flags;
    const char *keyspec; /* see the head of commands.def, "" for none */
    const char *since;
    const char *categories; /* "@read @string @fast" */
    const char *key_flags;  /* of each keyspec: "RO access ; OW update" */
    /* For COMMAND INFO and COMMAND DOCS; "" where unknown. */
    const char *group, *tips, *complexity, *summary;
};

/* By name, without case; NULL when unknown.  O(1). */
const struct command *command_find(struct view name) MUST_CHECK;
/* The subcommand of a container, a learnt one too; NULL when unknown. */
const struct command *command_find_sub(const struct command *container,
                                       struct view sub) MUST_CHECK;
const struct command *command_by_id(enum command_id id);

static inline bool
command_arity_ok(const struct command *command, uint32_t argc)
{
    if (command->arity >= 0)
        return argc == (uint32_t)command->arity;
    return argc >= (uint32_t)-command->arity;
}

/* A request as the functions of this room see it. */
struct command_args {
    const char *data; /* the request's first byte */
    const struct resp_arg *args;
    uint32_t argc;
};

/* What these words run: the command, or the subcommand; NULL when unknown. */
const struct command *
command_find_words(const struct command_args *args) MUST_CHECK;
/* The same when the row of the first word has been found, or is NULL. */
const struct command *
command_of_words(const struct command *first,
                 const struct command_args *args) MUST_CHECK;

static inline struct view
command_arg(const struct command_args *args, uint32_t i)
{
    return view_of(args->data + args->args[i].off, args->args[i].len);
}

#endif
