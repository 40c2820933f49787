/*
 * daemon/ledger.c - accounts by name, over all snapshots.
 */
#include "daemon/ledger.h"

#include <string.h>

#include "base/mem.h"
#include "command/script_memory.h"
#include "session/audience.h"

/* --- accounts of servers ------------------------------------------------------- */

static struct server_account *
server_account_new(struct account *account, const char *name,
                   unsigned workers)
{
    struct server_account *server = MEM_NEW(struct server_account);

    server->name = mem_strdup(name);
    server->blocks = mem_array(workers, sizeof(struct server_stats *));
    for (unsigned i = 0; i < workers; i++)
        server->blocks[i] = MEM_NEW(struct server_stats);
    TAILQ_INSERT_TAIL(&account->servers, server, link);
    return server;
}

static void
server_account_free(struct account *account, struct server_account *server,
                    unsigned workers)
{
    TAILQ_REMOVE(&account->servers, server, link);
    for (unsigned i = 0; i < workers; i++)
        mem_free(server->blocks[i]);
    mem_free(server->blocks);
    mem_free(server->name);
    mem_free(server);
}

/* One that nobody has claimed, or a new one; claimed from now on.  Those who
 * have left may still be counted for, and come back. */
static struct server_account *
claim_server(struct account *account, const char *name, unsigned workers)
{
    struct server_account *server;

    TAILQ_FOREACH(server, &account->servers, link)
    {
        if (!server->is_claimed && strcmp(server->name, name) == 0)
            break;
    }
    if (server == NULL)
        server = server_account_new(account, name, workers);
    server->is_claimed = true;
    server->left_at = 0;
    return server;
}

static void
enter_servers(struct ledger *ledger, struct account *account,
              const struct roster *roster)
{
    struct server_account *server;

    TAILQ_FOREACH(server, &account->servers, link)
    {
        server->is_claimed = false;
    }
    for (uint32_t i = 0; i < roster->count; i++)
        (void)claim_server(account, roster->entries[i].name, ledger->workers);
    TAILQ_FOREACH(server, &account->servers, link)
    {
        if (!server->is_claimed && server->left_at == 0)
            server->left_at = ledger->epoch;
    }
}

/* --- accounts of pools --------------------------------------------------------- */

static struct account *
account_new(struct ledger *ledger, const char *name)
{
    struct account *account = MEM_NEW(struct account);

    account->name = mem_strdup(name);
    account->id = ++ledger->next_id;
    account->blocks =
        mem_array(ledger->workers, sizeof(struct session_stats *));
    account->audience = audience_new();
    account->handed = mem_array(ledger->workers, sizeof(uint64_t));
    for (unsigned i = 0; i < ledger->workers; i++)
        account->blocks[i] = session_stats_new();
    account->scripts = script_memory_new();
    TAILQ_INIT(&account->servers);
    TAILQ_INSERT_TAIL(&ledger->accounts, account, link);
    return account;
}

static void
account_free(struct ledger *ledger, struct account *account)
{
    struct server_account *server;

    TAILQ_REMOVE(&ledger->accounts, account, link);
    while ((server = TAILQ_FIRST(&account->servers)) != NULL)
        server_account_free(account, server, ledger->workers);
    for (unsigned i = 0; i < ledger->workers; i++)
        session_stats_free(&account->blocks[i]);
    mem_free(account->blocks);
    audience_free(&account->audience);
    mem_free(account->handed);
    script_memory_free(&account->scripts);
    mem_free(account->name);
    mem_free(account);
}

struct account *
ledger_find_name(const struct ledger *ledger, const char *name)
{
    struct account *account;

    TAILQ_FOREACH(account, &ledger->accounts, link)
    {
        if (account->left_at == 0 && strcmp(account->name, name) == 0)
            break;
    }
    return account;
}

struct account *
ledger_find(const struct ledger *ledger, size_t id)
{
    struct account *account;

    TAILQ_FOREACH(account, &ledger->accounts, link)
    {
        if (account->id == id)
            break;
    }
    return account;
}

uint64_t
account_sessions(const struct account *account, unsigned worker)
{
    return account->handed[worker] - cell_get(&account->blocks[worker]->ended);
}

/* --- epochs --------------------------------------------------------------------- */

void
ledger_enter(struct ledger *ledger, struct snapshot *snapshot)
{
    const struct settings *settings = snapshot->settings;
    struct account *account;

    snapshot->epoch = ++ledger->epoch;
    TAILQ_FOREACH(account, &ledger->accounts, link)
    {
        account->is_claimed = false;
    }
    for (size_t i = 0; i < settings->pool_count; i++) {
        const struct pool_settings *pool = &settings->pools[i];
        account = ledger_find_name(ledger, pool->name);
        if (account == NULL)
            account = account_new(ledger, pool->name);
        account->is_claimed = true;
        script_memory_set_limit(account->scripts, pool->script_cache_bytes);
        enter_servers(ledger, account, snapshot->pools[i].roster);
    }
    TAILQ_FOREACH(account, &ledger->accounts, link)
    {
        if (!account->is_claimed && account->left_at == 0)
            account->left_at = ledger->epoch;
    }
}

static void
fill_pool(struct edition_pool *blocks, struct account *account,
          const struct roster *roster, unsigned worker)
{
    struct server_account *server;

    blocks->id = account->id;
    blocks->stats = account->blocks[worker];
    blocks->scripts = account->scripts;
    blocks->audience = account->audience;
    TAILQ_FOREACH(server, &account->servers, link)
    {
        server->is_claimed = false;
    }
    for (uint32_t i = 0; i < roster->count; i++) {
        /* All are there, so the number of workers makes no difference. */
        server = claim_server(account, roster->entries[i].name, 0);
        blocks->servers[i] = server->blocks[worker];
    }
}

struct edition *
ledger_edition(const struct ledger *ledger, struct snapshot *snapshot,
               unsigned worker)
{
    const struct settings *settings = snapshot->settings;
    struct edition *edition = edition_new(snapshot);

    ASSERT(snapshot->epoch == ledger->epoch);
    for (size_t i = 0; i < settings->pool_count; i++)
        fill_pool(&edition->pools[i],
                  ledger_find_name(ledger, settings->pools[i].name),
                  snapshot->pools[i].roster, worker);
    return edition;
}

static uint64_t
oldest_epoch(const struct ledger *ledger)
{
    uint64_t oldest = ledger->epoch;

    for (unsigned i = 0; i < ledger->workers; i++)
        oldest = MIN(oldest, ledger->let_go[i]);
    return oldest;
}

static void
drop_servers(struct ledger *ledger, struct account *account, uint64_t epoch)
{
    struct server_account *server = TAILQ_FIRST(&account->servers);

    while (server != NULL) {
        struct server_account *next = TAILQ_NEXT(server, link);
        if (server->left_at > 0 && server->left_at <= epoch)
            server_account_free(account, server, ledger->workers);
        server = next;
    }
}

void
ledger_let_go(struct ledger *ledger, unsigned worker, uint64_t epoch)
{
    ledger->let_go[worker] = epoch;
    uint64_t oldest = oldest_epoch(ledger);
    struct account *account = TAILQ_FIRST(&ledger->accounts);

    while (account != NULL) {
        struct account *next = TAILQ_NEXT(account, link);
        drop_servers(ledger, account, oldest);
        if (account->left_at > 0 && account->left_at <= oldest)
            account_free(ledger, account);
        account = next;
    }
}

uint64_t
ledger_behind(const struct ledger *ledger)
{
    return ledger->epoch - oldest_epoch(ledger);
}

/* --- life ------------------------------------------------------------------------ */

struct ledger *
ledger_new(unsigned workers)
{
    struct ledger *ledger = MEM_NEW(struct ledger);

    TAILQ_INIT(&ledger->accounts);
    ledger->workers = workers;
    ledger->let_go = mem_array(workers, sizeof(uint64_t));
    return ledger;
}

void
ledger_free(struct ledger **ledgerp)
{
    struct ledger *ledger = *ledgerp;
    struct account *account;

    *ledgerp = NULL;
    if (ledger == NULL)
        return;
    while ((account = TAILQ_FIRST(&ledger->accounts)) != NULL)
        account_free(ledger, account);
    mem_free(ledger->let_go);
    mem_free(ledger);
}
