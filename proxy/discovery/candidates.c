/*
 * discovery/candidates.c - learning, choosing and forgetting nodes.
 */
#include "discovery/candidates.h"

#include <string.h>

#include "base/mem.h"

#define FAILURES_TOLD_APART 4

void
candidates_init(struct candidates *all)
{
    *all = (struct candidates){
        .items = mem_array(CANDIDATES_MAX, sizeof(struct candidate)),
    };
}

static void
candidate_fini(struct candidate *candidate)
{
    mem_free(candidate->host);
    mem_free(candidate->ip);
}

void
candidates_fini(struct candidates *all)
{
    for (uint32_t i = 0; i < all->count; i++)
        candidate_fini(&all->items[i]);
    mem_free(all->items);
}

/* NULL when there are too many. */
static struct candidate *
get(struct candidates *all, const char *host, uint16_t port)
{
    for (uint32_t i = 0; i < all->count; i++) {
        if (all->items[i].port == port &&
            strcmp(all->items[i].host, host) == 0)
            return &all->items[i];
    }
    if (all->count == CANDIDATES_MAX)
        return NULL;
    struct candidate *candidate = &all->items[all->count++];
    *candidate = (struct candidate){.host = mem_strdup(host), .port = port};
    return candidate;
}

void
candidates_set_seeds(struct candidates *all, const struct pool_settings *pool,
                     uint64_t now_us)
{
    for (uint32_t i = 0; i < all->count; i++)
        all->items[i].is_seed = false;
    for (size_t i = 0; i < pool->seed_count; i++) {
        const struct address_text *seed = &pool->seeds[i];
        struct candidate *candidate = get(all, seed->host, seed->port);
        if (candidate == NULL)
            continue;
        candidate->is_seed = true;
        candidate->heard_us = now_us;
    }
}

static void
forget_gone(struct candidates *all, uint64_t now_us)
{
    for (uint32_t i = 0; i < all->count;) {
        struct candidate *candidate = &all->items[i];
        if (candidate->is_seed ||
            now_us - candidate->heard_us < CANDIDATE_FORGET_US) {
            i++;
            continue;
        }
        candidate_fini(candidate);
        *candidate = all->items[--all->count];
    }
}

void
candidates_take_map(struct candidates *all, const struct cluster_map *map,
                    uint64_t now_us)
{
    for (uint32_t i = 0; i < map->count; i++) {
        const struct cluster_node *node = &map->nodes[i];
        if (node->host == NULL || node->port == 0)
            continue;
        struct candidate *candidate = get(all, node->host, node->port);
        if (candidate == NULL)
            continue;
        candidate->heard_us = now_us;
        if (node->ip != NULL && (candidate->ip == NULL ||
                                 strcmp(candidate->ip, node->ip) != 0)) {
            mem_free(candidate->ip);
            candidate->ip = mem_strdup(node->ip);
        }
    }
    forget_gone(all, now_us);
}

void
candidates_forgive(struct candidates *all, uint64_t now_us)
{
    struct candidate *oldest = NULL;

    for (uint32_t i = 0; i < all->count; i++) {
        struct candidate *candidate = &all->items[i];
        if (candidate->failures > 0 &&
            now_us - candidate->asked_us >= CANDIDATE_FORGIVE_US &&
            (oldest == NULL || candidate->asked_us < oldest->asked_us))
            oldest = candidate;
    }
    if (oldest != NULL)
        oldest->failures = 0;
}

void
candidates_begin_round(struct candidates *all)
{
    all->round++;
}

static bool
is_better(const struct candidate *a, const struct candidate *b)
{
    unsigned a_failures = MIN(a->failures, FAILURES_TOLD_APART);
    unsigned b_failures = MIN(b->failures, FAILURES_TOLD_APART);

    if (a_failures != b_failures)
        return a_failures < b_failures;
    return a->asked_us < b->asked_us;
}

struct candidate *
candidates_next(struct candidates *all, uint64_t now_us)
{
    struct candidate *best = NULL;

    for (uint32_t i = 0; i < all->count; i++) {
        struct candidate *candidate = &all->items[i];
        if (candidate->round != all->round &&
            (best == NULL || is_better(candidate, best)))
            best = candidate;
    }
    if (best != NULL) {
        best->round = all->round;
        best->asked_us = now_us;
    }
    return best;
}
