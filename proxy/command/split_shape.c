/*
 * command/split_shape.c - the table of shapes.
 */
#include "command/split_shape.h"

static const struct split_shape shapes[] = {
    [SPLIT_VALUES] = {.stride = 1, .tail = 0, .merge = MERGE_VALUES},
    [SPLIT_PAIRS] = {.stride = 2, .tail = 0, .merge = MERGE_ALL_OK},
    [SPLIT_SUM] = {.stride = 1, .tail = 0, .merge = MERGE_SUM},
    [SPLIT_VALUES_TAIL] = {.stride = 1, .tail = 1, .merge = MERGE_VALUES},
    [SPLIT_TRIPLES] = {.stride = 3, .tail = 0, .merge = MERGE_ALL_OK},
    [SPLIT_TRIPLES_VALUES] = {.stride = 3, .tail = 0, .merge = MERGE_VALUES},
    [SPLIT_STREAMS] = {.stride = 2,
                       .tail = 0,
                       .merge = MERGE_STREAMS,
                       .is_apart = true},
};

const struct split_shape *
split_shape_of(const struct command *command)
{
    ASSERT(command->split != SPLIT_NONE && command->split < ARRAY_LEN(shapes));
    return &shapes[command->split];
}
