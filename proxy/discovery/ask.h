/*
 * discovery/ask.h - a few questions to one server, and all its answers.
 *
 *   idle --start--> connecting, writing, gathering --> on_done --> idle
 *
 * A connection of its own for each asking, unless `keeps`; all questions are sent
 * at once, and on_done comes once, with every answer or with the reason why not.
 * Bounded by a deadline and by ASK_ANSWERS_MAX bytes.
 *
 * Embedded in whoever asks.  One thread.
 */
#ifndef DISCOVERY_ASK_H
#define DISCOVERY_ASK_H

#include "base/buf.h"
#include "net/stream.h"
#include "resp/reply_scan.h"

#define ASK_MAX 64
#define ASK_ANSWERS_MAX (16u << 20)

struct ask;
struct pool_settings;

/* `why` is NULL when all answers are there, ask->answers. */
typedef void (*ask_fn)(struct ask *ask, const char *why);

struct ask {
    struct stream stream;
    struct timer deadline;
    struct timer soon; /* the connection could not even be begun */
    struct buf in;
    struct reply_scan scan;
    size_t scanned; /* bytes of `in` */
    unsigned wanted;
    unsigned count;
    struct view answers[ASK_MAX]; /* into `in`, when all are there */
    size_t starts[ASK_MAX];
    bool is_active;
    bool keeps;         /* set by the maker: the connection, for the next time */
    uint64_t pushed_us; /* when the questions were given to a kept connection */
    uint64_t took_us;   /* until its first answer came; 0: a new connection */
    ask_fn on_done;
};

void ask_init(struct ask *ask, struct loop *loop, ask_fn on_done);

/* Connect and send `questions`, which have so many answers; on_done comes from
 * the loop, not from inside.  It must be idle. */
void ask_start(struct ask *ask, const struct address *to,
               struct view questions, unsigned count, int64_t timeout_ms);

/* on_done does not come any more. */
void ask_cancel(struct ask *ask);

#endif
