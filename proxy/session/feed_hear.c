/*
 * session/feed_hear.c - understanding what a server says by itself.
 */
#include "command/outcome.h"
#include "command/redirect.h"
#include "resp/reply_read.h"
#include "session/feed.h"
#include "session/retry.h"

#define WORDS_MAX 4 /* of a frame */

/* --- answers ----------------------------------------------------------------------- */

static bool
is_about(const struct owed *owed, struct view word, struct view name)
{
    const struct topic *topic = owed->post->topic;

    return view_equal(word,
                      owed->leaves ? feed_words[topic->kind].unsubscribe
                                   : feed_words[topic->kind].subscribe) &&
        view_equal(name, topic_name(topic));
}

static void
take_confirmation(struct feed *feed)
{
    struct post *post = feed_pop_owed(feed);

    if (post->owed > 0)
        return; /* it has been asked for something else since */
    if (post->state == POST_LEAVING) {
        post_free(post);
        return;
    }
    post_set_state(post, POST_ON);
    post_count(post, true);
    topic_on_post(post->topic);
}

/* The slot has moved, and the server gives its channels up. */
static void
take_away(struct feed *feed, struct view name)
{
    struct post *post;

    TAILQ_FOREACH (post, &feed->posts, feed_link) {
        if (post->topic->kind == TOPIC_SHARD &&
            view_equal(topic_name(post->topic), name))
            break;
    }
    if (post == NULL)
        return;
    session_pool_hint(feed->board->pool, MAP_CAUSE_MOVED);
    if (post->state == POST_ON)
        feed_ask_again(post);
}

/* --- errors ------------------------------------------------------------------------ */

/* As MOVED teaches it: everybody, and this topic. */
static void
learn_moved(struct feed *feed, struct view line)
{
    struct session_pool *pool = feed->board->pool;
    const struct roster *roster = pool->pool->current->roster;
    struct redirect redirect;

    session_pool_hint(pool, MAP_CAUSE_MOVED);
    cell_inc(&pool->stats->redirects_moved);
    if (!redirect_parse(&redirect, line))
        return;
    struct view host = redirect.host;
    if (host.len == 0)
        host = view_str(feed->listening.server->at->host);
    uint32_t target = roster_find_address(roster, host, redirect.port);
    if (target < roster->count)
        overlay_correct(&pool->pool->overlay, redirect.slot, target,
                        loop_clock_us(pool->env->loop));
}

/* Of a redirect the slot says whom it concerns: what a server gives up by itself
 * may stand in the place of an answer. */
static bool
is_error_of(const struct owed *owed, struct view line)
{
    const struct topic *topic = owed->post->topic;
    struct redirect redirect;

    return !redirect_parse(&redirect, line) ||
        (topic->kind == TOPIC_SHARD && topic->slot == redirect.slot);
}

static bool
is_denial(struct view line)
{
    return view_begins(line, VIEW("-NOPERM "));
}

/* It is not at this server, and may be elsewhere soon. */
static void
take_error_of(struct feed *feed, struct post *post, struct view line)
{
    enum outcome outcome = outcome_of(line);
    bool is_followed = pool_is_followed(feed->board->pool->settings);
    bool passes = is_followed && retry_action(outcome) != RETRY_PASS_ON;

    if (outcome == OUTCOME_MOVED && is_followed)
        learn_moved(feed, line);
    if (post->owed > 0)
        return;
    if (post->state == POST_LEAVING) {
        post_free(post);
        return;
    }
    struct topic *topic = post->topic;
    if (feed->board->user != LOGIN_POOL && is_denial(line))
        feed_deny(post);
    feed_ask_again(post);
    if (!passes)
        topic_fail(topic, feed->listening.server->shard,
                   view_of(line.data + 1, line.len - 1));
}

static void
take_error(struct feed *feed, struct view line)
{
    struct owed *owed = TAILQ_FIRST(&feed->owed);

    line = view_trim_line(line);
    if (owed == NULL || !is_error_of(owed, line))
        return;
    struct post *post = feed_pop_owed(feed);
    take_error_of(feed, post, line);
}

/* --- frames ------------------------------------------------------------------------- */

/* The words of an array of a few; the number of them, or 0. */
static uint32_t
read_words(struct view frame, struct view *words)
{
    struct reply_item item;
    uint32_t count = 0;

    if (!reply_next(&frame, &item) || item.count < 2 ||
        item.count > WORDS_MAX ||
        (item.type != RESP_ARRAY && item.type != RESP_PUSH))
        return 0;
    uint64_t wanted = item.count;
    while (count < wanted && reply_next(&frame, &item))
        words[count++] = item.text;
    return count;
}

static bool
ends_with(struct view text, const char *end)
{
    size_t len = strlen(end);

    return text.len >= len && memcmp(text.data + text.len - len, end, len) == 0;
}

static void
take_words(struct feed *feed, const struct view *words, uint32_t count,
           struct extent frame)
{
    struct owed *owed = TAILQ_FIRST(&feed->owed);
    struct lane *lane = feed->listening.lease.lane;

    if (count >= 3 && ends_with(words[0], "message")) {
        board_deliver(feed->board, feed, words, frame);
    } else if (view_equal(words[0], VIEW("pong"))) {
        return;
    } else if (owed != NULL && is_about(owed, words[0], words[1])) {
        take_confirmation(feed);
    } else if (view_equal(words[0], VIEW("sunsubscribe"))) {
        take_away(feed, words[1]);
    } else {
        lane_close(&lane, CLOSE_SERVER_BAD_REPLY);
    }
}

static void
take_frame(struct feed *feed, struct extent frame)
{
    struct view bytes = view_of(frame.chunk->data + frame.off, frame.len);
    struct view words[WORDS_MAX];
    struct lane *lane = feed->listening.lease.lane;

    if (bytes.data[0] == RESP_ERROR) {
        take_error(feed, bytes);
        return;
    }
    if (bytes.data[0] == RESP_SIMPLE)
        return; /* PONG, while nothing is subscribed to */
    uint32_t count = read_words(bytes, words);
    if (count < 2)
        lane_close(&lane, CLOSE_SERVER_BAD_REPLY);
    else
        take_words(feed, words, count, frame);
}

/* --- long frames -------------------------------------------------------------------- */

static size_t
longest(const struct feed *feed)
{
    uint64_t limit = feed->board->pool->settings->pubsub_output_limit_bytes;

    return limit == 0 ? RESP_MAX_BULK : (size_t)limit;
}

/* Its first words say whom it concerns. */
static void
take_too_long(struct feed *feed, struct extent frame)
{
    struct view words[WORDS_MAX];

    if (read_words(view_of(frame.chunk->data + frame.off, frame.len), words) >=
        2)
        board_deliver_too_long(feed->board, words);
}

void
feed_on_frame(struct lane_lease *lease, const struct reply_piece *piece)
{
    struct feed *feed = CONTAINER_OF(lease, struct feed, listening.lease);
    struct extent frame;

    switch (listening_hear(&feed->listening, piece, longest(feed), &frame)) {
    case HEARD_PART:
        return;
    case HEARD_WHOLE:
        take_frame(feed, frame);
        break;
    case HEARD_TOO_LONG:
        take_too_long(feed, frame);
        break;
    }
    chunk_unref(&frame.chunk);
}
