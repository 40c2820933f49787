/*
 * session/feed.c - being connected, and saying what is wanted.
 */
#include "session/feed.h"

#include "base/log_limit.h"
#include "base/mem.h"
#include "resp/encode.h"
#include "session/departure.h"
#include "session/session.h"

#define ASK_AGAIN_MS 100 /* pause after a server has given a topic up */
#define US_PER_MS 1000

const struct feed_words feed_words[TOPIC_KINDS] = {
    [TOPIC_CHANNEL] = {{"subscribe", 9}, {"unsubscribe", 11}},
    [TOPIC_PATTERN] = {{"psubscribe", 10}, {"punsubscribe", 12}},
    [TOPIC_SHARD] = {{"ssubscribe", 10}, {"sunsubscribe", 12}},
};

static uint64_t
now_of(const struct feed *feed)
{
    return loop_now_us(feed->board->pool->env->loop);
}

/* --- saying ------------------------------------------------------------------- */

static void
say(struct feed *feed, struct post *post, bool leaves)
{
    enum topic_kind kind = post->topic->kind;
    struct owed *owed = MEM_NEW(struct owed);
    struct buf words = {0};

    encode_array(&words, 2);
    encode_bulk(&words,
                leaves ? feed_words[kind].unsubscribe
                       : feed_words[kind].subscribe);
    encode_bulk(&words, topic_name(post->topic));
    lane_say(feed->listening.lease.lane, buf_view(&words));
    buf_fini(&words);
    owed->post = post;
    owed->leaves = leaves;
    if (leaves)
        owed->departure = departure_join(feed->board);
    TAILQ_INSERT_TAIL(&feed->owed, owed, link);
    post->owed++;
    post_set_state(post, leaves ? POST_LEAVING : POST_ASKED);
}

static void
say_all(struct feed *feed)
{
    struct post *post;

    TAILQ_FOREACH (post, &feed->posts, feed_link) {
        if (post->state == POST_WANTED)
            say(feed, post, false);
    }
}

/* --- connecting ------------------------------------------------------------------ */

static void
start_timer(struct feed *feed, int64_t ms)
{
    if (!timer_is_active(&feed->timer))
        timer_start(&feed->timer, ms);
}

static void
note_refused(struct feed *feed)
{
    feed->was_refused = true;
    timer_start(&feed->timer, 0);
}

static void
feed_connect(struct feed *feed)
{
    if (!TAILQ_EMPTY(&feed->posts) && !listening_connect(&feed->listening))
        note_refused(feed);
}

static void
on_lane(struct lane_lease *lease)
{
    if (lease->lane == NULL)
        note_refused(CONTAINER_OF(lease, struct feed, listening.lease));
}

static void
on_ready(struct lane_lease *lease)
{
    struct feed *feed = CONTAINER_OF(lease, struct feed, listening.lease);

    listening_on_ready(&feed->listening);
    feed->failures = 0;
    feed->was_ready = true;
    say_all(feed);
}

struct post *
feed_pop_owed(struct feed *feed)
{
    struct owed *owed = TAILQ_FIRST(&feed->owed);
    struct post *post = owed->post;

    TAILQ_REMOVE(&feed->owed, owed, link);
    departure_on_answer(owed->departure);
    mem_free(owed);
    post->owed--;
    return post;
}

static void
forget_owed(struct feed *feed)
{
    while (!TAILQ_EMPTY(&feed->owed))
        (void)feed_pop_owed(feed);
}

/* What the server knew of us it has forgotten. */
static void
forget_lane(struct feed *feed)
{
    struct post *post = TAILQ_FIRST(&feed->posts);

    forget_owed(feed);
    while (post != NULL) {
        struct post *next = TAILQ_NEXT(post, feed_link);
        post_count(post, false);
        if (post->state == POST_LEAVING)
            post_free(post);
        else
            post_set_state(post, POST_WANTED);
        post = next;
    }
}

/* Whoever is told may do anything, so not from in here. */
static void
on_gone(struct lane_lease *lease)
{
    struct feed *feed = CONTAINER_OF(lease, struct feed, listening.lease);

    listening_on_gone(&feed->listening);
    feed->was_lost = feed->was_lost || feed->was_ready;
    feed->was_refused = feed->was_refused || !feed->was_ready;
    feed->was_ready = false;
    feed->is_denied = lease->was_refused && feed->board->user != LOGIN_POOL;
    lease->was_refused = false;
    forget_lane(feed);
    if (!feed->listening.is_closing)
        start_timer(feed, 0);
}

/* --- losses ------------------------------------------------------------------------ */

static struct post *
find_awaited(const struct feed *feed)
{
    struct post *post;

    TAILQ_FOREACH (post, &feed->posts, feed_link) {
        if (topic_is_awaited(post->topic))
            break;
    }
    return post;
}

static struct post *
find_heard(const struct feed *feed)
{
    struct post *post;

    TAILQ_FOREACH (post, &feed->posts, feed_link) {
        if (topic_is_heard(post->topic))
            break;
    }
    return post;
}

/* Those who wait for it are told; where the pool is followed another server may
 * take its place in time. */
static void
take_refusal(struct feed *feed)
{
    struct session_pool *pool = feed->board->pool;
    struct post *post;

    feed->was_refused = false;
    feed->failures++;
    if (pool_is_followed(pool->settings)) {
        session_pool_hint(pool, MAP_CAUSE_LOST);
        return;
    }
    while ((post = find_awaited(feed)) != NULL)
        topic_fail(post->topic, feed->listening.server->shard, VIEW(""));
}

static void
take_loss(struct feed *feed)
{
    struct session_pool *pool = feed->board->pool;
    const char *name = pool->settings->name;
    struct post *post;

    feed->was_lost = false;
    session_pool_hint(pool, MAP_CAUSE_LOST);
    if (TAILQ_EMPTY(&feed->posts))
        return;
    cell_inc(&pool->stats->subscription_losses);
    log_info_limited(name, feed->listening.server->name,
                     "connection for subscriptions was lost",
                     "pool=%s server=%s", name, feed->listening.server->name);
    if (pool->settings->resubscribe)
        return;
    while ((post = find_heard(feed)) != NULL)
        topic_close_one(post->topic);
}

/* The server does not know the user any more, or does not let it have all that it
 * listens to: as it does with its own clients, these are closed. */
static void
take_denial(struct feed *feed)
{
    const struct server *server = feed->listening.server;
    struct view text = server->refusal == NULL ? VIEW("")
                                               : view_str(server->refusal);
    struct post *post;

    feed->is_denied = false;
    while ((post = find_awaited(feed)) != NULL)
        topic_fail(post->topic, server->shard, text);
    while ((post = find_heard(feed)) != NULL)
        topic_close_one(post->topic);
}

static struct post *
find_denied(const struct feed *feed)
{
    struct post *post;

    TAILQ_FOREACH (post, &feed->posts, feed_link) {
        if (post->is_denied && topic_is_heard(post->topic))
            break;
    }
    return post;
}

static void
close_denied(struct feed *feed)
{
    struct post *post;

    while ((post = find_denied(feed)) != NULL)
        topic_close_one(post->topic);
}

void
feed_deny(struct post *post)
{
    post->is_denied = true;
    start_timer(post->feed, 0);
}

static void
on_timer(struct timer *timer, void *arg)
{
    struct feed *feed = arg;

    (void)timer;
    if (unlikely(feed->is_denied))
        take_denial(feed);
    close_denied(feed);
    if (feed->was_lost)
        take_loss(feed);
    if (!listening_is_ready(&feed->listening))
        board_on_lost(feed);
    if (feed->was_refused) {
        int64_t pause_ms = listening_pause_ms(feed->failures);
        take_refusal(feed);
        if (!TAILQ_EMPTY(&feed->posts))
            timer_start(&feed->timer, pause_ms);
        return;
    }
    if (listening_is_ready(&feed->listening))
        say_all(feed);
    else
        feed_connect(feed);
}

/* --- posts --------------------------------------------------------------------------- */

static struct post *
find_post(const struct feed *feed, const struct topic *topic)
{
    struct post *post;

    LIST_FOREACH (post, &topic->posts, topic_link) {
        if (post->feed == feed)
            break;
    }
    return post;
}

void
feed_take(struct feed *feed, struct topic *topic)
{
    struct post *post = find_post(feed, topic);

    if (post == NULL) {
        post = MEM_NEW(struct post);
        post->topic = topic;
        post->feed = feed;
        LIST_INSERT_HEAD(&topic->posts, post, topic_link);
        TAILQ_INSERT_TAIL(&feed->posts, post, feed_link);
    } else if (post->state != POST_LEAVING) {
        if (post->state == POST_WANTED)
            feed_connect(feed);
        return;
    }
    post_set_state(post, POST_WANTED);
    if (listening_is_ready(&feed->listening))
        say(feed, post, false);
    else
        feed_connect(feed);
}

void
feed_leave(struct post *post)
{
    struct feed *feed = post->feed;

    feed->used_us = now_of(feed);
    if (listening_is_ready(&feed->listening) && post->state != POST_WANTED)
        say(feed, post, true);
    else
        post_free(post);
}

void
feed_ask_again(struct post *post)
{
    struct feed *feed = post->feed;

    post_set_state(post, POST_WANTED);
    post_count(post, false);
    topic_place(post->topic); /* which may be elsewhere now */
    start_timer(feed, ASK_AGAIN_MS);
}

/* --- life ---------------------------------------------------------------------------- */

static struct feed *
feed_new(struct board *board, struct server *server)
{
    struct feed *feed = MEM_NEW(struct feed);

    feed->board = board;
    listening_init(&feed->listening, server, 2, board->user);
    feed->listening.lease.on_lane = on_lane;
    feed->listening.lease.on_gone = on_gone;
    feed->listening.lease.on_ready = on_ready;
    feed->listening.lease.on_frame = feed_on_frame;
    TAILQ_INIT(&feed->posts);
    TAILQ_INIT(&feed->owed);
    timer_init(&feed->timer, board->pool->env->loop, on_timer, feed);
    LIST_INSERT_HEAD(&board->feeds, feed, link);
    return feed;
}

struct feed *
feed_get(struct board *board, struct server *server)
{
    struct feed *feed;

    LIST_FOREACH (feed, &board->feeds, link) {
        if (feed->listening.server == server)
            break;
    }
    return feed != NULL ? feed : feed_new(board, server);
}

void
feed_free(struct feed **feedp, enum close_reason why)
{
    struct feed *feed = *feedp;
    struct post *post;

    *feedp = NULL;
    listening_end(&feed->listening, why);
    forget_owed(feed);
    while ((post = TAILQ_FIRST(&feed->posts)) != NULL)
        post_free(post);
    timer_stop(&feed->timer);
    LIST_REMOVE(feed, link);
    mem_free(feed);
}

bool
feed_tick(struct feed *feed, uint64_t now_us)
{
    const struct pool_settings *settings = feed->board->pool->settings;
    uint64_t idle_us = (uint64_t)settings->server_idle_timeout_ms * US_PER_MS;

    listening_look(&feed->listening, now_us);
    if (!TAILQ_EMPTY(&feed->posts))
        return true;
    if (feed->board->user != LOGIN_POOL)
        return false; /* it would keep the login */
    if (feed->listening.lease.lane == NULL)
        return feed->listening.lease.is_waiting;
    return idle_us == 0 || now_us < feed->used_us + idle_us;
}
