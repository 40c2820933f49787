/*
 * tests/fuzz/fuzz_cluster.c - nodes may say anything about their cluster.
 *
 * Input: answers to CLUSTER SLOTS and CLUSTER NODES of two nodes, a line
 * "====" between them.  Properties: every map is consistent; a map that was
 * believed covers a slot; a second answer never leaves a map without any; the
 * same answer again changes nothing.
 */
#include "discovery/cluster_map.h"
#include "fuzz_replies.h"

#define INPUT_MAX 65536
#define PARTS 4

static struct cluster_map *
read_map(struct view slots, struct view nodes)
{
    struct error error;
    char *slots_copy = fuzz_copy(slots), *nodes_copy = fuzz_copy(nodes);
    struct cluster_map *map =
        cluster_map_read(view_of(slots_copy, slots.len),
                         view_of(nodes_copy, nodes.len), "10.0.0.9", &error);

    ASSERT(map != NULL || error.text[0] != '\0');
    mem_free(slots_copy);
    mem_free(nodes_copy);
    return map;
}

static void
check_topology(const struct cluster_map *map)
{
    struct topology topology;
    uint32_t covered = 0, counted = 0;

    cluster_map_topology(map, &topology);
    const struct roster *roster = topology.roster;
    for (uint32_t slot = 0; slot < ROUTE_SLOTS; slot++) {
        uint16_t owner = topology.owners[slot];
        ASSERT(owner == ROUTE_NO_OWNER || owner < roster->shard_count);
        covered += owner != ROUTE_NO_OWNER;
    }
    for (uint32_t i = 0; i < roster->count; i++) {
        const struct roster_entry *entry = &roster->entries[i];
        ASSERT(entry->primary < roster->shard_count && entry->ip != NULL);
        ASSERT(entry->address.port > 0 && entry->name[0] != '\0');
        ASSERT(i < roster->shard_count ? entry->slot_count > 0
                                       : entry->slot_count == 0);
        counted += entry->slot_count;
    }
    ASSERT(covered == counted && covered == cluster_map_covered(map));
    ASSERT(cluster_map_equal(map, map));
    roster_unref(&topology.roster);
}

static void
check_merge(struct view slots, struct view nodes,
            const struct cluster_map *known)
{
    struct error error;
    struct cluster_map *fresh = read_map(slots, nodes);

    if (fresh == NULL)
        return;
    check_topology(fresh);
    if (cluster_map_merge(fresh, known, &error) == 0) {
        ASSERT(cluster_map_covered(fresh) > 0);
        check_topology(fresh);
    } else {
        ASSERT(error.text[0] != '\0');
    }
    cluster_map_free(&fresh);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct view input = view_of((const char *)data, MIN(size, INPUT_MAX));
    struct view parts[PARTS];
    struct error error;

    for (int i = 0; i < PARTS; i++)
        parts[i] = fuzz_take_reply(&input);
    check_merge(parts[2], parts[3], NULL);
    struct cluster_map *known = read_map(parts[0], parts[1]);
    if (known != NULL && cluster_map_merge(known, NULL, &error) == 0) {
        check_topology(known);
        check_merge(parts[0], parts[1], known);
        check_merge(parts[2], parts[3], known);
    }
    cluster_map_free(&known);
    return 0;
}
