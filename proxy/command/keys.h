/*
 * command/keys.h - which words of a request are keys?
 */
#ifndef COMMAND_KEYS_H
#define COMMAND_KEYS_H

#include "command/command.h"

#define KEYS_INLINE 16

/* Positions (argument numbers) of the keys, in order of appearance. */
struct key_list {
    uint32_t count;
    uint32_t cap;
    uint32_t *at; /* `few`, or on the heap */
    uint32_t few[KEYS_INLINE];
};

void key_list_init(struct key_list *list);
void key_list_fini(struct key_list *list);

enum keys_result {
    KEYS_OK,       /* list filled in; may be empty, e.g. EVAL x 0 */
    KEYS_MALFORMED /* numkeys or a keyword is missing or wrong: the server is
                      to say so, on any shard */
};

/* Arity has been checked.  The list is emptied first. */
enum keys_result command_keys(const struct command *command,
                              const struct command_args *args,
                              struct key_list *list) MUST_CHECK;

/* Where XREAD or XREADGROUP says BLOCK, from word `from` on; 0 when it does not.
 * `from` is 1, or behind a BLOCK. */
uint32_t command_find_block(const struct command_args *args, uint32_t from);

/* "BY" or "GET" when that option of SORT or SORT_RO names keys by a pattern,
 * which may live anywhere; NULL when none does, and for other commands. */
const char *command_pattern_option(const struct command *command,
                                   const struct command_args *args) MUST_CHECK;

/* True when every key of this command stands before its large argument
 * (argument `seen` and later are not here yet), so that it can be routed while
 * the rest still arrives.  SET, GETSET, APPEND, HSET key field <large> ...;
 * not MSET, EVAL. */
bool command_routes_early(const struct command *command, uint32_t argc,
                          uint32_t seen) MUST_CHECK;

#endif
