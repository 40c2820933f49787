/*
 * admin/exposition.c - families and samples as text.
 */
#include "admin/exposition.h"

#include <inttypes.h>

#define US_PER_S 1e6
#define LE_MAX 32
#define LE_FIRST_US 16 /* nobody needs finer ones; LATENCY HISTOGRAM has them */

static const struct {
    const char *type;      /* OpenMetrics' word */
    const char *text_type; /* the older format's word */
    const char *suffix;    /* of the samples */
} kinds[] = {
    [FAMILY_COUNTER] = {"counter", "counter", "_total"},
    [FAMILY_GAUGE] = {"gauge", "gauge", ""},
    [FAMILY_HISTOGRAM] = {"histogram", "histogram", ""},
    [FAMILY_INFO] = {"info", "gauge", "_info"},
};

/* Append with \, newline and, in labels, " escaped. */
static void
append_escaped(struct buf *out, const char *text, bool in_label)
{
    for (; *text != '\0'; text++) {
        if (*text == '\n') {
            buf_append_str(out, "\\n");
            continue;
        }
        if (*text == '\\' || (in_label && *text == '"'))
            buf_append_char(out, '\\');
        buf_append_char(out, *text);
    }
}

static bool
ends_with_unit(const char *name, const char *unit)
{
    size_t len = strlen(name), tail = strlen(unit);

    return len > tail && name[len - tail - 1] == '_' &&
        strcmp(name + len - tail, unit) == 0;
}

static void
name_family(struct exposition *x, const char *name, const char *unit)
{
    bool append = unit[0] != '\0' && !ends_with_unit(name, unit);
    int len = snprintf(x->family, sizeof(x->family), "%s%s%s", name,
                       append ? "_" : "", append ? unit : "");

    ASSERT(len > 0 && (size_t)len < sizeof(x->family));
}

void
exposition_family(struct exposition *x, enum family_kind kind, const char *name,
                  const char *unit, const char *help)
{
    name_family(x, name, unit);
    x->suffix = kinds[kind].suffix;
    /* The older format describes samples, OpenMetrics families of them. */
    const char *suffix = x->open_metrics ? "" : x->suffix;
    buf_printf(x->out, "# TYPE %s%s %s\n", x->family, suffix,
               x->open_metrics ? kinds[kind].type : kinds[kind].text_type);
    if (x->open_metrics && unit[0] != '\0')
        buf_printf(x->out, "# UNIT %s %s\n", x->family, unit);
    buf_printf(x->out, "# HELP %s%s ", x->family, suffix);
    append_escaped(x->out, help, x->open_metrics);
    buf_append_char(x->out, '\n');
}

static void
append_label(struct buf *out, bool is_first, const char *name,
             const char *value)
{
    buf_append_char(out, is_first ? '{' : ',');
    buf_append_str(out, name);
    buf_append_str(out, "=\"");
    append_escaped(out, value, true);
    buf_append_char(out, '"');
}

/* Append `name{labels,le="..."} `; le is NULL but for buckets. */
static void
sample_begin(struct exposition *x, const char *suffix,
             const struct label *labels, const char *le)
{
    bool is_first = true;

    buf_append_str(x->out, x->family);
    buf_append_str(x->out, suffix);
    for (; labels->name != NULL; labels++) {
        append_label(x->out, is_first, labels->name, labels->value);
        is_first = false;
    }
    if (le != NULL) {
        append_label(x->out, is_first, "le", le);
        is_first = false;
    }
    if (!is_first)
        buf_append_char(x->out, '}');
    buf_append_char(x->out, ' ');
}

void
exposition_stat_family(struct exposition *x, const char *group,
                       const struct stat_desc *desc)
{
    char full[EXPOSITION_NAME_MAX];
    size_t len = strlen(group);
    bool says_group =
        strncmp(desc->name, group, len) == 0 && desc->name[len] == '_';

    snprintf(full, sizeof(full), "pointsman_%s_%s", group,
             desc->name + (says_group ? len + 1 : 0));
    exposition_family(x,
                      desc->kind == STAT_COUNTER ? FAMILY_COUNTER
                                                 : FAMILY_GAUGE,
                      full, desc->unit, desc->help);
}

void
exposition_number(struct exposition *x, const struct label *labels,
                  uint64_t value)
{
    sample_begin(x, x->suffix, labels, NULL);
    buf_printf(x->out, "%" PRIu64 "\n", value);
}

void
exposition_real(struct exposition *x, const struct label *labels, double value)
{
    sample_begin(x, x->suffix, labels, NULL);
    buf_printf(x->out, "%.6f\n", value);
}

static const char *
format_bound(char le[LE_MAX], unsigned bucket)
{
    uint64_t bound_us = histogram_bound_us(bucket);

    if (bound_us == UINT64_MAX)
        return "+Inf";
    snprintf(le, LE_MAX, "%.6f", (double)bound_us / US_PER_S);
    return le;
}

void
exposition_histogram(struct exposition *x, const struct label *labels,
                     const struct histogram *histogram)
{
    uint64_t count = 0;
    char le[LE_MAX];

    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
        count += cell_get(&histogram->bucket[i]);
        if (histogram_bound_us(i) < LE_FIRST_US)
            continue;
        sample_begin(x, "_bucket", labels, format_bound(le, i));
        buf_printf(x->out, "%" PRIu64 "\n", count);
    }
    sample_begin(x, "_sum", labels, NULL);
    buf_printf(x->out, "%.6f\n",
               (double)cell_get(&histogram->sum_us) / US_PER_S);
    sample_begin(x, "_count", labels, NULL);
    buf_printf(x->out, "%" PRIu64 "\n", count);
}

void
exposition_end(struct exposition *x)
{
    if (x->open_metrics)
        buf_append_str(x->out, "# EOF\n");
}
