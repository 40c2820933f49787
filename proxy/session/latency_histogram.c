/*
 * session/latency_histogram.c - histograms of each worker, and their sum.
 */
#include "session/latency_histogram.h"

#include <inttypes.h>

#include "base/mem.h"
#include "resp/encode.h"
#include "session/request.h"
#include "session/survey_priv.h"

/* --- telling ------------------------------------------------------------- */

struct telling {
    bool is_any;
    struct view name;  /* that was asked for, unless any is */
    unsigned position; /* of it in the question */
    struct buf text;
};

/* Also of a subcommand, when its container is asked for. */
static bool
is_named(struct view wanted, struct view name)
{
    if (name.len > wanted.len && name.data[wanted.len] == '|')
        name.len = wanted.len;
    return view_equal_nocase(wanted, name);
}

/* "position name count count ...", by buckets. */
static void
tell_account(void *arg, const char *name, const struct command_account *account)
{
    struct telling *telling = arg;
    struct command_stats recent = {0};

    if (!telling->is_any && !is_named(telling->name, view_str(name)))
        return;
    command_stats_add_recent(&recent, account);
    if (command_stats_calls(&recent) == 0)
        return;
    buf_printf(&telling->text, "%u %s", telling->position, name);
    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
        buf_printf(&telling->text, " %" PRIu64,
                   cell_get(&recent.latency.bucket[i]));
    buf_append_char(&telling->text, '\n');
}

void
latency_histogram_survey(struct session_pool *pool, const struct survey *survey)
{
    struct telling telling = {.is_any = survey->text.len == 0};
    struct view words = survey->text;

    do {
        telling.name = view_take(&words, ' ');
        session_stats_each(pool->stats, tell_account, &telling);
        telling.position++;
    } while (words.len > 0);
    survey_tell(pool->env, survey, buf_view(&telling.text));
    buf_fini(&telling.text);
}

/* --- putting together ---------------------------------------------------- */

struct told {
    uint64_t position;
    struct view name;
    uint64_t counts[HISTOGRAM_BUCKETS];
};

static uint64_t
take_number(struct view *words)
{
    uint64_t number = 0;

    (void)!view_to_u64(view_take(words, ' '), &number);
    return number;
}

static struct told
take_told(struct view *text)
{
    struct view words = view_take(text, '\n');
    struct told told = {.position = take_number(&words)};

    told.name = view_take(&words, ' ');
    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
        told.counts[i] = take_number(&words);
    return told;
}

static int
by_position_and_name(const void *a, const void *b)
{
    const struct told *x = a, *y = b;
    int order =
        memcmp(x->name.data, y->name.data, MIN(x->name.len, y->name.len));

    if (x->position != y->position)
        return x->position < y->position ? -1 : 1;
    if (order != 0)
        return order;
    return x->name.len < y->name.len ? -1 : x->name.len > y->name.len;
}

/* What several workers have told of one command becomes one. */
static size_t
merge_told(struct told *all, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || by_position_and_name(&all[kept - 1], &all[i]) != 0) {
            all[kept++] = all[i];
            continue;
        }
        for (unsigned b = 0; b < HISTOGRAM_BUCKETS; b++)
            all[kept - 1].counts[b] += all[i].counts[b];
    }
    return kept;
}

/* What took longer than any bound stands at twice the last. */
static int64_t
shown_bound_us(unsigned bucket)
{
    if (bucket < HISTOGRAM_BUCKETS - 1)
        return (int64_t)histogram_bound_us(bucket);
    return 2 * (int64_t)histogram_bound_us(HISTOGRAM_BUCKETS - 2);
}

/* The bounds at which something has been added, and all calls up to there. */
static void
encode_counts(const struct told *told, int resp, struct buf *out)
{
    uint64_t calls = 0;
    size_t pairs = 0;

    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
        pairs += told->counts[i] > 0;
    encode_map(out, resp, pairs);
    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
        calls += told->counts[i];
        if (told->counts[i] == 0)
            continue;
        encode_integer(out, shown_bound_us(i));
        encode_integer(out, (int64_t)calls);
    }
}

static void
encode_told(const struct told *told, int resp, struct buf *out)
{
    uint64_t calls = 0;

    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
        calls += told->counts[i];
    encode_bulk(out, told->name);
    encode_map(out, resp, 2);
    encode_bulk_str(out, "calls");
    encode_integer(out, (int64_t)calls);
    encode_bulk_str(out, "histogram_usec");
    encode_counts(told, resp, out);
}

void
latency_histogram_reply(const struct request *request, struct view text,
                        struct buf *out)
{
    int resp = request->session->resp;
    struct told *all = NULL;
    size_t count = 0, room = 0;

    while (text.len > 0) {
        if (count == room) {
            room = MAX(2 * room, (size_t)16);
            all = mem_realloc(all, room * sizeof(*all));
        }
        all[count++] = take_told(&text);
    }
    if (count > 0)
        qsort(all, count, sizeof(*all), by_position_and_name);
    count = merge_told(all, count);
    encode_map(out, resp, count);
    for (size_t i = 0; i < count; i++)
        encode_told(&all[i], resp, out);
    mem_free(all);
}
