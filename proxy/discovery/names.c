/*
 * discovery/names.c - the table of names.
 */
#include "discovery/names.h"

#include <string.h>
#include <strings.h>
#include <sys/queue.h>

#include "base/log.h"
#include "base/mem.h"
#include "discovery/name.h"

#define SETTLE_MS 5 /* changes that come together are told once */
#define LIST_TEXT_MAX 512
#define US_PER_MS 1000
#define WANTED_US (600 * (uint64_t)1000000)

struct named {
    TAILQ_ENTRY(named) link;
    struct names *names;
    char *host;
    struct name name;
    struct address_list *half; /* a ref: found, but not of the missing kind */
    uint32_t half_ttl_s;
    int missing;        /* AF_INET or AF_INET6 */
    bool is_claimed;    /* by a server */
    uint64_t wanted_us; /* by somebody else, for so long */
};

struct names {
    struct loop *loop;
    struct resolver *resolver; /* NULL: not configured yet */
    struct name_limits limits;
    TAILQ_HEAD(, named) table;
    names_fn on_change;
    void *arg;
    struct timer next;   /* a name is due */
    struct timer settle; /* on_change is due */
    struct name_stats stats;
};

/* Does anybody want to know? */
static bool
is_wanted(const struct named *named)
{
    return named->is_claimed ||
        named->wanted_us > loop_now_us(named->names->loop);
}

static void ask(struct named *named);
static void named_free(struct named *named);
static void forget_unwanted(struct names *names, bool has_questions);

/* --- when ------------------------------------------------------------------- */

static void
plan(struct names *names)
{
    uint64_t now_us = loop_now_us(names->loop), next_us = UINT64_MAX;
    const struct named *named;

    TAILQ_FOREACH(named, &names->table, link)
    {
        next_us = MIN(next_us, name_next_us(&named->name, &names->limits));
    }
    if (next_us == UINT64_MAX || names->resolver == NULL)
        timer_stop(&names->next);
    else
        timer_start(&names->next,
                    next_us > now_us
                        ? (int64_t)((next_us - now_us) / US_PER_MS + 1)
                        : 0);
}

/* No server is where a name that only somebody else wants leads to. */
static void
tell_soon(struct named *named)
{
    struct names *names = named->names;

    if (named->is_claimed && !timer_is_active(&names->settle))
        timer_start(&names->settle, SETTLE_MS);
}

static void
on_next(struct timer *timer, void *arg)
{
    struct names *names = arg;
    uint64_t now_us = loop_now_us(names->loop);
    struct named *named;

    (void)timer;
    TAILQ_FOREACH(named, &names->table, link)
    {
        if (name_is_overdue(&named->name, &names->limits, now_us))
            tell_soon(named);
        else if (!named->name.is_asking && named->name.due_us <= now_us &&
                 is_wanted(named))
            ask(named);
    }
    forget_unwanted(names, true);
    plan(names);
}

static void
on_settle(struct timer *timer, void *arg)
{
    struct names *names = arg;

    (void)timer;
    names->on_change(names->arg);
}

/* --- asking ----------------------------------------------------------------- */

static void
count_known(struct names *names)
{
    const struct named *named;
    uint64_t known = 0, unknown = 0;

    TAILQ_FOREACH(named, &names->table, link)
    {
        if (named->name.addresses->count > 0)
            known++;
        else
            unknown++;
    }
    cell_set(&names->stats.known, known);
    cell_set(&names->stats.unknown, unknown);
}

static void
note_change(struct named *named, const struct address_list *before)
{
    char now_text[LIST_TEXT_MAX], before_text[LIST_TEXT_MAX];
    const struct address_list *now = named->name.addresses;

    if (now->count == 0)
        return;
    cell_inc(&named->names->stats.changes);
    log_info("addresses of name", "name=%s now=%s was=%s", named->host,
             address_list_format(now, now_text, sizeof(now_text)),
             before->count == 0 ? "unknown"
                                : address_list_format(before, before_text,
                                                      sizeof(before_text)));
}

/* The first time only; what is counted says how it goes on. */
static void
note_failure(const struct named *named, const struct resolve_answer *answer)
{
    char text[LIST_TEXT_MAX];
    const struct address_list *known = named->name.addresses;

    log_at(named->name.failures == 1 ? LOG_LEVEL_WARN : LOG_LEVEL_DEBUG,
           "name does not resolve",
           "name=%s reason=%s detail=\"%s\" used=%s", named->host,
           resolve_result_name(answer->result), answer->detail,
           known->count == 0
               ? "none"
               : address_list_format(known, text, sizeof(text)));
}

static void
take_answer(struct named *named, const struct resolve_answer *answer)
{
    struct names *names = named->names;
    struct address_list *before = address_list_ref(named->name.addresses);

    if (name_take_answer(&named->name, &names->limits, answer,
                         loop_clock_us(names->loop))) {
        note_change(named, before);
        count_known(names);
        tell_soon(named);
    }
    if (answer->result != RESOLVE_FOUND)
        note_failure(named, answer);
    address_list_unref(&before);
    if (!is_wanted(named))
        named_free(named);
    plan(names);
}

static void
on_missing(void *arg, const struct resolve_answer *missing)
{
    struct named *named = arg;
    struct resolve_answer whole = {
        .result = RESOLVE_FOUND,
        .found = name_complete(&named->name, named->half, named->missing,
                               missing),
        .ttl_s = named->half_ttl_s,
    };

    if (missing->result == RESOLVE_FOUND)
        whole.ttl_s = MIN(whole.ttl_s, missing->ttl_s);
    cell_inc(&named->names->stats.answers[missing->result]);
    address_list_unref(&named->half);
    take_answer(named, &whole);
    address_list_unref(&whole.found);
}

static void
on_answer(void *arg, const struct resolve_answer *answer)
{
    struct named *named = arg;
    struct names *names = named->names;

    cell_inc(&names->stats.answers[answer->result]);
    named->missing = answer->result == RESOLVE_FOUND
        ? name_missing_family(&named->name, answer->found)
        : AF_UNSPEC;
    if (named->missing == AF_UNSPEC) {
        take_answer(named, answer);
        return;
    }
    named->half = address_list_ref(answer->found);
    named->half_ttl_s = answer->ttl_s;
    resolver_ask(names->resolver, named->host, named->missing, on_missing,
                 named);
}

static void
ask(struct named *named)
{
    address_list_unref(&named->half);
    name_note_asked(&named->name, loop_clock_us(named->names->loop));
    resolver_ask(named->names->resolver, named->host, AF_UNSPEC, on_answer,
                 named);
}

/* --- the table -------------------------------------------------------------- */

static struct named *
find(const struct names *names, const char *host)
{
    struct named *named;

    TAILQ_FOREACH(named, &names->table, link)
    {
        if (strcasecmp(named->host, host) == 0)
            break;
    }
    return named;
}

static struct named *
get(struct names *names, const char *host, uint64_t wanted_us)
{
    struct named *named = find(names, host);

    if (named != NULL) {
        named->wanted_us = MAX(named->wanted_us, wanted_us);
        return named;
    }
    named = MEM_NEW(struct named);
    named->names = names;
    named->host = mem_strdup(host);
    named->is_claimed = wanted_us == 0;
    named->wanted_us = wanted_us;
    name_init(&named->name, loop_clock_us(names->loop));
    TAILQ_INSERT_TAIL(&names->table, named, link);
    if (names->resolver != NULL)
        ask(named);
    return named;
}

static void
named_free(struct named *named)
{
    TAILQ_REMOVE(&named->names->table, named, link);
    name_fini(&named->name);
    address_list_unref(&named->half);
    mem_free(named->host);
    mem_free(named);
}

/* Those that are being asked for go with their answer, unless there will be
 * none. */
static void
forget_unwanted(struct names *names, bool has_questions)
{
    struct named *named = TAILQ_FIRST(&names->table);

    while (named != NULL) {
        struct named *next = TAILQ_NEXT(named, link);
        if (!is_wanted(named) && !(has_questions && named->name.is_asking))
            named_free(named);
        named = next;
    }
}

/* --- snapshots -------------------------------------------------------------- */

/* The name comes first, as that is what the server asks to be called by. */
static struct address_list *
list_of_server(const struct roster_entry *entry,
               const struct address_list *known)
{
    uint16_t port = entry->address.port;
    struct address ip;

    if (entry->ip != NULL && address_from_literal(&ip, entry->ip, port))
        return address_list_and(known, port, &ip);
    return address_list_and(known, port, NULL);
}

static void
fill_server(struct names *names, struct snapshot *snapshot, size_t number,
            uint32_t i)
{
    const struct pool_map *map = &snapshot->pools[number];
    const struct roster_entry *entry = &map->roster->entries[i];

    if (map->addresses[i]->is_fixed)
        return;
    struct named *named = get(names, entry->address.host, 0);
    named->is_claimed = true;
    struct address_list *list = list_of_server(entry, named->name.addresses);
    if (address_list_is_alike(map->addresses[i], list))
        address_list_unref(&list); /* what did not change is the same object */
    else
        snapshot_set_addresses(snapshot, number, i, list);
}

void
names_take(struct names *names, struct snapshot *snapshot)
{
    struct named *named;

    TAILQ_FOREACH(named, &names->table, link)
    {
        named->is_claimed = false;
    }
    for (size_t p = 0; p < snapshot->settings->pool_count; p++) {
        for (uint32_t i = 0; i < snapshot->pools[p].roster->count; i++)
            fill_server(names, snapshot, p, i);
    }
    forget_unwanted(names, true);
    count_known(names);
    timer_stop(&names->settle); /* all is told by this */
    plan(names);
}

const struct address_list *
names_find(struct names *names, const char *host)
{
    uint64_t now_us = loop_now_us(names->loop);
    const struct named *named = get(names, host, now_us + WANTED_US);

    plan(names);
    return named->name.addresses;
}

void
names_hint(struct names *names, const char *host)
{
    struct named *named = find(names, host);

    if (named == NULL)
        return;
    cell_inc(&names->stats.hints);
    name_hint(&named->name, &names->limits);
    plan(names);
}

/* --- settings --------------------------------------------------------------- */

struct resolver *
names_make_resolver(struct loop *loop, const struct settings *settings,
                    struct error *error)
{
    return resolver_new(loop, settings->resolver,
                        settings->resolve_timeout_ms, error);
}

void
names_configure(struct names *names, struct resolver *resolver,
                const struct settings *settings)
{
    struct named *named;

    resolver_free(&names->resolver);
    names->resolver = resolver;
    names->limits = (struct name_limits){
        .ttl_min_us = (uint64_t)settings->resolve_ttl_min_ms * US_PER_MS,
        .ttl_max_us = (uint64_t)settings->resolve_ttl_max_ms * US_PER_MS,
        .wait_us = (uint64_t)settings->resolve_timeout_ms * US_PER_MS,
    };
    forget_unwanted(names, false);
    TAILQ_FOREACH(named, &names->table, link)
    {
        ask(named);
    }
    plan(names);
}

/* --- life ------------------------------------------------------------------- */

struct names *
names_new(struct loop *loop, names_fn on_change, void *arg)
{
    struct names *names = MEM_NEW(struct names);

    names->loop = loop;
    names->on_change = on_change;
    names->arg = arg;
    TAILQ_INIT(&names->table);
    timer_init(&names->next, loop, on_next, names);
    timer_init(&names->settle, loop, on_settle, names);
    return names;
}

void
names_free(struct names **namesp)
{
    struct names *names = *namesp;

    *namesp = NULL;
    if (names == NULL)
        return;
    resolver_free(&names->resolver);
    timer_stop(&names->next);
    timer_stop(&names->settle);
    while (!TAILQ_EMPTY(&names->table))
        named_free(TAILQ_FIRST(&names->table));
    mem_free(names);
}

/* --- statistics ------------------------------------------------------------- */

const struct name_stats *
names_stats(const struct names *names)
{
    return &names->stats;
}

bool
names_facts(const struct names *names, size_t number,
            struct name_facts *facts)
{
    const struct named *named = TAILQ_FIRST(&names->table);

    while (named != NULL && number-- > 0)
        named = TAILQ_NEXT(named, link);
    if (named == NULL)
        return false;
    *facts = (struct name_facts){
        .host = named->host,
        .answered_us = named->name.answered_us,
        .age_us = loop_now_us(names->loop) - named->name.answered_us,
        .addresses = named->name.addresses,
    };
    return true;
}
