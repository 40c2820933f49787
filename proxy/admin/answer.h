/*
 * admin/answer.h - which page answers which path of the stats port.
 *
 * Knows nothing of sockets or of the HTTP library.
 */
#ifndef ADMIN_ANSWER_H
#define ADMIN_ANSWER_H

#include "admin/port_stats.h"
#include "admin/source.h"
#include "base/buf.h"

struct answer_request {
    const char *path;
    const char *pool;   /* ?pool=NAME, or NULL */
    const char *accept; /* header, or NULL */
};

struct answer {
    unsigned status;  /* of HTTP */
    const char *type; /* of the content; constant */
    struct buf body;  /* belongs to the caller */
};

/* Fill in *answer, which is zeroed before. */
void answer_make(const struct admin_source *source,
                 const struct port_stats *port,
                 const struct answer_request *request, struct answer *answer);

#endif
