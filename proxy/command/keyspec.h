/*
 * command/keyspec.h - the keyspecs of commands.def, made ready for use.
 *
 * Private to the room.  Every different keyspec is parsed once, before main();
 * the rows that share its text share its plan.  Constant from then on.
 */
#ifndef COMMAND_KEYSPEC_H
#define COMMAND_KEYSPEC_H

#include "command/keys.h"

#define PLAN_MAX_SPECS 3
#define SPEC_MAX_WORDS 2
#define SPEC_MAX_SKIPS 3

enum key_spec_kind {
    KEY_RANGE,   /* 1..-1/2 */
    KEY_COUNTED, /* numkeys@2 keys@3 */
    KEY_OPTION   /* kw STORE(from 2) +1 */
};

/* An option that is stepped over together with its arguments. */
struct key_skip {
    struct view word;
    uint32_t args;
};

struct key_spec {
    enum key_spec_kind kind;
    bool not_key;      /* routes like a key; COMMAND GETKEYS does not name it */
    bool unless_empty; /* an empty word is no key */
    bool last_wins;    /* of an option given more than once */
    uint32_t share;    /* n: the first 1/n of the range; 0: all of it */
    /* The range; from the option's word on for KEY_OPTION.  last < 0: from the
     * request's end, -1 being the last word. */
    int32_t first, last, step;
    uint32_t count_at; /* KEY_COUNTED: where the number stands */
    uint32_t from;     /* KEY_OPTION: where to begin to look for it */
    uint32_t word_count, skip_count;
    struct view words[SPEC_MAX_WORDS];
    struct key_skip skips[SPEC_MAX_SKIPS];
};

struct key_plan {
    const char *text;
    uint32_t count;
    struct key_spec specs[PLAN_MAX_SPECS];
};

const struct key_plan *key_plan_of(const struct command *command);

/* Add the keys of one spec to the list. */
enum keys_result key_spec_keys(const struct key_spec *spec,
                               const struct command_args *args,
                               struct key_list *list) MUST_CHECK;

/* first, last and step as COMMAND INFO has them, which also tells the part of
 * movable keys that stands in a fixed place. */
void key_plan_triple(const struct key_plan *plan, int triple[3]);

#endif
