/*
 * session/command_stats.c - accounts of commands.
 */
#include "session/command_stats.h"

#include <string.h>

#include "base/mem.h"
#include "session/session_stats.h"

uint64_t
command_stats_calls(const struct command_stats *stats)
{
    uint64_t calls = 0;

    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
        calls += cell_get(&stats->latency.bucket[i]);
    return calls;
}

/* Nothing but cells, one behind the other. */
#define CELL_COUNT (sizeof(struct command_stats) / sizeof(struct cell))

static const struct cell *
cells_of(const struct command_stats *stats)
{
    return (const struct cell *)stats;
}

void
command_stats_add(struct command_stats *total, const struct command_stats *part)
{
    const struct cell *now = cells_of(part);
    struct cell *sum = (struct cell *)total;

    for (size_t i = 0; i < CELL_COUNT; i++)
        cell_add(&sum[i], cell_get(&now[i]));
}

void
command_stats_add_recent(struct command_stats *total,
                         const struct command_account *account)
{
    const struct cell *now = cells_of(&account->all);
    const struct cell *before = cells_of(&account->before);
    struct cell *sum = (struct cell *)total;

    for (size_t i = 0; i < CELL_COUNT; i++)
        cell_add(&sum[i], cell_get(&now[i]) - cell_get(&before[i]));
}

void
command_account_reset(struct command_account *account)
{
    const struct cell *now = cells_of(&account->all);
    struct cell *before = (struct cell *)&account->before;

    for (size_t i = 0; i < CELL_COUNT; i++)
        cell_set(&before[i], cell_get(&now[i]));
}

/* --- opening ------------------------------------------------------------- */

static struct command_account *
open_row(struct session_stats *stats, unsigned id)
{
    struct command_account *account = stats->accounts[id];

    if (account == NULL) {
        account = MEM_NEW(struct command_account);
        __atomic_store_n(&stats->accounts[id], account, __ATOMIC_RELEASE);
    }
    return account;
}

static struct command_account *
open_learnt(struct session_stats *stats, const struct command *command)
{
    struct learnt_account *learnt = stats->learnt;
    unsigned count = 0;

    for (; learnt != NULL; learnt = learnt->next, count++) {
        if (strcmp(learnt->name, command->name) == 0)
            return &learnt->account;
    }
    if (count == LEARNT_ACCOUNTS_MAX)
        return open_row(stats, COMMAND_ID_LEARNT);
    learnt = MEM_NEW(struct learnt_account);
    learnt->name = mem_strdup(command->name);
    learnt->next = stats->learnt;
    __atomic_store_n(&stats->learnt, learnt, __ATOMIC_RELEASE);
    return &learnt->account;
}

struct command_account *
command_account_open(struct session_stats *stats, const struct command *command)
{
    if (command == NULL)
        return open_row(stats, COMMAND_ID_NOBODY);
    if (command->id == COMMAND_ID_LEARNT)
        return open_learnt(stats, command);
    return open_row(stats, command->id);
}
