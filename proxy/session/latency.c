/*
 * session/latency.c - samples of each worker, and those of all.
 */
#include "session/latency.h"

#include <time.h>

#include "base/graph.h"
#include "base/mem.h"
#include "resp/encode.h"
#include "session/request.h"
#include "session/survey_priv.h"

#define EVENT_COUNT 2
#define GRAPH_RULE 80 /* the width of the line above a graph */

static const char *const event_names[EVENT_COUNT] = {"command",
                                                     "fast-command"};

struct sample {
    uint64_t at_s; /* of the calendar; 0: none */
    uint64_t ms;
};

/* One event at one worker, or at all of them. */
struct event {
    struct sample samples[LATENCY_SAMPLES]; /* a ring */
    uint32_t next;
    uint64_t max_ms; /* since it was reset */
};

struct latency {
    struct event events[EVENT_COUNT];
};

/* --- noting -------------------------------------------------------------- */

static void
event_add(struct event *event, uint64_t at_s, uint64_t ms)
{
    uint32_t last = (event->next + LATENCY_SAMPLES - 1) % LATENCY_SAMPLES;
    struct sample *sample = &event->samples[last];

    event->max_ms = MAX(event->max_ms, ms);
    if (sample->at_s == at_s) {
        sample->ms = MAX(sample->ms, ms);
        return;
    }
    event->samples[event->next] = (struct sample){at_s, ms};
    event->next = (event->next + 1) % LATENCY_SAMPLES;
}

void
latency_note(struct session_pool *pool, const struct command *command,
             uint64_t took_us)
{
    int64_t threshold_ms = pool->settings->latency_monitor_threshold_ms;
    bool is_fast = (command->flags & COMMAND_FAST) != 0;

    if (threshold_ms == 0 || took_us / 1000 < (uint64_t)threshold_ms)
        return;
    if (pool->latency == NULL)
        pool->latency = MEM_NEW(struct latency);
    event_add(&pool->latency->events[is_fast], (uint64_t)time(NULL),
              took_us / 1000);
}

void
latency_free(struct session_pool *pool)
{
    mem_free(pool->latency);
    pool->latency = NULL;
}

/* --- telling ------------------------------------------------------------- */

bool
latency_is_event(struct view name)
{
    for (unsigned i = 0; i < EVENT_COUNT; i++) {
        if (view_equal(name, view_str(event_names[i])))
            return true;
    }
    return false;
}

/* Does the text, names between spaces, name it?  An empty one means all. */
static bool
is_named(struct view text, const char *name)
{
    if (text.len == 0)
        return true;
    while (text.len > 0) {
        if (view_equal_nocase(view_take(&text, ' '), view_str(name)))
            return true;
    }
    return false;
}

/* "number-of-the-event max at ms", oldest first. */
static void
tell_event(const struct event *event, unsigned number, struct buf *out)
{
    for (uint32_t i = 0; i < LATENCY_SAMPLES; i++) {
        const struct sample *sample =
            &event->samples[(event->next + i) % LATENCY_SAMPLES];
        if (sample->at_s != 0)
            buf_printf(out, "%u %llu %llu %llu\n", number,
                       (unsigned long long)event->max_ms,
                       (unsigned long long)sample->at_s,
                       (unsigned long long)sample->ms);
    }
}

static void
tell_events(const struct session_pool *pool, const struct survey *survey,
            struct buf *out)
{
    for (unsigned i = 0; pool->latency != NULL && i < EVENT_COUNT; i++) {
        if (is_named(survey->text, event_names[i]))
            tell_event(&pool->latency->events[i], i, out);
    }
}

void
latency_survey_get(struct session_pool *pool, const struct survey *survey)
{
    struct buf text = {0};

    tell_events(pool, survey, &text);
    survey_tell(pool->env, survey, buf_view(&text));
    buf_fini(&text);
}

/* Each worker begins with the event that was asked for. */
void
latency_survey_graph(struct session_pool *pool, const struct survey *survey)
{
    struct buf text = {0};

    for (unsigned i = 0; i < EVENT_COUNT; i++) {
        if (is_named(survey->text, event_names[i]))
            buf_printf(&text, "%u 0 0 0\n", i);
    }
    tell_events(pool, survey, &text);
    survey_tell(pool->env, survey, buf_view(&text));
    buf_fini(&text);
}

void
latency_survey_reset(struct session_pool *pool, const struct survey *survey)
{
    struct buf text = {0};

    tell_events(pool, survey, &text);
    for (unsigned i = 0; pool->latency != NULL && i < EVENT_COUNT; i++) {
        if (is_named(survey->text, event_names[i]))
            pool->latency->events[i] = (struct event){.next = 0};
    }
    survey_tell(pool->env, survey, buf_view(&text));
    buf_fini(&text);
}

/* --- putting together ---------------------------------------------------- */

struct line {
    uint64_t event, max_ms;
    struct sample sample;
};

struct lines {
    struct line *all; /* by event and time, each second once */
    size_t count;
};

static uint64_t
take_number(struct view *line)
{
    uint64_t number = 0;

    (void)!view_to_u64(view_take(line, ' '), &number);
    return number;
}

static int
by_event_and_time(const void *a, const void *b)
{
    const struct line *x = a, *y = b;

    if (x->event != y->event)
        return x->event < y->event ? -1 : 1;
    if (x->sample.at_s != y->sample.at_s)
        return x->sample.at_s < y->sample.at_s ? -1 : 1;
    return 0;
}

static size_t
count_lines(struct view text)
{
    size_t count = 0;

    for (; text.len > 0; count++)
        (void)view_take(&text, '\n');
    return count;
}

static void
merge_seconds(struct lines *lines)
{
    size_t kept = 0;

    for (size_t i = 0; i < lines->count; i++) {
        struct line *last = kept == 0 ? NULL : &lines->all[kept - 1];
        if (last == NULL || by_event_and_time(last, &lines->all[i]) != 0) {
            lines->all[kept++] = lines->all[i];
            continue;
        }
        last->sample.ms = MAX(last->sample.ms, lines->all[i].sample.ms);
        last->max_ms = MAX(last->max_ms, lines->all[i].max_ms);
    }
    lines->count = kept;
}

static struct lines
lines_read(struct view text)
{
    struct lines lines = {.count = count_lines(text)};

    lines.all = mem_array(lines.count + 1, sizeof(*lines.all));
    for (size_t i = 0; i < lines.count; i++) {
        struct view words = view_take(&text, '\n');
        lines.all[i].event = take_number(&words);
        ASSERT(lines.all[i].event < EVENT_COUNT);
        lines.all[i].max_ms = take_number(&words);
        lines.all[i].sample.at_s = take_number(&words);
        lines.all[i].sample.ms = take_number(&words);
    }
    if (lines.count > 0)
        qsort(lines.all, lines.count, sizeof(*lines.all), by_event_and_time);
    merge_seconds(&lines);
    return lines;
}

/* The lines of one event: the first, and behind the last. */
static size_t
lines_end(const struct lines *lines, size_t from, uint64_t *max_ms)
{
    size_t end = from;

    *max_ms = 0;
    while (end < lines->count &&
           lines->all[end].event == lines->all[from].event) {
        *max_ms = MAX(*max_ms, lines->all[end].max_ms);
        end++;
    }
    return end;
}

static size_t
count_events(const struct lines *lines)
{
    size_t count = 0;
    uint64_t max_ms;

    for (size_t i = 0; i < lines->count; count++)
        i = lines_end(lines, i, &max_ms);
    return count;
}

void
latency_reply_latest(const struct request *request UNUSED, struct view text,
                     struct buf *out)
{
    struct lines lines = lines_read(text);
    uint64_t max_ms;

    encode_array(out, count_events(&lines));
    for (size_t i = 0; i < lines.count;) {
        size_t end = lines_end(&lines, i, &max_ms);
        const struct line *last = &lines.all[end - 1];
        encode_array(out, 4);
        encode_bulk_str(out, event_names[last->event]);
        encode_integer(out, (int64_t)last->sample.at_s);
        encode_integer(out, (int64_t)last->sample.ms);
        encode_integer(out, (int64_t)max_ms);
        i = end;
    }
    mem_free(lines.all);
}

void
latency_reply_history(const struct request *request UNUSED, struct view text,
                      struct buf *out)
{
    struct lines lines = lines_read(text);
    size_t from = lines.count > LATENCY_SAMPLES
        ? lines.count - LATENCY_SAMPLES
        : 0;

    encode_array(out, lines.count - from);
    for (size_t i = from; i < lines.count; i++) {
        encode_array(out, 2);
        encode_integer(out, (int64_t)lines.all[i].sample.at_s);
        encode_integer(out, (int64_t)lines.all[i].sample.ms);
    }
    mem_free(lines.all);
}

void
latency_reply_reset(const struct request *request UNUSED, struct view text,
                    struct buf *out)
{
    struct lines lines = lines_read(text);

    encode_integer(out, (int64_t)count_events(&lines));
    mem_free(lines.all);
}

static void
describe_event(const struct lines *lines, size_t from, size_t end,
               uint64_t max_ms, struct buf *out)
{
    uint64_t sum_ms = 0;

    ASSERT(end > from);
    for (size_t i = from; i < end; i++)
        sum_ms += lines->all[i].sample.ms;
    buf_printf(out,
               "%s: %zu seconds had a request over the threshold; the longest "
               "took %llu ms, on average %llu ms.\n",
               event_names[lines->all[from].event], end - from,
               (unsigned long long)max_ms,
               (unsigned long long)(sum_ms / (end - from)));
}

static void
describe(const struct session_pool *pool, const struct lines *lines,
         struct buf *out)
{
    int64_t threshold_ms = pool->settings->latency_monitor_threshold_ms;
    uint64_t max_ms;

    if (threshold_ms == 0) {
        buf_append_str(out,
                       "Nothing is noted: latency_monitor_threshold of this "
                       "pool is 0.\n");
        return;
    }
    if (lines->count == 0) {
        buf_printf(out,
                   "No request of this pool has taken %lld ms since the start "
                   "or the last LATENCY RESET.\n",
                   (long long)threshold_ms);
        return;
    }
    for (size_t i = 0; i < lines->count;) {
        size_t end = lines_end(lines, i, &max_ms);
        describe_event(lines, i, end, max_ms, out);
        i = end;
    }
    buf_append_str(out,
                   "SLOWLOG GET 10 DETAILS tells where the time of the latest "
                   "ones went, and at which shard.\n");
}

void
latency_reply_doctor(const struct request *request, struct view text,
                     struct buf *out)
{
    struct lines lines = lines_read(text);
    struct buf report = {0};

    describe(request->pool, &lines, &report);
    encode_verbatim(out, request->session->resp, buf_view(&report));
    buf_fini(&report);
    mem_free(lines.all);
}

static void
draw(const struct line *lines, size_t count, uint64_t max_ms, struct buf *out)
{
    struct graph_point points[LATENCY_SAMPLES];
    uint64_t now_s = (uint64_t)time(NULL), low_ms = UINT64_MAX, high_ms = 0;

    for (size_t i = 0; i < count; i++) {
        const struct sample *sample = &lines[i].sample;
        points[i].ms = sample->ms;
        points[i].age_s = now_s - MIN(now_s, sample->at_s);
        low_ms = MIN(low_ms, sample->ms);
        high_ms = MAX(high_ms, sample->ms);
    }
    buf_printf(out, "%s - high %llu ms, low %llu ms (all time high %llu ms)\n",
               event_names[lines->event], (unsigned long long)high_ms,
               (unsigned long long)low_ms, (unsigned long long)max_ms);
    for (unsigned i = 0; i < GRAPH_RULE; i++)
        buf_append_char(out, '-');
    buf_append_char(out, '\n');
    graph_draw(points, count, out);
}

/* The first line names the event and is no sample of it. */
void
latency_reply_graph(const struct request *request, struct view text,
                    struct buf *out)
{
    struct lines lines = lines_read(text);
    struct buf drawing = {0};
    uint64_t max_ms;

    if (lines.count < 2) {
        buf_printf(out, "-ERR No samples available for event '%s'\r\n",
                   lines.count == 0 ? "" : event_names[lines.all[0].event]);
    } else {
        size_t count = MIN(lines.count - 1, (size_t)LATENCY_SAMPLES);
        (void)lines_end(&lines, 0, &max_ms);
        draw(&lines.all[lines.count - count], count, max_ms, &drawing);
        encode_verbatim(out, request->session->resp, buf_view(&drawing));
    }
    buf_fini(&drawing);
    mem_free(lines.all);
}
