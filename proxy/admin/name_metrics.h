/*
 * admin/name_metrics.h - where servers are, and what their names lead to.
 */
#ifndef ADMIN_NAME_METRICS_H
#define ADMIN_NAME_METRICS_H

#include "admin/exposition.h"
#include "admin/source.h"

void name_metrics_render(const struct admin_source *source,
                         struct exposition *x);

#endif
