/*
 * session/slow_log.c - keeping, telling and putting together slow requests.
 */
#include "session/slow_log.h"

#include <time.h>

#include "base/mem.h"
#include "resp/encode.h"
#include "session/client_line.h"
#include "session/latency.h"
#include "session/slow_words.h"
#include "session/split_job.h"
#include "session/survey_priv.h"

#define US_PER_S 1000000

struct slow_entry {
    TAILQ_ENTRY(slow_entry) link; /* the newest first */
    uint64_t id;
    uint64_t at_us;    /* of the calendar */
    uint64_t took_us;
    uint64_t queue_us; /* until it was sent */
    uint64_t server_us;
    uint64_t wait_us;  /* for its turn */
    struct buf words;  /* an array; then the client's address and name */
    char *shard;       /* or NULL */
};

TAILQ_HEAD(slow_entry_list, slow_entry);

struct slow_log {
    struct slow_entry_list entries;
    uint64_t count;
    uint64_t next_id;
};

/* --- life ---------------------------------------------------------------- */

void
slow_log_configure(struct session_pool *pool)
{
    const struct pool_settings *settings = pool->settings;
    int64_t event_ms = settings->latency_monitor_threshold_ms;

    pool->notice_us = UINT64_MAX;
    if (slow_log_is_on(pool))
        pool->notice_us = (uint64_t)settings->slowlog_log_slower_than_us;
    if (event_ms > 0)
        pool->notice_us = MIN(pool->notice_us, (uint64_t)event_ms * 1000);
}

static struct slow_log *
slow_log_get(struct session_pool *pool)
{
    if (pool->slow_log == NULL) {
        pool->slow_log = MEM_NEW(struct slow_log);
        TAILQ_INIT(&pool->slow_log->entries);
    }
    return pool->slow_log;
}

static void
trim(struct slow_log *log, uint64_t count)
{
    while (log->count > count) {
        struct slow_entry *oldest =
            TAILQ_LAST(&log->entries, slow_entry_list);
        TAILQ_REMOVE(&log->entries, oldest, link);
        buf_fini(&oldest->words);
        mem_free(oldest->shard);
        mem_free(oldest);
        log->count--;
    }
}

void
slow_log_free(struct session_pool *pool)
{
    if (pool->slow_log == NULL)
        return;
    trim(pool->slow_log, 0);
    mem_free(pool->slow_log);
    pool->slow_log = NULL;
}

/* --- noting one ---------------------------------------------------------- */

static uint64_t
calendar_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * US_PER_S + (uint64_t)now.tv_nsec / 1000;
}

/* Where the time of a request went whose answer leaves now. */
static void
split_time(const struct request *request, struct slow_entry *entry)
{
    uint64_t end_us = request->start_us + entry->took_us;
    uint64_t done_us = request->done_us == 0 ? end_us : request->done_us;
    uint64_t sent_us = request->job == NULL ? request->call.sent_us
                                            : split_job_sent_us(request);

    if (sent_us < request->start_us || sent_us > done_us)
        sent_us = done_us; /* it never was, or not in this attempt */
    entry->queue_us = sent_us - request->start_us;
    entry->server_us = done_us - sent_us;
    entry->wait_us = end_us - done_us;
}

static void
add_client(struct slow_entry *entry, struct session *session)
{
    const struct client_info *info;

    encode_bulk_str(&entry->words, client_peer(session));
    info = session->info;
    encode_bulk_str(&entry->words, info->name == NULL ? "" : info->name);
}

static void
keep(struct request *request, uint64_t took_us)
{
    struct session_pool *pool = request->pool;
    struct slow_log *log = slow_log_get(pool);
    struct slow_entry *entry = MEM_NEW(struct slow_entry);

    entry->id = log->next_id++ * pool->env->workers + pool->env->worker;
    entry->at_us = calendar_us();
    entry->took_us = took_us;
    split_time(request, entry);
    slow_words_encode(request, &entry->words);
    add_client(entry, request->session);
    if (request->job == NULL &&
        request->shard < request->generation->server_count)
        entry->shard = mem_view_dup(view_str(request_server(request)->name));
    TAILQ_INSERT_HEAD(&log->entries, entry, link);
    log->count++;
    trim(log, pool->settings->slowlog_max_len);
}

void
slow_log_note(struct request *request, uint64_t took_us)
{
    const struct pool_settings *settings = request->pool->settings;
    int64_t slower_us = settings->slowlog_log_slower_than_us;

    /* Not what waits by itself, nor what the proxy answers. */
    if (request->blocks || request->command == NULL ||
        (request->job == NULL && request->call.body.chunk == NULL))
        return;
    if (slower_us >= 0 && took_us >= (uint64_t)slower_us) {
        cell_inc(&request->pool->stats->requests_slow);
        keep(request, took_us);
    }
    latency_note(request->pool, request->command, took_us);
}

/* --- telling ------------------------------------------------------------- */

static void
encode_details(const struct slow_entry *entry, int resp, struct buf *out)
{
    encode_map(out, resp, 4);
    encode_bulk_str(out, "queue-us");
    encode_integer(out, (int64_t)entry->queue_us);
    encode_bulk_str(out, "server-us");
    encode_integer(out, (int64_t)entry->server_us);
    encode_bulk_str(out, "wait-us");
    encode_integer(out, (int64_t)entry->wait_us);
    encode_bulk_str(out, "shard");
    encode_bulk_str(out, entry->shard == NULL ? "" : entry->shard);
}

static void
encode_entry(const struct slow_entry *entry, bool has_details, int resp,
             struct buf *out)
{
    encode_array(out, has_details ? 7 : 6);
    encode_integer(out, (int64_t)entry->id);
    encode_integer(out, (int64_t)(entry->at_us / US_PER_S));
    encode_integer(out, (int64_t)entry->took_us);
    buf_append_view(out, buf_view(&entry->words));
    if (has_details)
        encode_details(entry, resp, out);
}

/* "at id length", a line's end, and so many bytes. */
static void
tell_entry(const struct slow_entry *entry, bool has_details, int resp,
           struct buf *out)
{
    struct buf bytes = {0};

    encode_entry(entry, has_details, resp, &bytes);
    buf_printf(out, "%llu %llu %zu\n", (unsigned long long)entry->at_us,
               (unsigned long long)entry->id, bytes.len);
    buf_append_view(out, buf_view(&bytes));
    buf_fini(&bytes);
}

static uint64_t
take_number(struct view *text, char end)
{
    uint64_t number = 0;

    (void)!view_to_u64(view_take(text, end), &number);
    return number;
}

/* Each worker begins with the number that was asked for. */
void
slow_log_survey_get(struct session_pool *pool, const struct survey *survey)
{
    const struct slow_log *log = pool->slow_log;
    const struct slow_entry *entry;
    struct view words = survey->text;
    uint64_t count = take_number(&words, ' ');
    bool has_details = take_number(&words, ' ') != 0;
    int resp = (int)take_number(&words, ' ');
    struct buf text = {0};

    buf_printf(&text, "%llu 0 0\n", (unsigned long long)count);
    if (log != NULL) {
        TAILQ_FOREACH(entry, &log->entries, link)
        {
            if (count-- == 0)
                break;
            tell_entry(entry, has_details, resp, &text);
        }
    }
    survey_tell(pool->env, survey, buf_view(&text));
    buf_fini(&text);
}

void
slow_log_survey_len(struct session_pool *pool, const struct survey *survey)
{
    survey_tell_count(pool->env, survey,
                      pool->slow_log == NULL ? 0 : pool->slow_log->count);
}

void
slow_log_survey_reset(struct session_pool *pool, const struct survey *survey)
{
    if (pool->slow_log != NULL)
        trim(pool->slow_log, 0);
    survey_tell(pool->env, survey, VIEW(""));
}

/* --- putting together ---------------------------------------------------- */

/* An entry as some worker has told it. */
struct told {
    uint64_t at_us, id;
    struct view bytes;
};

static int
newest_first(const void *a, const void *b)
{
    const struct told *x = a, *y = b;

    if (x->at_us != y->at_us)
        return x->at_us > y->at_us ? -1 : 1;
    return x->id > y->id ? -1 : x->id < y->id;
}

static struct told
take_told(struct view *text)
{
    struct told told;

    told.at_us = take_number(text, ' ');
    told.id = take_number(text, ' ');
    size_t len = (size_t)take_number(text, '\n');
    ASSERT(len <= text->len);
    told.bytes = view_of(text->data, len);
    text->data += len;
    text->len -= len;
    return told;
}

void
slow_log_reply_get(const struct request *request, struct view text,
                   struct buf *out)
{
    uint64_t limit = request->pool->settings->slowlog_max_len;
    uint64_t wanted = 0;
    size_t count = 0, cap = 0;
    struct told *all = NULL;

    while (text.len > 0) {
        struct told told = take_told(&text);
        if (told.bytes.len == 0) {
            wanted = told.at_us;
            continue;
        }
        if (count == cap) {
            cap = MAX(2 * cap, (size_t)64);
            all = mem_realloc(all, cap * sizeof(*all));
        }
        all[count++] = told;
    }
    if (count > 0)
        qsort(all, count, sizeof(*all), newest_first);
    count = MIN(count, (size_t)MIN(wanted, limit));
    encode_array(out, count);
    for (size_t i = 0; i < count; i++)
        buf_append_view(out, all[i].bytes);
    mem_free(all);
}

void
slow_log_reply_len(const struct request *request, struct view text,
                   struct buf *out)
{
    uint64_t limit = request->pool->settings->slowlog_max_len;

    encode_integer(out, (int64_t)MIN(survey_sum(text), limit));
}
