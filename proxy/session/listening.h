/*
 * session/listening.h - a connection to a server that speaks by itself.
 *
 * What a feed and an ear have in common: a listening lane (upstream/lane.h), and
 * what comes over it put together to whole frames.  A lane over which nothing came
 * for probe_interval is sent a PING, and closed when probe_timeout passes without
 * an answer.
 *
 * Embedded in its owner, who gives the lease its functions and decides when it is
 * made anew.  One thread.
 */
#ifndef SESSION_LISTENING_H
#define SESSION_LISTENING_H

#include "base/buf.h"
#include "upstream/server.h"

struct listening {
    struct server *server;
    struct lane_lease lease;
    bool is_closing;
    bool is_pinged;
    bool is_too_long; /* what is gathered: the rest is read over */
    uint64_t heard_us;
    uint64_t pinged_us;
    struct buf gathered; /* of a frame that comes in pieces */
};

enum heard {
    HEARD_PART,    /* more of it will come */
    HEARD_WHOLE,
    HEARD_TOO_LONG /* it has ended, and only its first piece was kept */
};

/* It will speak RESP 2 or 3, as this user. */
void listening_init(struct listening *listening, struct server *server,
                    uint8_t resp, uint16_t user);
/* The lane is closed, and no other is waited for. */
void listening_end(struct listening *listening, enum close_reason why);

/* Have a lane, or wait for one.  False: the server cannot be reached. */
bool listening_connect(struct listening *listening) MUST_CHECK;
/* To be tried again then, after so many failures in a row. */
int64_t listening_pause_ms(unsigned failures) MUST_CHECK;

static inline bool
listening_is_ready(const struct listening *listening)
{
    const struct lane *lane = listening->lease.lane;

    return lane != NULL && lane->state == LANE_READY;
}

/* Called first by the lease's on_ready and on_gone. */
void listening_on_ready(struct listening *listening);
void listening_on_gone(struct listening *listening);
/* ... and by its on_frame: unless HEARD_PART, what has come is in `frame`, whose
 * ref is the caller's.  Of frames in pieces those above `longest` are too long. */
enum heard listening_hear(struct listening *listening,
                          const struct reply_piece *piece, size_t longest,
                          struct extent *frame) MUST_CHECK;

/* Now and then: it is as good as lost when nothing of it can be heard. */
void listening_look(struct listening *listening, uint64_t now_us);

#endif
