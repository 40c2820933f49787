/*
 * command/split_shape.h - how each kind of split command is built.
 *
 * Private to the room: split.c cuts by it, merge.c merges by it.
 */
#ifndef COMMAND_SPLIT_SHAPE_H
#define COMMAND_SPLIT_SHAPE_H

#include "command/command.h"

/* What the parts answer, and how it becomes one reply. */
enum merge_kind {
    MERGE_VALUES, /* an array, an element a key */
    MERGE_SUM,    /* an integer */
    MERGE_ALL_OK, /* +OK */
    MERGE_STREAMS /* keys with what is there, null when nothing is */
};

struct split_shape {
    uint32_t stride; /* words of one key with what belongs to it */
    uint32_t tail;   /* words behind the keys that go to every part: 0 or 1 */
    enum merge_kind merge;
    bool is_apart;   /* all keys come first, then all that belongs to them */
};

/* Of a command that can be split. */
const struct split_shape *split_shape_of(const struct command *command);

#endif
