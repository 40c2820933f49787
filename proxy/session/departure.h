/*
 * session/departure.h - UNSUBSCRIBE, until the servers have it.
 *
 *   UNSUBSCRIBE a b -->  others here hear a and b?  -- yes -----> confirmed
 *                           | no                                    ^
 *                           v                                       |
 *                      unsubscribe a, unsubscribe b --> servers say so
 *
 * A server counts the connection of a worker as one listener until it has taken
 * the topic back.  So the last client that leaves a topic is told so when
 * all servers are done with it: whoever asks PUBLISH, PUBSUB NUMSUB, NUMPAT or
 * CHANNELS from then on hears of nobody who has left.  Servers that do not say so
 * in time change nothing for the client: it hears nothing any more.
 *
 * Owner: struct board.  One thread.
 */
#ifndef SESSION_DEPARTURE_H
#define SESSION_DEPARTURE_H

#include "base/buf.h"
#include "net/loop.h"
#include "session/board.h"
#include "session/request.h"

struct departure {
    LIST_ENTRY(departure) link; /* of the board's */
    struct board *board;
    struct request *request; /* which waits; a ref; NULL: nobody does */
    struct buf answer;       /* of it */
    unsigned awaited;        /* answers of servers */
    struct timer timer;      /* all are there */
};

/* What servers are told to take back from now on belongs to it ... */
struct departure *departure_begin(struct board *board);
/* ... until here.  True: they were told nothing, and it is gone. */
bool departure_is_over(struct departure **departurep) MUST_CHECK;
/* Let this request, a ref, wait for them; takes both over. */
void departure_wait(struct departure *departure, struct request *request,
                    struct buf *answer);

/* A server is told to take something back: this waits for it, or NULL. */
struct departure *departure_join(struct board *board);
/* It has, or its connection is gone; may be called from anywhere. */
void departure_on_answer(struct departure *departure);

/* The request that waits is late: it is answered all the same. */
void departure_on_late(struct request *request);

/* All of them, with the board. */
void departure_free(struct departure **departurep);

#endif
