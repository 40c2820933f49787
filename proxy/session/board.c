/*
 * session/board.c - topics, and who hears of them.
 */
#include "session/board_priv.h"

#include "base/mem.h"
#include "session/departure.h"
#include "session/feed.h"
#include "session/subscriber.h"

/* --- posts ---------------------------------------------------------------------- */

void
post_set_state(struct post *post, enum post_state state)
{
    bool was_leaving = post->state == POST_LEAVING;
    bool is_leaving = state == POST_LEAVING;

    post->state = state;
    if (was_leaving != is_leaving)
        audience_add_leaving(post->topic->board->audience,
                             is_leaving ? 1 : -1);
}

void
post_count(struct post *post, bool is_counted)
{
    const struct topic *topic = post->topic;

    if (post->is_counted == is_counted)
        return;
    post->is_counted = is_counted;
    audience_add_lane(topic->board->audience, topic->kind, topic_name(topic),
                      view_str(post->feed->listening.server->name), is_counted ? 1 : -1);
}

void
post_free(struct post *post)
{
    struct topic *topic = post->topic;

    ASSERT(post->owed == 0);
    post_count(post, false);
    post_set_state(post, POST_WANTED);
    if (topic->teller == post)
        topic->teller = NULL;
    LIST_REMOVE(post, topic_link);
    TAILQ_REMOVE(&post->feed->posts, post, feed_link);
    mem_free(post);
    topic_release(topic);
}

/* --- topics ----------------------------------------------------------------------- */

struct topic *
board_topic(struct board *board, enum topic_kind kind, struct view name)
{
    struct dict_entry *entry = dict_find(&board->topics[kind], name);

    if (entry != NULL)
        return CONTAINER_OF(entry, struct topic, entry);
    struct topic *topic = mem_zalloc(sizeof(*topic) + name.len);
    topic->board = board;
    topic->kind = kind;
    topic->slot = route_cluster_slot(name);
    if (name.len > 0)
        memcpy(topic->name, name.data, name.len);
    topic->entry.key = view_of(topic->name, name.len);
    dict_add(&board->topics[kind], &topic->entry);
    return topic;
}

void
topic_release(struct topic *topic)
{
    if (topic->is_releasing || !LIST_EMPTY(&topic->hearings))
        return;
    topic->is_releasing = true;
    topic_leave_others(topic, NULL);
    topic->is_releasing = false;
    if (!LIST_EMPTY(&topic->posts))
        return;
    dict_remove(&topic->board->topics[topic->kind], &topic->entry);
    mem_free(topic);
}

bool
topic_is_settled(const struct topic *topic)
{
    const struct post *post;
    bool is_on = false;

    LIST_FOREACH (post, &topic->posts, topic_link) {
        if (post->state == POST_WANTED || post->state == POST_ASKED)
            return false;
        is_on = is_on || post->state == POST_ON;
    }
    return is_on;
}

struct server *
topic_missing_server(const struct topic *topic)
{
    const struct post *post;

    LIST_FOREACH (post, &topic->posts, topic_link) {
        if (post->state != POST_ON)
            return post->feed->listening.server;
    }
    return NULL;
}

static struct hearing *
find_waiting(const struct topic *topic)
{
    struct hearing *hearing;

    LIST_FOREACH (hearing, &topic->hearings, link) {
        if (!hearing->is_settled)
            break;
    }
    return hearing;
}

bool
topic_is_awaited(const struct topic *topic)
{
    return find_waiting(topic) != NULL;
}

static struct hearing *
find_told(const struct topic *topic)
{
    struct hearing *hearing;

    LIST_FOREACH (hearing, &topic->hearings, link) {
        if (hearing->is_told)
            break;
    }
    return hearing;
}

bool
topic_is_heard(const struct topic *topic)
{
    return find_told(topic) != NULL;
}

void
topic_close_one(struct topic *topic)
{
    subscriber_close(find_told(topic)->subscriber, CLOSE_CLIENT_UNSUBSCRIBED);
}

void
topic_on_post(struct topic *topic)
{
    struct hearing *hearing;

    if (!topic_is_settled(topic))
        return;
    /* Whoever is answered may do anything, so the search begins anew. */
    while ((hearing = find_waiting(topic)) != NULL)
        subscriber_on_settled(hearing);
}

/* With the last client the topic may go. */
void
topic_fail(struct topic *topic, uint32_t shard, struct view text)
{
    struct hearing *hearing = find_waiting(topic);

    while (hearing != NULL) {
        bool is_last = LIST_FIRST(&topic->hearings) == hearing &&
            LIST_NEXT(hearing, link) == NULL;
        subscriber_on_refused(hearing, shard, text);
        hearing = is_last ? NULL : find_waiting(topic);
    }
}

/* --- messages --------------------------------------------------------------------- */

struct post *
topic_teller(struct topic *topic)
{
    struct post *post;

    if (topic->teller != NULL && topic->teller->state == POST_ON)
        return topic->teller;
    topic->teller = NULL;
    LIST_FOREACH (post, &topic->posts, topic_link) {
        if (post->state == POST_ON)
            topic->teller = post;
    }
    return topic->teller;
}

/* The topic that a frame is about, or NULL. */
static struct topic *
find_topic(const struct board *board, const struct view *words,
           struct view *channel)
{
    enum topic_kind kind;

    if (view_equal(words[0], VIEW("message")))
        kind = TOPIC_CHANNEL;
    else if (view_equal(words[0], VIEW("pmessage")))
        kind = TOPIC_PATTERN;
    else if (view_equal(words[0], VIEW("smessage")))
        kind = TOPIC_SHARD;
    else
        return NULL;
    struct dict_entry *entry = dict_find(&board->topics[kind], words[1]);
    *channel = kind == TOPIC_PATTERN ? words[2] : words[1];
    return entry == NULL ? NULL : CONTAINER_OF(entry, struct topic, entry);
}

void
board_close_those_over(struct board *board)
{
    struct subscriber *subscriber;

    while ((subscriber = TAILQ_FIRST(&board->over)) != NULL)
        subscriber_close(subscriber, CLOSE_CLIENT_PUBSUB_LIMIT);
}

/* A replica tells of the keys of its primary, too. */
static bool
is_of_a_replica(const struct feed *feed)
{
    return feed->listening.server->shard >= feed->board->pool->pool->current->shard_count;
}

/* Of what all nodes of a cluster tell, one is believed; and the old node of a
 * shard channel only until the new one tells. */
static bool
is_heard_twice(struct topic *topic, const struct feed *feed,
               struct view channel)
{
    if (!pool_is_cluster(topic->board->pool->settings))
        return false;
    if (topic->kind != TOPIC_SHARD && channel_is_key_event(channel))
        return is_of_a_replica(feed);
    const struct post *teller = topic_teller(topic);
    return teller != NULL && teller->feed != feed;
}

void
board_deliver(struct board *board, const struct feed *feed,
              const struct view *words, struct extent frame)
{
    struct view channel;
    struct topic *topic = find_topic(board, words, &channel);
    struct hearing *hearing;

    if (topic == NULL || !topic_is_heard(topic) ||
        is_heard_twice(topic, feed, channel))
        return;
    LIST_FOREACH (hearing, &topic->hearings, link) {
        if (hearing->is_told)
            subscriber_deliver(hearing->subscriber, &frame);
    }
    board_close_those_over(board);
}

void
board_deliver_too_long(struct board *board, const struct view *words)
{
    struct view channel;
    const struct topic *topic = find_topic(board, words, &channel);
    struct hearing *hearing;

    if (topic == NULL)
        return;
    LIST_FOREACH (hearing, &topic->hearings, link) {
        if (hearing->is_told)
            subscriber_mark_over(hearing->subscriber);
    }
    board_close_those_over(board);
}

/* --- the life of a board ------------------------------------------------------------ */

static void
tick(struct board *board, uint64_t now_us)
{
    struct feed *feed = LIST_FIRST(&board->feeds);

    board_close_those_over(board);
    while (feed != NULL) {
        struct feed *next = LIST_NEXT(feed, link);
        if (!feed_tick(feed, now_us))
            feed_free(&feed, CLOSE_SERVER_IDLE);
        feed = next;
    }
}

static struct board *
board_new(struct session_pool *pool, uint16_t user)
{
    struct board *board = MEM_NEW(struct board);

    board->pool = pool;
    board->user = user;
    login_ref(pool->pool, user);
    board->audience = pool->audience;
    LIST_INIT(&board->feeds);
    LIST_INIT(&board->departures);
    TAILQ_INIT(&board->over);
    board->next = pool->boards;
    pool->boards = board;
    return board;
}

struct board *
board_get(struct session_pool *pool, uint16_t user)
{
    struct board *board = pool->boards;

    while (board != NULL && board->user != user)
        board = board->next;
    return board != NULL ? board : board_new(pool, user);
}

/* It is in no list any more. */
static void
board_free(struct board *board)
{
    struct departure *departure;
    struct feed *feed;

    while ((feed = LIST_FIRST(&board->feeds)) != NULL)
        feed_free(&feed, CLOSE_POOL_REMOVED);
    while ((departure = LIST_FIRST(&board->departures)) != NULL)
        departure_free(&departure);
    for (int kind = 0; kind < TOPIC_KINDS; kind++)
        ASSERT(board->topics[kind].count == 0);
    login_leave(board->pool->pool, board->user);
    mem_free(board);
}

/* The pool's own stays; another's login ends with its last client. */
static bool
is_over(const struct board *board)
{
    return board->user != LOGIN_POOL && board->subscribers == 0 &&
        LIST_EMPTY(&board->feeds) && LIST_EMPTY(&board->departures);
}

/* --- all of a pool ------------------------------------------------------------------ */

void
boards_tick(struct session_pool *pool, uint64_t now_us)
{
    struct board **at = &pool->boards;

    while (*at != NULL) {
        struct board *board = *at;
        tick(board, now_us);
        if (is_over(board)) {
            *at = board->next;
            board_free(board);
        } else {
            at = &board->next;
        }
    }
}

void
boards_follow(struct session_pool *pool)
{
    struct board *board;

    for (board = pool->boards; board != NULL; board = board->next)
        board_follow(board);
}

void
boards_close_those_over(struct session_pool *pool)
{
    struct board *board;

    for (board = pool->boards; board != NULL; board = board->next)
        board_close_those_over(board);
}

void
boards_free(struct session_pool *pool)
{
    struct board *board;

    while ((board = pool->boards) != NULL) {
        pool->boards = board->next;
        board_free(board);
    }
}
