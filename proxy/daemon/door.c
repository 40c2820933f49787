/*
 * daemon/door.c - accepting, counting, handing over.
 */
#include "daemon/door.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log_limit.h"
#include "base/mem.h"
#include "net/listener.h"

#define TOO_MANY "-ERR max number of clients reached\r\n"
#define NO_MEMORY "-OOM proxy: max_memory is reached, no new clients are taken\r\n"

enum entrance_state {
    ENTRANCE_NEW,  /* opened for a change that is not in force yet */
    ENTRANCE_OPEN, /* part of what is in force */
    ENTRANCE_KEPT  /* the same, and of the change that is prepared too */
};

struct entrance {
    TAILQ_ENTRY(entrance) link;
    struct listener listener;
    struct door *door;
    enum entrance_state state;
    char *pool; /* name */
    char *text; /* the address, as written */
    char *next_pool; /* name, once the prepared change is in force */
    struct account *account;
};

TAILQ_HEAD(entrance_list, entrance);

struct door {
    struct loop *loop;
    struct ledger *ledger;     /* borrowed */
    struct snapshot *snapshot; /* NULL before the first change */
    struct worker **workers;   /* borrowed */
    unsigned worker_count;
    struct cell *rests; /* times that accepting has rested; borrowed */
    const struct budget *budget; /* borrowed */
    struct entrance_list entrances; /* in the order written */
    uint64_t next_client_id;
};

/* --- counting ------------------------------------------------------------------ */

static uint64_t
sessions_of_worker(const struct door *door, unsigned worker)
{
    const struct account *account;
    uint64_t sum = 0;

    TAILQ_FOREACH(account, &door->ledger->accounts, link)
    {
        sum += account_sessions(account, worker);
    }
    return sum;
}

static uint64_t
sessions_of_pool(const struct door *door, const struct account *account)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < door->worker_count; i++)
        sum += account_sessions(account, i);
    return sum;
}

/* Why the next client cannot be taken, CLOSE_NONE when it can. */
static enum close_reason
find_obstacle(const struct door *door, const struct entrance *entrance)
{
    const struct settings *settings = door->snapshot->settings;
    const struct pool_settings *pool =
        settings_find_pool(settings, view_str(entrance->pool));
    uint64_t limit = pool->client_connections;
    uint64_t total = 0;

    for (unsigned i = 0; i < door->worker_count; i++)
        total += sessions_of_worker(door, i);
    if (total >= settings->maxclients)
        return CLOSE_REFUSED_MAXCLIENTS;
    if (limit > 0 && sessions_of_pool(door, entrance->account) >= limit)
        return CLOSE_REFUSED_POOL_CLIENTS;
    if (budget_is_short(door->budget))
        return CLOSE_REFUSED_MEMORY;
    return CLOSE_NONE;
}

static unsigned
least_loaded(const struct door *door)
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
refuse(const struct entrance *entrance, int fd, enum close_reason why)
{
    /* These cells of the first worker's block are written here alone. */
    struct session_stats *stats = entrance->account->blocks[0];
    const char *text = why == CLOSE_REFUSED_MEMORY ? NO_MEMORY : TOO_MANY;
    ssize_t sent = send(fd, text, strlen(text), MSG_NOSIGNAL);

    (void)sent; /* a fresh socket has room; if not, closing says it too */
    close(fd);
    cell_inc(&stats->clients_refused);
    cell_inc(&stats->closed[why]);
    log_limited_at(close_reason_level(why), entrance->pool,
                   close_reason_name(why), "client refused",
                   "pool=%s reason=%s", entrance->pool, close_reason_name(why));
}

static void
on_accept(struct listener *listener, int fd, void *arg)
{
    struct entrance *entrance = arg;
    struct door *door = entrance->door;
    enum close_reason obstacle = find_obstacle(door, entrance);

    (void)listener;
    if (obstacle != CLOSE_NONE) {
        refuse(entrance, fd, obstacle);
        return;
    }
    unsigned worker = least_loaded(door);
    struct message message = {
        .kind = MESSAGE_CLIENT,
        .fd = fd,
        .pool = entrance->account->id,
        .id = ++door->next_client_id,
    };
    if (!mailbox_post(&door->workers[worker]->mailbox, &message))
        refuse(entrance, fd, CLOSE_REFUSED_BUSY);
    else
        entrance->account->handed[worker]++;
}

/* --- opening and closing -------------------------------------------------------- */

static void
entrance_free(struct entrance *entrance)
{
    mem_free(entrance->pool);
    mem_free(entrance->next_pool);
    mem_free(entrance->text);
    mem_free(entrance);
}

static void
entrance_close(struct entrance *entrance)
{
    TAILQ_REMOVE(&entrance->door->entrances, entrance, link);
    listener_close(&entrance->listener);
    entrance_free(entrance);
}

static int
entrance_listen(struct entrance *entrance, const struct pool_settings *pool,
                const struct address_text *text, struct error *error)
{
    struct address address;
    struct error why;
    int failed = text->path != NULL
        ? address_unix(&address, text->path, &why)
        : address_resolve(&address, text->host, text->port, true, &why);

    listener_init(&entrance->listener, on_accept, entrance);
    entrance->listener.rests = entrance->door->rests;
    if (failed == 0)
        failed =
            listener_open(&entrance->listener, entrance->door->loop, &address,
                          text->mode, (int)pool->backlog, &why);
    if (failed != 0)
        return error_set(error, "pool %s: %s", pool->name, why.text);
    return 0;
}

static int
entrance_open(struct door *door, const struct pool_settings *pool,
              const struct address_text *text, struct error *error)
{
    struct entrance *entrance = MEM_NEW(struct entrance);

    entrance->door = door;
    entrance->state = ENTRANCE_NEW;
    entrance->text = mem_strdup(text->text);
    entrance->next_pool = mem_strdup(pool->name);
    if (entrance_listen(entrance, pool, text, error) < 0) {
        entrance_free(entrance);
        return -1;
    }
    TAILQ_INSERT_TAIL(&door->entrances, entrance, link);
    return 0;
}

/* --- changes --------------------------------------------------------------------- */

/* One that listens there already, of this pool if `pool` is not NULL. */
static struct entrance *
find_open(const struct door *door, const char *pool, const char *text)
{
    struct entrance *entrance;

    TAILQ_FOREACH(entrance, &door->entrances, link)
    {
        if (entrance->state == ENTRANCE_OPEN &&
            strcmp(entrance->text, text) == 0 &&
            (pool == NULL || strcmp(entrance->pool, pool) == 0))
            break;
    }
    return entrance;
}

/* Keep what can be kept: first of the pools that have it, then, where an
 * address moves to another pool, of others. */
static bool
keep(struct door *door, const struct pool_settings *pool,
     const struct address_text *text, bool from_others)
{
    struct entrance *entrance =
        find_open(door, from_others ? NULL : pool->name, text->text);

    /* With port 0 two sockets of one text are not the same. */
    if (entrance == NULL ||
        (from_others && text->path == NULL && text->port == 0))
        return false;
    entrance->state = ENTRANCE_KEPT;
    entrance->next_pool = mem_strdup(pool->name);
    return true;
}

/* How far an address of the change has come: kept, or to be opened. */
struct plan {
    const struct pool_settings *pool;
    const struct address_text *text;
    bool is_kept;
};

static struct plan *
plan_make(const struct settings *settings, size_t *count)
{
    size_t total = 0;

    for (size_t i = 0; i < settings->pool_count; i++)
        total += settings->pools[i].listen_count;
    struct plan *plan = mem_array(total, sizeof(*plan));
    *count = 0;
    for (size_t i = 0; i < settings->pool_count; i++) {
        const struct pool_settings *pool = &settings->pools[i];
        for (size_t l = 0; l < pool->listen_count; l++)
            plan[(*count)++] = (struct plan){pool, &pool->listens[l], false};
    }
    return plan;
}

static int
plan_carry_out(struct door *door, struct plan *plan, size_t count,
               struct error *error)
{
    for (int others = 0; others <= 1; others++) {
        for (size_t i = 0; i < count; i++) {
            if (!plan[i].is_kept)
                plan[i].is_kept =
                    keep(door, plan[i].pool, plan[i].text, others == 1);
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (!plan[i].is_kept &&
            entrance_open(door, plan[i].pool, plan[i].text, error) < 0)
            return -1;
    }
    return 0;
}

int
door_prepare(struct door *door, const struct settings *settings,
             struct error *error)
{
    size_t count;
    struct plan *plan = plan_make(settings, &count);
    int failed = plan_carry_out(door, plan, count, error);

    mem_free(plan);
    if (failed < 0)
        door_abort(door);
    return failed;
}

void
door_abort(struct door *door)
{
    struct entrance *entrance = TAILQ_FIRST(&door->entrances);

    while (entrance != NULL) {
        struct entrance *next = TAILQ_NEXT(entrance, link);
        if (entrance->state == ENTRANCE_NEW) {
            entrance_close(entrance);
        } else {
            entrance->state = ENTRANCE_OPEN;
            mem_free(entrance->next_pool);
            entrance->next_pool = NULL;
        }
        entrance = next;
    }
}

static void
entrance_commit(struct entrance *entrance)
{
    struct door *door = entrance->door;
    bool is_new = entrance->state == ENTRANCE_NEW;

    if (entrance->state == ENTRANCE_OPEN) {
        /* Who stands at it already has come to a pool that stays. */
        if (ledger_find_name(door->ledger, entrance->pool) != NULL)
            listener_accept_all(&entrance->listener);
        log_info("no longer listening", "pool=%s addr=%s", entrance->pool,
                 entrance->listener.text);
        entrance_close(entrance);
        return;
    }
    bool has_moved =
        !is_new && strcmp(entrance->pool, entrance->next_pool) != 0;
    mem_free(entrance->pool);
    entrance->pool = entrance->next_pool;
    entrance->next_pool = NULL;
    entrance->state = ENTRANCE_OPEN;
    entrance->account = ledger_find_name(door->ledger, entrance->pool);
    if (is_new || has_moved)
        log_info("listening", "pool=%s addr=%s", entrance->pool,
                 entrance->listener.text);
}

void
door_commit(struct door *door, struct snapshot *snapshot)
{
    struct entrance *entrance = TAILQ_FIRST(&door->entrances);
    struct snapshot *before = door->snapshot;

    door->snapshot = snapshot_ref(snapshot);
    while (entrance != NULL) {
        struct entrance *next = TAILQ_NEXT(entrance, link);
        entrance_commit(entrance);
        entrance = next;
    }
    snapshot_unref(&before);
}

/* --- life ------------------------------------------------------------------------- */

struct door *
door_new(struct loop *loop, struct ledger *ledger, struct worker **workers,
         unsigned worker_count, struct cell *rests,
         const struct budget *budget)
{
    struct door *door = MEM_NEW(struct door);

    door->loop = loop;
    door->ledger = ledger;
    door->workers = workers;
    door->worker_count = worker_count;
    door->rests = rests;
    door->budget = budget;
    TAILQ_INIT(&door->entrances);
    return door;
}

void
door_close(struct door *door)
{
    struct entrance *entrance;

    while ((entrance = TAILQ_FIRST(&door->entrances)) != NULL)
        entrance_close(entrance);
}

void
door_free(struct door **doorp)
{
    struct door *door = *doorp;

    *doorp = NULL;
    if (door == NULL)
        return;
    door_close(door);
    snapshot_unref(&door->snapshot);
    mem_free(door);
}

const char *
door_address(const struct door *door, const char *pool)
{
    const struct entrance *entrance;

    TAILQ_FOREACH(entrance, &door->entrances, link)
    {
        if (strcmp(entrance->pool, pool) == 0)
            return entrance->listener.text;
    }
    return "?";
}
