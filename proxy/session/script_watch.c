/*
 * session/script_watch.c - listening to the servers' own MONITOR.
 */
#include "session/script_watch.h"

#include "base/log_limit.h"
#include "base/mem.h"
#include "session/listening.h"
#include "session/monitor.h"
#include "session/monitor_line.h"
#include "session/survey_priv.h"

#define LINE_MAX_BYTES 1048576 /* a longer one is not shown */
#define MONITOR_WORDS "*1\r\n$7\r\nMONITOR\r\n"

enum watched_state {
    WATCHED_DEAF,  /* not connected */
    WATCHED_ASKED, /* it has not said yes yet */
    WATCHED_ON
};

/* One server. */
struct watched {
    LIST_ENTRY(watched) link;
    struct script_watch *watch;
    struct listening listening;
    struct timer timer; /* the next attempt to connect */
    enum watched_state state;
    unsigned failures; /* in a row */
};

/* Somebody waits until all are listened to. */
struct watch_wait {
    LIST_ENTRY(watch_wait) link;
    struct survey survey; /* without its text */
};

struct script_watch {
    struct session_pool *pool;
    LIST_HEAD(, watched) watched;
    LIST_HEAD(, watch_wait) waits;
};

/* --- who waits -------------------------------------------------------------------- */

static bool
is_settled(const struct script_watch *watch)
{
    const struct watched *watched;

    LIST_FOREACH (watched, &watch->watched, link) {
        if (watched->state != WATCHED_ON && watched->failures == 0)
            return false;
    }
    return true;
}

static void
tell_all(struct script_watch *watch)
{
    struct watch_wait *wait;

    while ((wait = LIST_FIRST(&watch->waits)) != NULL) {
        LIST_REMOVE(wait, link);
        survey_tell(watch->pool->env, &wait->survey, VIEW(""));
        mem_free(wait);
    }
}

static void
settle(struct script_watch *watch)
{
    if (is_settled(watch))
        tell_all(watch);
}

void
script_watch_survey(struct script_watch *watch, const struct survey *survey)
{
    struct watch_wait *wait = MEM_NEW(struct watch_wait);

    wait->survey = *survey;
    wait->survey.text = VIEW("");
    LIST_INSERT_HEAD(&watch->waits, wait, link);
    settle(watch);
}

/* --- being connected ---------------------------------------------------------------- */

/* It is told of later, since whoever is told may do anything. */
static void
note_failure(struct watched *watched)
{
    int64_t pause_ms = listening_pause_ms(watched->failures);

    watched->failures++;
    if (!watched->listening.is_closing)
        timer_start(&watched->timer, pause_ms);
}

static void
watched_connect(struct watched *watched)
{
    if (!listening_connect(&watched->listening))
        note_failure(watched);
}

static void
on_lane(struct lane_lease *lease)
{
    if (lease->lane == NULL)
        note_failure(CONTAINER_OF(lease, struct watched, listening.lease));
}

static void
on_ready(struct lane_lease *lease)
{
    struct watched *watched =
        CONTAINER_OF(lease, struct watched, listening.lease);

    listening_on_ready(&watched->listening);
    watched->state = WATCHED_ASKED;
    lane_say(lease->lane, VIEW(MONITOR_WORDS));
}

static void
on_gone(struct lane_lease *lease)
{
    struct watched *watched =
        CONTAINER_OF(lease, struct watched, listening.lease);
    const struct session_pool *pool = watched->watch->pool;

    listening_on_gone(&watched->listening);
    if (watched->state == WATCHED_ON && !watched->listening.is_closing) {
        cell_inc(&pool->stats->monitor_losses);
        log_info_limited(pool->settings->name, watched->listening.server->name,
                         "connection for MONITOR was lost", "pool=%s server=%s",
                         pool->settings->name, watched->listening.server->name);
    }
    watched->state = WATCHED_DEAF;
    note_failure(watched);
}

static void
on_timer(struct timer *timer UNUSED, void *arg)
{
    struct watched *watched = arg;

    settle(watched->watch);
    watched_connect(watched);
}

/* --- what is heard ------------------------------------------------------------------- */

static void
take_line(struct watched *watched, struct view line)
{
    struct session_pool *pool = watched->watch->pool;
    struct buf shown = {0};

    if (monitor_script_line(&shown, line, pool->settings->redis_db,
                            pool->settings->databases))
        monitor_take_lines(pool->env, pool->id, buf_view(&shown));
    buf_fini(&shown);
}

static void
take_frame(struct watched *watched, struct view frame)
{
    struct lane *lane = watched->listening.lease.lane;

    if (watched->state == WATCHED_ON) {
        take_line(watched, frame);
    } else if (frame.data[0] == RESP_SIMPLE) {
        watched->state = WATCHED_ON;
        watched->failures = 0;
        settle(watched->watch);
    } else {
        lane_close(&lane, CLOSE_SERVER_HANDSHAKE);
    }
}

static void
on_frame(struct lane_lease *lease, const struct reply_piece *piece)
{
    struct watched *watched =
        CONTAINER_OF(lease, struct watched, listening.lease);
    struct extent frame;

    switch (
        listening_hear(&watched->listening, piece, LINE_MAX_BYTES, &frame)) {
    case HEARD_PART:
        return;
    case HEARD_WHOLE:
        take_frame(watched, view_of(frame.chunk->data + frame.off, frame.len));
        break;
    case HEARD_TOO_LONG:
        cell_add(&watched->watch->pool->stats->monitor_lost_bytes, piece->size);
        break;
    }
    chunk_unref(&frame.chunk);
}

/* --- life ------------------------------------------------------------------------------ */

static void
watched_new(struct script_watch *watch, struct server *server)
{
    struct watched *watched = MEM_NEW(struct watched);

    watched->watch = watch;
    listening_init(&watched->listening, server, 2, LOGIN_POOL);
    watched->listening.lease.on_lane = on_lane;
    watched->listening.lease.on_gone = on_gone;
    watched->listening.lease.on_ready = on_ready;
    watched->listening.lease.on_frame = on_frame;
    timer_init(&watched->timer, watch->pool->env->loop, on_timer, watched);
    LIST_INSERT_HEAD(&watch->watched, watched, link);
    watched_connect(watched);
}

static void
watched_free(struct watched *watched)
{
    LIST_REMOVE(watched, link);
    listening_end(&watched->listening, CLOSE_SERVER_IDLE);
    timer_stop(&watched->timer);
    mem_free(watched);
}

static struct watched *
find_watched(const struct script_watch *watch, const struct server *server)
{
    struct watched *watched;

    LIST_FOREACH (watched, &watch->watched, link) {
        if (watched->listening.server == server)
            break;
    }
    return watched;
}

static bool
is_shard(const struct script_watch *watch, const struct server *server)
{
    const struct generation *current = watch->pool->pool->current;

    for (uint32_t i = 0; i < current->shard_count; i++) {
        if (current->servers[i] == server)
            return true;
    }
    return false;
}

void
script_watch_follow(struct script_watch *watch)
{
    const struct generation *current = watch->pool->pool->current;
    struct watched *watched = LIST_FIRST(&watch->watched);

    while (watched != NULL) {
        struct watched *next = LIST_NEXT(watched, link);
        if (!is_shard(watch, watched->listening.server))
            watched_free(watched);
        watched = next;
    }
    for (uint32_t i = 0; i < current->shard_count; i++) {
        if (find_watched(watch, current->servers[i]) == NULL)
            watched_new(watch, current->servers[i]);
    }
}

struct script_watch *
script_watch_new(struct session_pool *pool)
{
    struct script_watch *watch = MEM_NEW(struct script_watch);

    watch->pool = pool;
    LIST_INIT(&watch->watched);
    LIST_INIT(&watch->waits);
    script_watch_follow(watch);
    return watch;
}

void
script_watch_free(struct script_watch **watchp)
{
    struct script_watch *watch = *watchp;

    *watchp = NULL;
    if (watch == NULL)
        return;
    tell_all(watch);
    while (!LIST_EMPTY(&watch->watched))
        watched_free(LIST_FIRST(&watch->watched));
    mem_free(watch);
}

void
script_watch_tick(struct script_watch *watch, uint64_t now_us)
{
    struct watched *watched;

    LIST_FOREACH (watched, &watch->watched, link)
        listening_look(&watched->listening, now_us);
    settle(watch);
}
