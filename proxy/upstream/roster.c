/*
 * upstream/roster.c - making and counting rosters.
 */
#include "upstream/roster.h"

#include <string.h>

#include "base/mem.h"
#include "config/address.h"

struct roster *
roster_new(uint32_t count, uint32_t shard_count)
{
    struct roster *roster =
        mem_zalloc(sizeof(*roster) + count * sizeof(struct roster_entry));

    ASSERT(shard_count <= count);
    roster->refs = 1;
    roster->count = count;
    roster->shard_count = shard_count;
    return roster;
}

static char *
text_dup(const char *text)
{
    return text == NULL ? NULL : mem_strdup(text);
}

static struct address_text
address_text_dup(const struct address_text *address)
{
    return (struct address_text){
        .host = text_dup(address->host),
        .port = address->port,
        .path = text_dup(address->path),
        .mode = address->mode,
        .text = text_dup(address->text),
    };
}

struct roster *
roster_of_settings(const struct pool_settings *pool)
{
    return roster_with_replicas(pool, 0);
}

struct roster *
roster_with_replicas(const struct pool_settings *pool, uint32_t replicas)
{
    uint32_t count = (uint32_t)pool->server_count;
    struct roster *roster = roster_new(count + replicas, count);

    for (uint32_t i = 0; i < count; i++) {
        struct roster_entry *entry = &roster->entries[i];
        entry->name = mem_strdup(pool->servers[i].name);
        entry->address = address_text_dup(&pool->servers[i].address);
        entry->primary = i;
        entry->is_master = pool->servers[i].master != NULL;
    }
    return roster;
}

void
roster_set_address(struct roster *roster, uint32_t number, const char *host,
                   uint16_t port)
{
    struct address_text *address = &roster->entries[number].address;

    address_text_fini(address);
    address->host = mem_strdup(host);
    address->port = port;
    address->mode = -1;
    address->text = strchr(host, ':') != NULL
        ? mem_printf("[%s]:%u", host, port)
        : mem_printf("%s:%u", host, port);
}

void
roster_set_replica(struct roster *roster, uint32_t number, uint32_t primary,
                   const char *host, uint16_t port)
{
    struct roster_entry *entry = &roster->entries[number];

    ASSERT(number >= roster->shard_count && primary < roster->shard_count);
    roster_set_address(roster, number, host, port);
    entry->name = mem_printf("%s/%s", roster->entries[primary].name,
                             entry->address.text);
    entry->primary = primary;
}

struct roster *
roster_with_gates(const struct roster *roster, const enum gate *gates)
{
    struct roster *made = roster_new(roster->count, roster->shard_count);

    for (uint32_t i = 0; i < roster->count; i++) {
        const struct roster_entry *from = &roster->entries[i];
        struct roster_entry *entry = &made->entries[i];
        *entry = *from;
        entry->name = mem_strdup(from->name);
        entry->address = address_text_dup(&from->address);
        entry->ip = text_dup(from->ip);
        entry->zone = text_dup(from->zone);
        if (i < roster->shard_count)
            entry->gate = gates[i];
    }
    return made;
}

static void
roster_free(struct roster *roster)
{
    for (uint32_t i = 0; i < roster->count; i++) {
        struct roster_entry *entry = &roster->entries[i];
        mem_free(entry->name);
        mem_free(entry->ip);
        mem_free(entry->zone);
        address_text_fini(&entry->address);
    }
    mem_free(roster);
}

struct roster *
roster_ref(struct roster *roster)
{
    __atomic_add_fetch(&roster->refs, 1, __ATOMIC_RELAXED);
    return roster;
}

void
roster_unref(struct roster **rosterp)
{
    struct roster *roster = *rosterp;

    *rosterp = NULL;
    if (roster != NULL &&
        __atomic_sub_fetch(&roster->refs, 1, __ATOMIC_ACQ_REL) == 0)
        roster_free(roster);
}

uint32_t
roster_find_id(const struct roster *roster, struct view id)
{
    uint32_t i = 0;

    while (i < roster->count &&
           !view_equal(view_str(roster->entries[i].id), id))
        i++;
    return i;
}

uint32_t
roster_find_address(const struct roster *roster, struct view host,
                    uint16_t port)
{
    uint32_t i = 0;

    while (i < roster->count &&
           (roster->entries[i].address.host == NULL ||
            roster->entries[i].address.port != port ||
            !view_equal_nocase(view_str(roster->entries[i].address.host),
                               host)))
        i++;
    return i;
}
