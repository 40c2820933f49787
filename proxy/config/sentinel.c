/*
 * config/sentinel.c - where to ask, and which masters.
 */
#include "config/sentinel.h"

#include "base/log.h"
#include "base/mem.h"
#include "config/address.h"
#include "config/secret.h"

static void
read_sentinel(struct report *report, const struct node *node,
              struct address_text *address)
{
    const char *allowed = "host:port or [v6]:port";

    if (node->kind == NODE_TEXT && node->text_len > 0 && node->text[0] != '/')
        allowed =
            address_text_parse(node_text(node), ADDRESS_SERVER, address);
    if (allowed != NULL)
        report_found(report, node, "sentinels", "%s", allowed);
}

void
sentinel_conf_list(struct report *report, const struct node *node,
                   void *target)
{
    struct pool_settings *pool = target;

    if (node->kind != NODE_LIST || node->count == 0 ||
        node->count > SENTINELS_MAX) {
        report_found(report, node, "sentinels",
                     "a list of 1 to %d addresses host:port", SENTINELS_MAX);
        return;
    }
    pool->sentinels = mem_array(node->count, sizeof(*pool->sentinels));
    pool->sentinel_count = node->count;
    struct address_text *address = pool->sentinels;
    for (const struct node *item = node->first; item; item = item->next)
        read_sentinel(report, item, address++);
}

void
sentinel_conf_auth(struct report *report, const struct node *node,
                   void *target)
{
    struct pool_settings *pool = target;

    secret_read(report, node, "sentinel_auth", &pool->sentinel_auth);
}

void
sentinel_conf_no_quorum(struct report *report, const struct node *node,
                        void *target)
{
    struct pool_settings *pool = target;

    pool->rejects_without_quorum =
        view_equal(node_text(node), VIEW("reject_writes"));
    if (!pool->rejects_without_quorum &&
        !view_equal(node_text(node), VIEW("keep")))
        report_found(report, node, "on_no_quorum", "keep or reject_writes");
}

/* A word: Sentinel takes no others. */
static bool
is_master(struct view name)
{
    for (size_t i = 0; i < name.len; i++) {
        if (name.data[i] <= ' ' || name.data[i] == '\x7f')
            return false;
    }
    return name.len > 0 && name.len <= SENTINEL_MASTER_MAX;
}

void
sentinel_conf_master(struct report *report, const struct node *node,
                     void *target)
{
    struct server_settings *server = target;

    if (node->kind != NODE_TEXT || !is_master(node_text(node)))
        report_found(report, node, "master", "a name of 1 to %d visible "
                     "characters", SENTINEL_MASTER_MAX);
    else
        server->master = mem_view_dup(node_text(node));
}

/* --- checks ------------------------------------------------------------------- */

static const char *const sentinel_keys[] = {
    "sentinel_quorum",   "sentinel_auth", "sentinel_user",
    "sentinel_interval", "on_no_quorum",  "failover_hold",
};

static void
check_without(struct report *report, const struct node *map)
{
    for (size_t i = 0; i < ARRAY_LEN(sentinel_keys); i++) {
        struct view key = view_str(sentinel_keys[i]);
        if (node_find(map, key) != NULL)
            report_error(report, node_key_mark(map, key), sentinel_keys[i],
                         "found without sentinels, allowed only together "
                         "with it");
    }
}

static void
check_quorum(struct report *report, const struct node *map,
             const struct pool_settings *pool)
{
    if (pool->sentinel_user != NULL && pool->sentinel_auth == NULL &&
        node_find(map, VIEW("sentinel_auth")) == NULL)
        report_error(report, node_key_mark(map, VIEW("sentinel_user")),
                     "sentinel_user", "found without sentinel_auth, allowed "
                     "only together with it");
    if (pool_ejects(pool))
        report_error(report, node_key_mark(map, VIEW("sentinels")),
                     "sentinels", "found servers to be ejected, allowed to "
                     "leave that to the failover");
    if (node_find(map, VIEW("cluster")) != NULL)
        report_error(report, node_key_mark(map, VIEW("sentinels")),
                     "sentinels", "found together with cluster, allowed one "
                     "of the two");
}

static void
check_master(struct report *report, const struct node *item,
             const struct pool_settings *pool, size_t index)
{
    char quoted[REPORT_QUOTE_SIZE];
    const char *master = pool->servers[index].master;

    for (size_t i = 0; master != NULL && i < index; i++) {
        const char *other = pool->servers[i].master;
        if (other == NULL || !view_equal(view_str(other), view_str(master)))
            continue;
        report_error(report, item->at, "servers", "found the master %s again, "
                     "allowed once",
                     log_quote(quoted, sizeof(quoted), view_str(master)));
        return;
    }
}

static void
check_masters(struct report *report, const struct node *map,
              const struct pool_settings *pool)
{
    const struct node *list = node_find(map, VIEW("servers"));

    if (list == NULL || list->kind != NODE_LIST ||
        pool->server_count != list->count)
        return;
    size_t index = 0;
    for (const struct node *item = list->first; item; item = item->next)
        check_master(report, item, pool, index++);
}

void
sentinel_conf_check(struct report *report, const struct node *map,
                    const struct pool_settings *pool)
{
    if (node_find(map, VIEW("sentinels")) == NULL) {
        check_without(report, map);
        return;
    }
    check_quorum(report, map, pool);
    check_masters(report, map, pool);
}

void
sentinel_conf_fini(struct pool_settings *pool)
{
    for (size_t i = 0; i < pool->sentinel_count; i++)
        address_text_fini(&pool->sentinels[i]);
    mem_free(pool->sentinels);
}
