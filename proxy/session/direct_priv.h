/*
 * session/direct_priv.h - what the files of direct transactions share.
 */
#ifndef SESSION_DIRECT_PRIV_H
#define SESSION_DIRECT_PRIV_H

#include "session/direct.h"
#include "session/transaction_priv.h"

struct direct {
    struct lane_lease lease; /* unless keys are watched */
    struct session *session; /* NULL: its DISCARD is awaited, no more */
    struct server *server;   /* whose lane it is, or is waited for */
    struct request *request; /* waits for the lane */
    uint32_t shard;          /* of the server, by the session's generation */
    bool is_open;            /* MULTI has been given to the lane */
    bool is_over;            /* EXEC was answered with EXECABORT */
    struct extent whole;     /* what EXEC may be sent with, a ref, ... */
    uint32_t leading;        /* ... and replies in front of its own */
    struct call farewell;    /* DISCARD ... */
    struct timer timer;      /* ... and until when it is awaited */
    struct grave grave;
};

/* Not to be used by anybody else: it may be in the middle of a transaction. */
void direct_drop_lane(struct session *session);
/* Those that wait for it are told. */
void direct_fail_waiting(struct session *session);
/* Its lane has been given back, or is that of the watched keys. */
void direct_forget(struct session *session);
/* EXEC: with all that is in front of it, as if nothing had been sent yet.  False:
 * that is not known any more. */
bool direct_become_whole(struct request *request);
/* Nothing of it will be executed, and EXEC says so by null. */
void direct_answer_queued(struct request *request);
/* The same, as what is watched may have been changed. */
void direct_break_watch(struct request *request);

#endif
