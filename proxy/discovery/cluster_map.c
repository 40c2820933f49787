/*
 * discovery/cluster_map.c - maps, and whom to believe.
 *
 * For each slot the owner with the higher config epoch is right, as among the
 * nodes themselves.  An answer counts less than its epochs when the node that
 * gave it knows few of the nodes known here: it has lost its memory.
 */
#include "discovery/cluster_map_priv.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* --- making ------------------------------------------------------------------------ */

struct cluster_map *
cluster_map_new(void)
{
    struct cluster_map *map = MEM_NEW(struct cluster_map);

    map->nodes = mem_array(CLUSTER_NODES_MAX, sizeof(*map->nodes));
    for (uint32_t slot = 0; slot < ROUTE_SLOTS; slot++)
        map->owners[slot] = ROUTE_NO_OWNER;
    return map;
}

void
cluster_map_free(struct cluster_map **mapp)
{
    struct cluster_map *map = *mapp;

    *mapp = NULL;
    if (map == NULL)
        return;
    for (uint32_t i = 0; i < map->count; i++) {
        mem_free(map->nodes[i].host);
        mem_free(map->nodes[i].ip);
        mem_free(map->nodes[i].zone);
    }
    mem_free(map->nodes);
    mem_free(map);
}

uint32_t
cluster_map_add(struct cluster_map *map)
{
    if (map->count == CLUSTER_NODES_MAX)
        return map->count;
    return map->count++;
}

uint32_t
cluster_map_find(const struct cluster_map *map, struct view id,
                 struct view host, uint16_t port)
{
    uint32_t i;

    for (i = 0; i < map->count; i++) {
        const struct cluster_node *node = &map->nodes[i];
        if (id.len > 0 && node->id[0] != '\0') {
            if (view_equal(view_str(node->id), id))
                break;
        } else if (node->port == port &&
                   view_equal_nocase(view_of_text(node->host), host)) {
            break;
        }
    }
    return i;
}

static uint32_t
find_same(const struct cluster_map *map, const struct cluster_node *node)
{
    return cluster_map_find(map, view_str(node->id), view_of_text(node->host),
                            node->port);
}

uint32_t
cluster_map_covered(const struct cluster_map *map)
{
    uint32_t covered = 0;

    for (uint32_t slot = 0; slot < ROUTE_SLOTS; slot++)
        covered += map->owners[slot] != ROUTE_NO_OWNER;
    return covered;
}

uint64_t
cluster_map_epoch(const struct cluster_map *map)
{
    uint64_t epoch = 0;

    for (uint32_t slot = 0; slot < ROUTE_SLOTS; slot++) {
        if (map->owners[slot] != ROUTE_NO_OWNER)
            epoch = MAX(epoch, map->nodes[map->owners[slot]].epoch);
    }
    return epoch;
}

/* --- in which order ------------------------------------------------------------------- */

static int
compare_nodes(const void *a, const void *b)
{
    const struct cluster_node *const *x = a, *const *y = b;
    int order = strcmp((*x)->id, (*y)->id);

    if (order == 0)
        order = strcmp((*x)->host, (*y)->host);
    return order != 0 ? order : (*x)->port - (*y)->port;
}

/* Those that own slots first, then their replicas and who has served, each in an
 * order that does not depend on who was asked. */
struct order {
    const struct cluster_node **nodes;
    uint32_t shard_count;
    uint32_t count;
    uint32_t *numbers; /* by node of the map; UINT32_MAX: left out */
};

static void
order_part(const struct cluster_map *map, struct order *order,
           const bool *is_in)
{
    uint32_t from = order->count;

    for (uint32_t i = 0; i < map->count; i++) {
        if (is_in[i])
            order->nodes[order->count++] = &map->nodes[i];
    }
    qsort(order->nodes + from, order->count - from, sizeof(struct cluster_node *),
          compare_nodes);
    for (uint32_t n = from; n < order->count; n++)
        order->numbers[order->nodes[n] - map->nodes] = n;
}

static bool
stands_behind(const struct cluster_node *node)
{
    return node->is_former || (node->is_listed && node->is_replica);
}

static struct order
order_nodes(const struct cluster_map *map)
{
    struct order order = {
        .nodes = mem_array(map->count, sizeof(struct cluster_node *)),
        .numbers = mem_array(map->count, sizeof(uint32_t)),
    };
    bool *is_owner = mem_array(map->count, sizeof(bool));
    bool *is_replica = mem_array(map->count, sizeof(bool));

    for (uint32_t slot = 0; slot < ROUTE_SLOTS; slot++) {
        if (map->owners[slot] != ROUTE_NO_OWNER)
            is_owner[map->owners[slot]] = true;
    }
    for (uint32_t i = 0; i < map->count; i++) {
        const struct cluster_node *node = &map->nodes[i];
        order.numbers[i] = UINT32_MAX;
        is_replica[i] = stands_behind(node) && !is_owner[i] &&
            is_owner[node->primary];
    }
    order_part(map, &order, is_owner);
    order.shard_count = order.count;
    order_part(map, &order, is_replica);
    mem_free(is_owner);
    mem_free(is_replica);
    return order;
}

static void
order_fini(struct order *order)
{
    mem_free(order->nodes);
    mem_free(order->numbers);
}

/* --- whom to believe ------------------------------------------------------------------ */

struct merge {
    struct cluster_map *fresh;
    const struct cluster_map *known;
    uint32_t *places; /* of the known nodes in `fresh`, or UINT32_MAX */
    bool knows_well;  /* most of the known nodes */
};

static uint32_t
place_known_nodes(struct merge *merge)
{
    uint32_t met = 0;

    merge->places = mem_array(merge->known->count, sizeof(uint32_t));
    for (uint32_t i = 0; i < merge->known->count; i++) {
        uint32_t place = find_same(merge->fresh, &merge->known->nodes[i]);
        merge->places[i] = place < merge->fresh->count ? place : UINT32_MAX;
        met += place < merge->fresh->count;
    }
    merge->knows_well = met * 2 > merge->known->count;
    return met;
}

/* Does the slot stay with its known owner, whatever was said? */
static bool
is_kept(const struct merge *merge, uint16_t known, uint16_t fresh)
{
    const struct cluster_node *before = &merge->known->nodes[known];
    uint32_t place = merge->places[known];

    if (fresh == ROUTE_NO_OWNER)
        return !merge->knows_well;
    const struct cluster_node *after = &merge->fresh->nodes[fresh];
    if (place == fresh)
        return false;
    /* Its owner gives it away itself, or is forgotten by those who stay. */
    if (place != UINT32_MAX && merge->fresh->nodes[place].is_myself)
        return false;
    if (place == UINT32_MAX && merge->knows_well)
        return false;
    if (!merge->fresh->has_epochs || !merge->known->has_epochs)
        return !merge->knows_well;
    return after->epoch < before->epoch ||
        (!merge->knows_well && after->epoch == before->epoch);
}

static char *
text_dup(const char *text)
{
    return text == NULL ? NULL : mem_strdup(text);
}

/* What is said now does not tell where it is. */
static void
keep_address(struct cluster_node *node, const struct cluster_node *before)
{
    mem_free(node->host);
    mem_free(node->ip);
    node->host = text_dup(before->host);
    node->ip = text_dup(before->ip);
    node->port = before->port;
}

/* A known node that was not spoken of, or is listed again. */
static uint32_t
keep_node(struct merge *merge, uint16_t known)
{
    const struct cluster_node *before = &merge->known->nodes[known];
    uint32_t place = merge->places[known];

    if (place == UINT32_MAX) {
        place = cluster_map_add(merge->fresh);
        if (place == merge->fresh->count)
            return ROUTE_NO_OWNER; /* there are too many: it is left out */
        merge->places[known] = place;
        merge->fresh->nodes[place] = *before;
        merge->fresh->nodes[place].host = text_dup(before->host);
        merge->fresh->nodes[place].ip = text_dup(before->ip);
        merge->fresh->nodes[place].zone = text_dup(before->zone);
    }
    struct cluster_node *node = &merge->fresh->nodes[place];
    if (node->ip == NULL || node->port == 0)
        keep_address(node, before);
    node->epoch = MAX(node->epoch, before->epoch);
    node->is_replica = false;
    node->is_myself = false;
    node->is_listed = true;
    node->is_former = false;
    return place;
}

static void
merge_slots(struct merge *merge)
{
    for (uint32_t slot = 0; slot < ROUTE_SLOTS; slot++) {
        uint16_t known = merge->known->owners[slot];
        if (known != ROUTE_NO_OWNER &&
            is_kept(merge, known, merge->fresh->owners[slot]))
            merge->fresh->owners[slot] = (uint16_t)keep_node(merge, known);
    }
}

/* Of each known owner, who has the first of its slots now. */
static uint16_t *
find_heirs(const struct merge *merge)
{
    const struct cluster_map *known = merge->known;
    uint16_t *heirs = mem_array(known->count, sizeof(uint16_t));

    for (uint32_t i = 0; i < known->count; i++)
        heirs[i] = ROUTE_NO_OWNER;
    for (uint32_t slot = 0; slot < ROUTE_SLOTS; slot++) {
        uint16_t owner = known->owners[slot];
        if (owner != ROUTE_NO_OWNER && heirs[owner] == ROUTE_NO_OWNER)
            heirs[owner] = merge->fresh->owners[slot];
    }
    return heirs;
}

/* Members that stood in the topology and would not any more. */
static void
keep_former(struct merge *merge)
{
    const struct cluster_map *known = merge->known;
    struct order before = order_nodes(known), after = order_nodes(merge->fresh);
    uint16_t *heirs = find_heirs(merge);

    for (uint32_t n = 0; n < before.count; n++) {
        uint32_t i = (uint32_t)(before.nodes[n] - known->nodes);
        uint32_t place = merge->places[i];
        uint16_t heir =
            heirs[n < before.shard_count ? i : known->nodes[i].primary];
        if (place == UINT32_MAX || heir == ROUTE_NO_OWNER ||
            after.numbers[place] != UINT32_MAX)
            continue;
        struct cluster_node *node = &merge->fresh->nodes[place];
        node->is_former =
            !node->is_failed && node->ip != NULL && node->port != 0;
        node->primary = heir;
    }
    mem_free(heirs);
    order_fini(&before);
    order_fini(&after);
}

int
cluster_map_merge(struct cluster_map *fresh, const struct cluster_map *known,
                  struct error *error)
{
    struct merge merge = {.fresh = fresh, .known = known};

    if (cluster_map_covered(fresh) == 0)
        return error_set(error, "it knows of no slot");
    if (known == NULL)
        return 0;
    uint32_t met = place_known_nodes(&merge);
    if (met > 0) {
        merge_slots(&merge);
        keep_former(&merge);
    }
    mem_free(merge.places);
    return met > 0 ? 0
                   : error_set(error, "it is a node of another cluster: it "
                               "knows no node of this one");
}

/* --- topologies --------------------------------------------------------------------------- */

static char *
address_name(const struct cluster_node *node)
{
    bool is_v6 = strchr(node->host, ':') != NULL;

    return mem_printf(is_v6 ? "[%s]:%u" : "%s:%u", node->host, node->port);
}

static void
fill_entry(struct roster_entry *entry, const struct cluster_node *node)
{
    entry->name = address_name(node);
    entry->address = (struct address_text){
        .host = mem_strdup(node->host),
        .port = node->port,
        .mode = -1,
        .text = address_name(node),
    };
    entry->ip = text_dup(node->ip);
    entry->zone = text_dup(node->zone);
    memcpy(entry->id, node->id, sizeof(entry->id));
    entry->epoch = node->epoch;
    entry->is_usable = node->is_listed && !node->is_failed;
}

void
cluster_map_topology(const struct cluster_map *map, struct topology *topology)
{
    struct order order = order_nodes(map);
    struct roster *roster = roster_new(order.count, order.shard_count);

    for (uint32_t n = 0; n < order.count; n++) {
        const struct cluster_node *node = order.nodes[n];
        fill_entry(&roster->entries[n], node);
        roster->entries[n].primary =
            n < order.shard_count ? n : order.numbers[node->primary];
    }
    for (uint32_t slot = 0; slot < ROUTE_SLOTS; slot++) {
        uint16_t owner = map->owners[slot];
        topology->owners[slot] = ROUTE_NO_OWNER;
        if (owner == ROUTE_NO_OWNER)
            continue;
        topology->owners[slot] = (uint16_t)order.numbers[owner];
        roster->entries[order.numbers[owner]].slot_count++;
    }
    topology->roster = roster;
    order_fini(&order);
}

static bool
text_equal(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool
entry_equal(const struct roster_entry *a, const struct roster_entry *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->id, b->id) == 0 &&
        text_equal(a->ip, b->ip) && text_equal(a->zone, b->zone) &&
        a->primary == b->primary && a->is_usable == b->is_usable;
}

static bool
topology_equal(const struct topology *a, const struct topology *b)
{
    if (a->roster->count != b->roster->count ||
        a->roster->shard_count != b->roster->shard_count)
        return false;
    for (uint32_t i = 0; i < a->roster->count; i++) {
        if (!entry_equal(&a->roster->entries[i], &b->roster->entries[i]))
            return false;
    }
    return memcmp(a->owners, b->owners, sizeof(a->owners)) == 0;
}

bool
cluster_map_equal(const struct cluster_map *a, const struct cluster_map *b)
{
    struct topology *both = mem_array(2, sizeof(*both));

    cluster_map_topology(a, &both[0]);
    cluster_map_topology(b, &both[1]);
    bool is_equal = topology_equal(&both[0], &both[1]);
    roster_unref(&both[0].roster);
    roster_unref(&both[1].roster);
    mem_free(both);
    return is_equal;
}
