/*
 * command/replica_count.c - reading INFO replication.
 *
 *   master_repl_offset:1234
 *   slave0:ip=127.0.0.1,port=7001,state=online,offset=1200,lag=0,...
 */
#include "command/replica_count.h"

#include <string.h>

#include "resp/reply_read.h"

/* Take `front` off; false when `text` does not begin with it. */
static bool
skip_front(struct view *text, struct view front)
{
    if (!view_begins(*text, front))
        return false;
    *text = view_of(text->data + front.len, text->len - front.len);
    return true;
}

/* "slave" and a number: a replica that is being filled does not count. */
static bool
is_replica_at(struct view line, uint64_t least)
{
    bool is_online = false, is_far = false;
    uint64_t number = 0;

    if (!skip_front(&line, VIEW("slave")) ||
        !view_to_u64(view_take(&line, ':'), &number))
        return false;
    while (line.len > 0) {
        struct view field = view_take(&line, ',');
        uint64_t offset = 0;
        if (view_equal(field, VIEW("state=online")))
            is_online = true;
        else if (skip_front(&field, VIEW("offset=")))
            is_far = view_to_u64(field, &offset) && offset >= least;
    }
    return is_online && is_far;
}

bool
replica_count_read(struct view reply, uint64_t least,
                   struct replica_count *told)
{
    struct reply_item item;
    bool is_primary = false, has_offset = false;

    *told = (struct replica_count){0};
    if (!reply_next(&reply, &item) || item.is_null ||
        (item.type != RESP_BULK && item.type != RESP_VERBATIM))
        return false;
    while (item.text.len > 0) {
        struct view line = view_trim_line(view_take(&item.text, '\n'));
        is_primary |= view_equal(line, VIEW("role:master"));
        told->count += is_replica_at(line, least);
        if (skip_front(&line, VIEW("master_repl_offset:")))
            has_offset = view_to_u64(line, &told->offset);
    }
    return is_primary && has_offset;
}
