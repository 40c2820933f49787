/*
 * session/fanout_priv.h - what those who ask all shards and those who make one
 * answer of it share.
 */
#ifndef SESSION_FANOUT_PRIV_H
#define SESSION_FANOUT_PRIV_H

#include "command/fanout_merge.h"
#include "session/fanout.h"
#include "session/scan.h"

struct fanout_job {
    struct fanout fanout;
    struct extent bytes;     /* of the request; a ref */
    uint8_t *known;          /* SCRIPT EXISTS: of fanout, or NULL */
    struct scan_cursor scan; /* SCAN: as the client gave it ... */
    struct scan_step step;   /* ... who was asked ... */
    struct scan_page page;   /* ... and what they have, charged to the session */
    uint64_t page_size;      /* which the client would like */
    uint8_t shards;          /* that are through with their part of the page */
    struct buf head;         /* INFO: all but the keys, or what is our own */
    bool has_asked;          /* ... control for that */
    struct timer patience;   /* ... which are waited for no longer than this */
    struct request *request;
    bool passes;   /* what comes is given on (fanout_stream.h) ... */
    uint32_t turn; /* ... of this part */
    uint8_t rounds;
    uint8_t waits; /* for the map */
};

static inline bool
fanout_is_scan(const struct command *command)
{
    return command->id == COMMAND_ID_SCAN;
}

/* All parts have their answers: is something of the proxy's own needed besides?
 * Then it is asked for, and the job is gathered again when it is here. */
bool fanout_asks_control(struct request *request) MUST_CHECK;
/* Was it asked by a map that is not the newest, or will not be for long? */
bool fanout_is_stale(const struct request *request) MUST_CHECK;
/* Ask the shard that a scan has come to. */
void fanout_send_scan(struct request *request);
/* No shard is left: answer with what has come so far. */
void fanout_end_scan(struct request *request);
/* All parts have their answers: make one of them.  False: it was a page of a scan,
 * and another shard has been asked for more, by another job. */
bool fanout_answer(struct request *request) MUST_CHECK;

#endif
