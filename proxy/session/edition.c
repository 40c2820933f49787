/*
 * session/edition.c - making and freeing editions.
 */
#include "session/edition.h"

#include "base/mem.h"

struct edition *
edition_new(struct snapshot *snapshot)
{
    const struct settings *settings = snapshot->settings;
    struct edition *edition = MEM_NEW(struct edition);

    edition->snapshot = snapshot_ref(snapshot);
    edition->pools =
        mem_array(settings->pool_count, sizeof(struct edition_pool));
    for (size_t i = 0; i < settings->pool_count; i++) {
        size_t count = snapshot->pools[i].roster->count;
        edition->pools[i].servers =
            mem_array(count, sizeof(struct server_stats *));
        edition->pools[i].health =
            mem_array(count, sizeof(enum health_state));
    }
    return edition;
}

void
edition_free(struct edition **editionp)
{
    struct edition *edition = *editionp;

    *editionp = NULL;
    if (edition == NULL)
        return;
    for (size_t i = 0; i < edition->snapshot->settings->pool_count; i++) {
        mem_free(edition->pools[i].servers);
        mem_free(edition->pools[i].health);
    }
    mem_free(edition->pools);
    snapshot_unref(&edition->snapshot);
    mem_free(edition);
}

size_t
edition_find(const struct edition *edition, size_t id)
{
    size_t count = edition->snapshot->settings->pool_count;
    size_t i = 0;

    while (i < count && edition->pools[i].id != id)
        i++;
    return i;
}
