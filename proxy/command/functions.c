/*
 * command/functions.c - reading the reply to FUNCTION LIST.
 *
 *   [library: {library_name: .., functions: [{name: .., flags: [..]}, ..]}, ..]
 *
 * A map is an array of names and values, or in version 3 a map.
 */
#include "command/functions.h"

#include "resp/reply_read.h"

struct reading {
    struct view rest;
    function_fn tell;
    void *arg;
    struct function function; /* that is being read */
};

/* What stands behind a name. */
typedef bool (*read_value_fn)(struct reading *reading, struct view name);

static bool
read_header(struct view *rest, uint64_t *count)
{
    struct reply_item item;

    if (!reply_next(rest, &item) || item.is_null)
        return false;
    *count = item.count;
    return item.type == RESP_ARRAY || item.type == RESP_SET ||
        item.type == RESP_MAP;
}

static bool
read_map(struct reading *reading, read_value_fn read_value)
{
    struct reply_item name;
    uint64_t count;

    if (!read_header(&reading->rest, &count))
        return false;
    for (uint64_t i = 0; i < count / 2; i++) {
        if (!reply_next(&reading->rest, &name) ||
            !read_value(reading, name.text))
            return false;
    }
    return true;
}

static bool
read_flags(struct reading *reading)
{
    struct reply_item flag;
    uint64_t count;

    if (!read_header(&reading->rest, &count))
        return false;
    for (uint64_t i = 0; i < count; i++) {
        if (!reply_next(&reading->rest, &flag))
            return false;
        if (view_equal(flag.text, VIEW("no-writes")))
            reading->function.only_reads = true;
    }
    return true;
}

static bool
read_of_function(struct reading *reading, struct view name)
{
    struct reply_item item;

    if (view_equal(name, VIEW("flags")))
        return read_flags(reading);
    if (!view_equal(name, VIEW("name")))
        return reply_skip(&reading->rest);
    if (!reply_next(&reading->rest, &item))
        return false;
    reading->function.name = item.text;
    return true;
}

static bool
read_of_library(struct reading *reading, struct view name)
{
    uint64_t count;

    if (!view_equal(name, VIEW("functions")))
        return reply_skip(&reading->rest);
    if (!read_header(&reading->rest, &count))
        return false;
    for (uint64_t i = 0; i < count; i++) {
        reading->function = (struct function){.name = VIEW("")};
        if (!read_map(reading, read_of_function) ||
            reading->function.name.len == 0)
            return false;
        reading->tell(reading->arg, &reading->function);
    }
    return true;
}

bool
functions_read(struct view reply, function_fn tell, void *arg)
{
    struct reading reading = {.rest = reply, .tell = tell, .arg = arg};
    uint64_t count;

    if (!read_header(&reading.rest, &count))
        return false;
    for (uint64_t i = 0; i < count; i++) {
        if (!read_map(&reading, read_of_library))
            return false;
    }
    return reading.rest.len == 0;
}
