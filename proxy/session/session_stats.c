/*
 * session/session_stats.c - the table of a pool's counters.
 */
#include "session/session_stats.h"

#include "base/mem.h"

const struct stat_desc session_stat_descs[] = {
#define STAT(name, kind, unit, help) \
    {#name, STAT_##kind, unit, help, offsetof(struct session_stats, name)},
#include "session/session_stats.def"
#undef STAT
};

const unsigned session_stat_count = ARRAY_LEN(session_stat_descs);

/* The last account is of what has no row and no account of its own. */
static const char *
account_name(unsigned id)
{
    return id < COMMAND_ID_COUNT ? command_by_id(id)->name : "other";
}

void
session_stats_each(const struct session_stats *stats, command_account_fn visit,
                   void *arg)
{
    const struct learnt_account *learnt =
        __atomic_load_n(&stats->learnt, __ATOMIC_ACQUIRE);

    for (unsigned id = 0; id < COMMAND_ID_ALL; id++) {
        const struct command_account *account =
            __atomic_load_n(&stats->accounts[id], __ATOMIC_ACQUIRE);
        if (account != NULL)
            visit(arg, account_name(id), account);
    }
    for (; learnt != NULL; learnt = learnt->next)
        visit(arg, learnt->name, &learnt->account);
}

static void
add_latency(void *arg, const char *name UNUSED,
            const struct command_account *account)
{
    histogram_merge(arg, &account->all.latency);
}

struct histogram
session_stats_latency(const struct session_stats *stats)
{
    struct histogram total = {0};

    session_stats_each(stats, add_latency, &total);
    return total;
}

static void
reset_accounts(struct session_stats *stats)
{
    struct learnt_account *learnt =
        __atomic_load_n(&stats->learnt, __ATOMIC_ACQUIRE);

    for (unsigned id = 0; id < COMMAND_ID_ALL; id++) {
        struct command_account *account =
            __atomic_load_n(&stats->accounts[id], __ATOMIC_ACQUIRE);
        if (account != NULL)
            command_account_reset(account);
    }
    for (; learnt != NULL; learnt = learnt->next)
        command_account_reset(&learnt->account);
}

void
session_stats_reset(struct session_stats *stats)
{
    const struct cell *now = (const struct cell *)stats;

    for (unsigned i = 0; i < SESSION_STAT_COUNT; i++)
        cell_set(&stats->before[i], cell_get(&now[i]));
    reset_accounts(stats);
    error_stats_reset(&stats->errors);
}

struct session_stats *
session_stats_new(void)
{
    struct session_stats *stats = MEM_NEW(struct session_stats);

    error_stats_init(&stats->errors);
    return stats;
}

void
session_stats_free(struct session_stats **statsp)
{
    struct session_stats *stats = *statsp;

    *statsp = NULL;
    if (stats == NULL)
        return;
    for (unsigned id = 0; id < COMMAND_ACCOUNTS; id++)
        mem_free(stats->accounts[id]);
    while (stats->learnt != NULL) {
        struct learnt_account *next = stats->learnt->next;
        mem_free(stats->learnt->name);
        mem_free(stats->learnt);
        stats->learnt = next;
    }
    mem_free(stats);
}
