/*
 * session/error_stats.h - how many errors clients have been answered, by code.
 *
 *   -WRONGTYPE Operation against ...   -> WRONGTYPE
 *   -no such thing                     -> other: no code, or one too many
 *
 * Scripts may make codes up, so there is room for ERROR_CODES of them.  Row 0 is
 * ERR, the last one is for those that have none of their own.
 *
 * The worker adds, and control keeps what there was at the last CONFIG RESETSTAT;
 * any thread may read.
 */
#ifndef SESSION_ERROR_STATS_H
#define SESSION_ERROR_STATS_H

#include "base/counter.h"
#include "base/view.h"

#define ERROR_CODES 64
#define ERROR_CODE_MAX 32 /* with the NUL behind it */

struct error_row {
    char code[ERROR_CODE_MAX];
    struct cell all;
    struct cell before; /* the last CONFIG RESETSTAT */
};

struct error_stats {
    struct error_row rows[ERROR_CODES];
    struct cell used; /* rows that have a code, but for the last */
};

void error_stats_init(struct error_stats *stats);

/* The row of an error line, with its '-', made when its code is new. */
uint8_t error_stats_find(struct error_stats *stats, struct view line);
/* One more of these. */
void error_stats_note(struct error_stats *stats, struct view line);

void error_stats_reset(struct error_stats *stats);
/* Rows that have a code; the last one, "other", comes behind them. */
unsigned error_stats_used(const struct error_stats *stats);

/* Of one row, since the last CONFIG RESETSTAT. */
static inline uint64_t
error_row_recent(const struct error_row *row)
{
    return cell_get(&row->all) - cell_get(&row->before);
}

#endif
