/*
 * session/combining.c - one part a set.
 */
#include "session/combining.h"

#include "base/mem.h"
#include "session/deadline.h"
#include "session/session.h"
#include "session/split_job.h"

/* Where each key is.  False: one is nowhere, which has been answered. */
static bool
place_parts(const struct incoming *in, const struct combine *combine,
            struct split *split)
{
    for (uint32_t i = 0; i < split->part_count; i++) {
        struct view key =
            command_arg(&in->args, combine_first_key(combine) + i);
        struct place place = request_place(in->session, key);
        if (is_nowhere(in->session, place)) {
            no_shard(in->session, in->command, key);
            return false;
        }
        split->parts[i] = (struct split_part){.shard = place.shard,
                                              .slot = place.slot,
                                              .count = 1};
    }
    return true;
}

bool
combining_try(const struct incoming *in)
{
    struct session *session = in->session;
    struct combine *combine = session->pool->settings->gather_sets
        ? combine_new(in->command, &in->args)
        : NULL;

    if (combine == NULL)
        return false;
    uint32_t count = combine_key_count(combine);
    struct split split = {.command = in->command,
                          .key_count = count,
                          .part_count = count};
    split.parts = mem_array(count, sizeof(*split.parts));
    if (!place_parts(in, combine, &split)) {
        split_fini(&split);
        combine_free(&combine);
        return true;
    }
    struct request *request = request_new(session, in->command);
    request_start_deadline(request);
    split_job_combine(request, &split, combine, &in->args);
    return true;
}
