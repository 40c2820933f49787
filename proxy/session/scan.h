/*
 * session/scan.h - to which shard a SCAN goes, and with which cursor.
 *
 * See command/scan_cursor.h.
 */
#ifndef SESSION_SCAN_H
#define SESSION_SCAN_H

#include "command/scan_cursor.h"
#include "session/session.h"

struct scan_target {
    uint32_t shard; /* ROUTE_NONE: the scan is over */
    uint64_t backend;
    struct scan_step step;
};

/* By the generation of the session. */
struct scan_target scan_find(const struct session *session,
                             struct scan_cursor cursor) MUST_CHECK;

/* A place for each shard of the generation, in memory that the caller frees; 0
 * for who is not live. */
uint32_t *scan_places(const struct generation *generation);

#endif
