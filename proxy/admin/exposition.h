/*
 * admin/exposition.h - the two spellings of metrics for Prometheus.
 *
 * A family (name, type, help) is begun, then its samples follow.  The older
 * text format (0.0.4) and OpenMetrics 1.0 differ in the names of counters at
 * the head, in units and in the last line; only this file knows.
 */
#ifndef ADMIN_EXPOSITION_H
#define ADMIN_EXPOSITION_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/counter.h"
#include "base/histogram.h"

#define EXPOSITION_NAME_MAX 160

#define EXPOSITION_TEXT_TYPE "text/plain; version=0.0.4; charset=utf-8"
#define EXPOSITION_OPEN_TYPE \
    "application/openmetrics-text; version=1.0.0; charset=utf-8"

enum family_kind {
    FAMILY_COUNTER,
    FAMILY_GAUGE,
    FAMILY_HISTOGRAM,
    FAMILY_INFO /* a sample of 1 whose labels are what matters */
};

struct exposition {
    struct buf *out;
    bool open_metrics;
    /* Of the family begun last; names of samples have the suffix behind. */
    char family[EXPOSITION_NAME_MAX];
    const char *suffix;
};

/* An array of labels ends with one whose name is NULL. */
struct label {
    const char *name;
    const char *value;
};

#define NO_LABELS ((const struct label[]){{NULL, NULL}})

/* Begin a family.  `unit` is "" or a base unit, put behind the name unless it
 * stands there already. */
void exposition_family(struct exposition *x, enum family_kind kind,
                       const char *name, const char *unit, const char *help);

/* The family of a described cell, pointsman_GROUP_NAME.  A name that begins with
 * its group, as some of twemproxy's do, does not say it twice. */
void exposition_stat_family(struct exposition *x, const char *group,
                            const struct stat_desc *desc);

void exposition_number(struct exposition *x, const struct label *labels,
                       uint64_t value);
void exposition_real(struct exposition *x, const struct label *labels,
                     double value);
/* Of a family of FAMILY_HISTOGRAM in seconds. */
void exposition_histogram(struct exposition *x, const struct label *labels,
                          const struct histogram *histogram);

/* The last line. */
void exposition_end(struct exposition *x);

#endif
