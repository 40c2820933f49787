/*
 * daemon/door.c - accepting, counting, handing over.
 */
#include "daemon/door.h"

#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "net/listener.h"

#define TOO_MANY "-ERR max number of clients reached\r\n"

struct entrance {
    struct listener listener;
    struct door *door;
    size_t pool;
    bool is_open;
};

struct door {
    struct snapshot *snapshot; /* borrowed */
    struct worker **workers;   /* borrowed */
    unsigned worker_count;
    struct entrance *entrances;
    size_t count;
    uint64_t *handed; /* sessions ever given, [worker * pools + pool] */
    uint64_t next_client_id;
};

/* --- counting ------------------------------------------------------------------ */

static uint64_t *
handed_to(struct door *door, unsigned worker, size_t pool)
{
    return &door->handed[worker * door->snapshot->settings->pool_count + pool];
}

static uint64_t
sessions_of(struct door *door, unsigned worker, size_t pool)
{
    return *handed_to(door, worker, pool) -
        cell_get(&door->workers[worker]->ended[pool]);
}

static uint64_t
sessions_of_worker(struct door *door, unsigned worker)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < door->snapshot->settings->pool_count; i++)
        sum += sessions_of(door, worker, i);
    return sum;
}

static uint64_t
sessions_of_pool(struct door *door, size_t pool)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < door->worker_count; i++)
        sum += sessions_of(door, i, pool);
    return sum;
}

static bool
has_place(struct door *door, size_t pool)
{
    const struct settings *settings = door->snapshot->settings;
    uint64_t limit = settings->pools[pool].client_connections;
    uint64_t total = 0;

    for (unsigned i = 0; i < door->worker_count; i++)
        total += sessions_of_worker(door, i);
    return total < settings->maxclients &&
        (limit == 0 || sessions_of_pool(door, pool) < limit);
}

static unsigned
least_loaded(struct door *door)
{
    unsigned best = 0;
    uint64_t fewest = sessions_of_worker(door, 0);

    for (unsigned i = 1; i < door->worker_count; i++) {
        uint64_t sessions = sessions_of_worker(door, i);
        if (sessions < fewest) {
            fewest = sessions;
            best = i;
        }
    }
    return best;
}

/* --- accepting ------------------------------------------------------------------- */

static void
refuse(struct door *door, size_t pool, int fd)
{
    ssize_t sent = send(fd, TOO_MANY, sizeof(TOO_MANY) - 1, MSG_NOSIGNAL);

    (void)sent; /* a fresh socket has room; if not, closing says it too */
    close(fd);
    /* This cell of the first worker's block is written here alone. */
    cell_inc(&door->workers[0]->session_stats[pool].clients_refused);
    log_warn("client refused", "pool=%s reason=%s",
             door->snapshot->settings->pools[pool].name,
             close_reason_name(CLOSE_CLIENT_REFUSED));
}

static void
on_accept(struct listener *listener, int fd, void *arg)
{
    struct entrance *entrance = arg;
    struct door *door = entrance->door;

    (void)listener;
    if (!has_place(door, entrance->pool)) {
        refuse(door, entrance->pool, fd);
        return;
    }
    unsigned worker = least_loaded(door);
    struct message message = {
        .kind = MESSAGE_CLIENT,
        .fd = fd,
        .pool = entrance->pool,
        .id = ++door->next_client_id,
    };
    if (!mailbox_post(&door->workers[worker]->mailbox, &message))
        refuse(door, entrance->pool, fd);
    else
        (*handed_to(door, worker, entrance->pool))++;
}

/* --- opening ---------------------------------------------------------------------- */

static int
entrance_open(struct entrance *entrance, struct loop *loop,
              const struct address_text *text, struct error *error)
{
    const struct pool_settings *pool =
        &entrance->door->snapshot->settings->pools[entrance->pool];
    struct address address;
    struct error why;
    int failed = text->path != NULL
        ? address_unix(&address, text->path, &why)
        : address_resolve(&address, text->host, text->port, true, &why);

    if (failed == 0)
        failed = listener_open(&entrance->listener, loop, &address, text->mode,
                               (int)pool->backlog, on_accept, entrance, &why);
    if (failed != 0)
        return error_set(error, "pool %s: %s", pool->name, why.text);
    entrance->is_open = true;
    log_info("listening", "pool=%s addr=%s", pool->name,
             entrance->listener.text);
    return 0;
}

static size_t
count_listens(const struct settings *settings)
{
    size_t count = 0;

    for (size_t i = 0; i < settings->pool_count; i++)
        count += settings->pools[i].listen_count;
    return count;
}

static int
open_all(struct door *door, struct loop *loop, struct error *error)
{
    const struct settings *settings = door->snapshot->settings;

    for (size_t pool = 0; pool < settings->pool_count; pool++) {
        for (size_t i = 0; i < settings->pools[pool].listen_count; i++) {
            struct entrance *entrance = &door->entrances[door->count++];
            entrance->door = door;
            entrance->pool = pool;
            if (entrance_open(entrance, loop, &settings->pools[pool].listens[i],
                              error) < 0)
                return -1;
        }
    }
    return 0;
}

struct door *
door_new(struct loop *loop, struct snapshot *snapshot, struct worker **workers,
         unsigned worker_count, struct error *error)
{
    struct door *door = MEM_NEW(struct door);
    size_t pools = snapshot->settings->pool_count;

    door->snapshot = snapshot;
    door->workers = workers;
    door->worker_count = worker_count;
    door->entrances = mem_array(count_listens(snapshot->settings),
                                sizeof(struct entrance));
    door->handed = mem_array(worker_count * pools, sizeof(uint64_t));
    if (open_all(door, loop, error) < 0)
        door_free(&door);
    return door;
}

void
door_close(struct door *door)
{
    for (size_t i = 0; i < door->count; i++) {
        if (door->entrances[i].is_open)
            listener_close(&door->entrances[i].listener);
        door->entrances[i].is_open = false;
    }
}

void
door_free(struct door **doorp)
{
    struct door *door = *doorp;

    *doorp = NULL;
    if (door == NULL)
        return;
    door_close(door);
    mem_free(door->entrances);
    mem_free(door->handed);
    mem_free(door);
}

const char *
door_address(const struct door *door, size_t pool)
{
    for (size_t i = 0; i < door->count; i++) {
        if (door->entrances[i].pool == pool)
            return door->entrances[i].listener.text;
    }
    return "?";
}
