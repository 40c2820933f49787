/*
 * admin/sentinel_metrics.h - what Sentinels say of masters.
 */
#ifndef ADMIN_SENTINEL_METRICS_H
#define ADMIN_SENTINEL_METRICS_H

#include "admin/exposition.h"
#include "admin/source.h"

/* Families with a line for each pool that asks Sentinels, or each of its
 * masters. */
void sentinel_metrics_render(const struct admin_source *source,
                             struct exposition *x);

#endif
