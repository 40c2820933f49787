/*
 * session/board_place.c - where topics belong, and how they get there.
 *
 * In a cluster a topic stays where it is, else it goes where its first client
 * hears something already, else where its name is.
 */
#include "session/board_priv.h"

#include "session/feed.h"
#include "session/subscriber.h"

#define OTHERS_MAX 8 /* of a client are looked at */

static const struct view keyspace = {"__keyspace@", 11};
static const struct view keyevent = {"__keyevent@", 11};

/* --- events of keys ----------------------------------------------------------- */

bool
channel_is_key_event(struct view channel)
{
    return view_begins(channel, keyspace) || view_begins(channel, keyevent);
}

/* May one begin where the other does? */
static bool
may_begin(struct view one, struct view other)
{
    size_t len = MIN(one.len, other.len);

    return memcmp(one.data, other.data, len) == 0;
}

/* Of a pattern only what stands before its first special byte is looked at. */
static bool
may_mean_key_events(struct view pattern)
{
    size_t len = 0;

    while (len < pattern.len && strchr("*?[\\", pattern.data[len]) == NULL)
        len++;
    struct view start = view_of(pattern.data, len);
    return may_begin(start, keyspace) || may_begin(start, keyevent);
}

/* --- where a topic belongs ------------------------------------------------------ */

/* A name that is no key, or that dice would place, has one place all the same. */
static uint32_t
place_listed(const struct generation *generation, struct view name)
{
    const struct pool_settings *settings = generation->settings;
    uint64_t dice = 0;
    uint32_t shard = ROUTE_NONE;

    if (settings->distribution != DISTRIBUTION_RANDOM)
        shard = route_find(generation->route, name, &dice);
    if (shard == ROUTE_NONE)
        shard = route_cluster_slot(name) % generation->shard_count;
    return shard;
}

struct place
board_place(const struct generation *generation, enum topic_kind kind,
            struct view channel)
{
    (void)kind;
    if (!pool_is_cluster(generation->settings)) {
        uint32_t shard = place_listed(generation, channel);
        return (struct place){.slot = shard, .shard = shard};
    }
    uint32_t slot = route_cluster_slot(channel);
    return (struct place){
        .slot = slot,
        .shard = generation_slot_server(generation, slot),
    };
}

static bool
is_everywhere(const struct topic *topic)
{
    bool is_cluster = pool_is_cluster(topic->board->pool->settings);

    switch (topic->kind) {
    case TOPIC_CHANNEL:
        return channel_is_key_event(topic_name(topic));
    case TOPIC_PATTERN:
        return !is_cluster || may_mean_key_events(topic_name(topic));
    case TOPIC_SHARD:
    case TOPIC_KINDS:
        break;
    }
    return false;
}

static struct generation *
current_of(const struct board *board)
{
    return board->pool->pool->current;
}

/* Is it one of the pool's servers, as they are now; and a shard? */
static bool
is_member(const struct board *board, const struct server *server)
{
    const struct generation *current = current_of(board);
    uint32_t i = 0;

    while (i < current->server_count && current->servers[i] != server)
        i++;
    return i < current->server_count;
}

static bool
is_shard(const struct board *board, const struct server *server)
{
    return is_member(board, server) &&
        server->shard < current_of(board)->shard_count;
}

static bool
is_wanted(const struct post *post)
{
    return post->state != POST_LEAVING;
}

/* In a cluster any node will do, and the one that it is at is best: nothing is
 * lost or told twice.  One that has become a replica must have been told. */
static bool
may_stay(const struct topic *topic, const struct post *post)
{
    const struct board *board = topic->board;
    const struct server *server = post->feed->listening.server;

    if (topic->kind == TOPIC_SHARD || !is_wanted(post) ||
        !pool_is_cluster(board->pool->settings))
        return false;
    return is_shard(board, server) ||
        (is_member(board, server) && post->state != POST_WANTED);
}

/* Where it is told from: of several nodes the one that is believed. */
static struct server *
told_from(struct topic *topic)
{
    const struct post *teller = topic_teller(topic), *post;
    struct server *oldest = NULL;

    if (teller != NULL && may_stay(topic, teller))
        return teller->feed->listening.server;
    LIST_FOREACH (post, &topic->posts, topic_link) {
        if (may_stay(topic, post))
            oldest = post->feed->listening.server;
    }
    return oldest;
}

/* One that is but events of keys tells nothing of where others are. */
static bool
may_have_company(const struct topic *topic)
{
    struct view name = topic_name(topic);

    return topic->kind == TOPIC_CHANNEL
        ? !channel_is_key_event(name)
        : topic->kind == TOPIC_PATTERN && !view_begins(name, VIEW("__key"));
}

/* Where its client hears other topics, of which a few are looked at, or NULL. */
static struct server *
beside_of(const struct topic *topic, enum topic_kind kind)
{
    const struct hearing *first = LIST_FIRST(&topic->hearings);
    const struct dict *heard = &first->subscriber->heard[kind];
    struct dict_entry *entry = dict_next(heard, NULL);
    struct server *server = NULL;

    for (int i = 0; i < OTHERS_MAX && entry != NULL && server == NULL; i++) {
        struct topic *other =
            CONTAINER_OF(entry, struct hearing, entry)->topic;
        if (other != topic && may_have_company(other))
            server = told_from(other);
        entry = dict_next(heard, entry);
    }
    return server;
}

/* A client of a cluster hears everything from the node that it is connected to,
 * a channel before a pattern and in one order. */
static struct server *
company_of(const struct topic *topic)
{
    if (!pool_is_cluster(topic->board->pool->settings) ||
        !may_have_company(topic))
        return NULL;
    struct server *server = beside_of(topic, TOPIC_CHANNEL);
    return server != NULL ? server : beside_of(topic, TOPIC_PATTERN);
}

static struct server *
home_of(struct topic *topic)
{
    const struct generation *current = current_of(topic->board);
    struct server *server = told_from(topic);

    if (server == NULL)
        server = company_of(topic);
    if (server != NULL)
        return server;
    struct place place = board_place(current, topic->kind, topic_name(topic));
    return place.shard < current->shard_count
        ? generation_server(current, place.shard)
        : NULL;
}

void
topic_leave_others(struct topic *topic, const struct server *home)
{
    struct post *post = LIST_FIRST(&topic->posts);

    while (post != NULL) {
        struct post *next = LIST_NEXT(post, topic_link);
        if (post->feed->listening.server != home && is_wanted(post))
            feed_leave(post);
        post = next;
    }
}

/* At a node that is no shard any more only what all nodes tell is of use. */
static bool
is_teller(struct topic *topic, const struct post *post)
{
    return topic->kind == TOPIC_PATTERN && may_stay(topic, post) &&
        topic_teller(topic) == post;
}

static void
place_everywhere(struct topic *topic)
{
    struct board *board = topic->board;
    const struct generation *current = current_of(board);
    struct server *first = home_of(topic);
    struct post *post;

    /* The oldest becomes the teller. */
    if (first != NULL && is_shard(board, first))
        feed_take(feed_get(board, first), topic);
    for (uint32_t i = 0; i < current->shard_count; i++)
        feed_take(feed_get(board, current->servers[i]), topic);
    post = LIST_FIRST(&topic->posts);
    while (post != NULL) {
        struct post *next = LIST_NEXT(post, topic_link);
        if (!is_shard(board, post->feed->listening.server) && is_wanted(post) &&
            !is_teller(topic, post))
            feed_leave(post);
        post = next;
    }
}

void
topic_place(struct topic *topic)
{
    struct board *board = topic->board;
    const struct generation *current = current_of(board);

    if (current->shard_count == 0) {
        session_pool_hint(board->pool, MAP_CAUSE_UNSERVED);
        return;
    }
    if (is_everywhere(topic)) {
        place_everywhere(topic);
        return;
    }
    struct server *home = home_of(topic);
    if (home == NULL) {
        session_pool_hint(board->pool, MAP_CAUSE_UNSERVED);
        return;
    }
    feed_take(feed_get(board, home), topic);
    topic_leave_others(topic, home);
}

/* --- another place ---------------------------------------------------------------- */

static void
place_all(struct board *board, enum topic_kind kind)
{
    struct dict_entry *entry = dict_next(&board->topics[kind], NULL);

    while (entry != NULL) {
        struct topic *topic = CONTAINER_OF(entry, struct topic, entry);
        entry = dict_next(&board->topics[kind], entry);
        if (!LIST_EMPTY(&topic->hearings))
            topic_place(topic);
    }
}

static void
drop_feeds(struct board *board)
{
    struct feed *feed = LIST_FIRST(&board->feeds);

    while (feed != NULL) {
        struct feed *next = LIST_NEXT(feed, link);
        if (!is_member(board, feed->listening.server))
            feed_free(&feed, CLOSE_SERVER_MOVED);
        feed = next;
    }
}

void
board_follow(struct board *board)
{
    for (int kind = 0; kind < TOPIC_KINDS; kind++)
        place_all(board, (enum topic_kind)kind);
    drop_feeds(board);
}

void
board_on_lost(struct feed *feed)
{
    struct post *post = TAILQ_FIRST(&feed->posts);

    if (is_shard(feed->board, feed->listening.server))
        return;
    while (post != NULL) {
        struct post *next = TAILQ_NEXT(post, feed_link);
        topic_place(post->topic);
        post = next;
    }
}
