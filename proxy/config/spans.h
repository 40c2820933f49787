/*
 * config/spans.h - which part of the keys belongs to a server.
 *
 * Ranges, by number or by bytes, for `distribution: range`; slots for
 * `distribution: slots`.  Whether the parts of several servers fit together is
 * for the route to say.
 */
#ifndef CONFIG_SPANS_H
#define CONFIG_SPANS_H

#include "config/node.h"
#include "config/report.h"
#include "config/settings.h"

/* Spans of one server, ranges or slots. */
#define SPANS_MAX NODE_ENTRIES_MAX

/* from, to, before and ranges of a server's map; none of them is no error. */
void spans_read_ranges(struct report *report, const struct node *map,
                       enum range_by by, struct server_settings *server);
/* "0-8191", "0-100,200" or a list of such texts. */
void spans_read_slots(struct report *report, const struct node *node,
                      struct server_settings *server);
void spans_fini(struct server_settings *server);

#endif
