/*
 * upstream/server_groups.c - where the shared lanes of a key are.
 *
 * Those of the pool itself, few and asked for all the time, are in one list; those
 * of clients with logins in lists by the numbers of these.
 */
#include "base/mem.h"
#include "upstream/server_priv.h"

#define USER_LISTS 64 /* a power of two */

static struct lane_group **
list_of(struct server *server, struct lane_key key)
{
    if (likely(!login_is_somebody(key.user)))
        return &server->groups;
    if (server->user_groups == NULL)
        server->user_groups =
            mem_array(USER_LISTS, sizeof(struct lane_group *));
    return &server->user_groups[key.user & (USER_LISTS - 1)];
}

static struct lane_group *
find_group(struct server *server, struct lane_key key)
{
    struct lane_group *group = *list_of(server, key);

    while (group != NULL && !lane_key_equal(group->key, key))
        group = group->next;
    return group;
}

static struct lane_group *
get_group(struct server *server, struct lane_key key)
{
    size_t count = server->settings->server_connections;
    struct lane_group *group = find_group(server, key);

    if (group == NULL) {
        struct lane_group **list = list_of(server, key);
        group = mem_zalloc(sizeof(*group) + count * sizeof(struct lane *));
        group->key = key;
        group->next = *list;
        *list = group;
    }
    return group;
}

struct lane **
server_shared_place(struct server *server, struct lane_key key, unsigned number)
{
    size_t count = server->settings->server_connections;
    struct lane_group *group = get_group(server, key);

    return &group->lanes[count == 1 ? 0 : number % count];
}

/* The number of its login may be another's one day. */
static void
free_group(struct server *server, struct lane_group *group)
{
    struct lane_group **at = list_of(server, group->key);

    while (*at != group)
        at = &(*at)->next;
    *at = group->next;
    mem_free(group);
}

void
server_forget_shared(struct server *server, const struct lane *lane)
{
    size_t count = server->settings->server_connections;
    struct lane_group *group = find_group(server, lane->key);
    bool is_empty = true;

    for (size_t i = 0; group != NULL && i < count; i++) {
        if (group->lanes[i] == lane)
            group->lanes[i] = NULL;
        is_empty = is_empty && group->lanes[i] == NULL;
    }
    if (group != NULL && is_empty && login_is_somebody(lane->key.user))
        free_group(server, group);
}

static void
free_list(struct lane_group **list)
{
    while (*list != NULL) {
        struct lane_group *group = *list;
        *list = group->next;
        mem_free(group);
    }
}

void
server_free_groups(struct server *server)
{
    free_list(&server->groups);
    for (size_t i = 0; server->user_groups != NULL && i < USER_LISTS; i++)
        free_list(&server->user_groups[i]);
    mem_free(server->user_groups);
}
