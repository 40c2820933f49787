/*
 * admin/admin.h - what is going on inside?
 *
 * The stats port: one listener for the whole process.
 *
 *   accept --> silent --+-- bytes come --> http --> answer
 *                       +-- 100 ms, or the client ends its side --> JSON, close
 *
 *   /metrics /stats.json / /healthz /readyz, by GET and HEAD
 *
 * At most ADMIN_CONNECTIONS at a time, one more is closed at once; each is
 * closed after ADMIN_IDLE_S seconds without progress.  SIGPIPE must be ignored
 * by the process.  Owner: control.  Control thread only.
 */
#ifndef ADMIN_ADMIN_H
#define ADMIN_ADMIN_H

#include "admin/source.h"
#include "base/buf.h"
#include "base/error.h"
#include "net/loop.h"

#define ADMIN_CONNECTIONS 64
#define ADMIN_IDLE_S 20
#define ADMIN_SILENT_MS 100

struct admin;

/* Listen on `stats`; the source must outlive it.  NULL on failure. */
struct admin *admin_new(struct loop *loop, const struct admin_source *source,
                        const struct address_text *stats,
                        struct error *error) MUST_CHECK;
/* Closes the listener and every connection; safe to call with NULL inside.
 * Not from a function of the source. */
void admin_free(struct admin **adminp);

/* Where it really listens, as text. */
const char *admin_address(const struct admin *admin);

/*
 * Append the text of INFO as the clients of a pool see it.  `sections` are
 * names of sections, `all`, `default` or `everything`, with spaces in between
 * and in any case; none means `default`.  What nobody knows adds nothing.
 */
void admin_render_info(const struct admin_source *source, size_t pool,
                       struct view sections, struct buf *out);

/* Append what MEMORY says of the process: for "stats" lines of a name and a
 * number, for "doctor" and "malloc-stats" the text. */
void admin_render_memory(const struct admin_source *source, struct view what,
                         struct buf *out);

#endif
