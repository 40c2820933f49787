/*
 * upstream/readers.c - ranking the servers of a shard, and choosing one.
 */
#include "upstream/readers.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct readers {
    uint32_t count;
    uint32_t *starts; /* by shard: its first item; one more behind the last */
    struct reader items[];
};

/* --- making ------------------------------------------------------------------ */

static bool
is_in_zone(const struct roster_entry *entry,
           const struct pool_settings *settings)
{
    return entry->zone != NULL && settings->zone != NULL &&
        strcmp(entry->zone, settings->zone) == 0;
}

static enum reader_rank
rank_of_primary(const struct roster_entry *entry,
                const struct pool_settings *settings)
{
    if (settings->read_from == READ_FROM_NEAREST && entry->is_near)
        return READER_BEST;
    if (settings->read_from == READ_FROM_ZONE && is_in_zone(entry, settings))
        return READER_SECOND;
    return READER_PRIMARY;
}

/* READER_RANK_COUNT: it is not read from. */
static enum reader_rank
rank_of_replica(const struct roster_entry *entry,
                const struct pool_settings *settings)
{
    if (!entry->is_usable)
        return entry->is_cut ? READER_CUT : READER_RANK_COUNT;
    if (settings->read_from == READ_FROM_NEAREST && !entry->is_near)
        return READER_THIRD;
    if (settings->read_from == READ_FROM_ZONE && !is_in_zone(entry, settings))
        return READER_THIRD;
    return READER_BEST;
}

static enum reader_rank
rank_of(const struct roster *roster, uint32_t server,
        const struct pool_settings *settings)
{
    const struct roster_entry *entry = &roster->entries[server];

    return server < roster->shard_count ? rank_of_primary(entry, settings)
                                        : rank_of_replica(entry, settings);
}

/* By shard, in it by rank, then by number. */
static int
compare_readers(const void *a, const void *b)
{
    const struct reader *x = a, *y = b;

    if (x->shard != y->shard)
        return x->shard < y->shard ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return x->server < y->server ? -1 : x->server > y->server;
}

static void
set_starts(struct readers *readers, uint32_t shard_count)
{
    uint32_t i = 0;

    readers->starts = mem_array(shard_count + 1, sizeof(uint32_t));
    for (uint32_t shard = 0; shard < shard_count; shard++) {
        readers->starts[shard] = i;
        while (i < readers->count && readers->items[i].shard == shard)
            i++;
    }
    readers->starts[shard_count] = i;
}

struct readers *
readers_new(const struct roster *roster, const struct pool_settings *settings)
{
    if (settings->read_from == READ_FROM_PRIMARY)
        return NULL;
    struct readers *readers =
        mem_zalloc(sizeof(*readers) + roster->count * sizeof(struct reader));

    for (uint32_t server = 0; server < roster->count; server++) {
        enum reader_rank rank = rank_of(roster, server, settings);
        if (rank < READER_RANK_COUNT)
            readers->items[readers->count++] =
                (struct reader){roster->entries[server].primary, server, rank};
    }
    if (readers->count > 0)
        qsort(readers->items, readers->count, sizeof(*readers->items),
              compare_readers);
    set_starts(readers, roster->shard_count);
    return readers;
}

void
readers_free(struct readers **readersp)
{
    struct readers *readers = *readersp;

    *readersp = NULL;
    if (readers == NULL)
        return;
    mem_free(readers->starts);
    mem_free(readers);
}

/* --- choosing ---------------------------------------------------------------- */

/* Of those from `from` to before `end`, which have one rank. */
static const struct reader *
choose_of_rank(const struct reader *from, const struct reader *end,
               uint32_t session, reader_ok_fn *is_ok, const void *arg)
{
    uint32_t count = (uint32_t)(end - from);

    for (uint32_t i = 0; i < count; i++) {
        const struct reader *reader = from + (session + i) % count;
        if (is_ok(reader->server, arg))
            return reader;
    }
    return NULL;
}

const struct reader *
readers_choose(const struct readers *readers, uint32_t shard, uint32_t session,
               reader_ok_fn *is_ok, const void *arg)
{
    const struct reader *from = readers->items + readers->starts[shard];
    const struct reader *last = readers->items + readers->starts[shard + 1];
    const struct reader *found = NULL;

    while (found == NULL && from < last) {
        const struct reader *end = from;
        while (end < last && end->rank == from->rank)
            end++;
        found = choose_of_rank(from, end, session, is_ok, arg);
        from = end;
    }
    return found;
}
