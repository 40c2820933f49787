/*
 * base/graph.c - columns of letters, as servers draw them.
 */
#include "base/graph.h"

#define COLUMNS 80
#define ROWS 4
#define STEPS_A_ROW 3
#define LABEL_MAX 24

struct graph {
    const struct graph_point *points;
    uint64_t least_ms, span_ms;
    struct buf *out;
};

#define S_PER_MINUTE 60
#define S_PER_HOUR 3600
#define S_PER_DAY 86400

/* The height of a column in steps, from 0. */
static unsigned
height_of(const struct graph *graph, const struct graph_point *point)
{
    const unsigned steps = ROWS * STEPS_A_ROW;
    double part = (double)(point->ms - graph->least_ms);

    return MIN((unsigned)(part * steps / (double)graph->span_ms), steps - 1);
}

/* What stands of a column in a row, the topmost of which is 0. */
static char
cell_of(unsigned height, unsigned row)
{
    static const char marks[] = {'_', 'o', '#'};
    unsigned below = (ROWS - 1 - row) * STEPS_A_ROW;

    if (height < below)
        return ' ';
    return height - below < STEPS_A_ROW ? marks[height - below] : '|';
}

static size_t
label_of(const struct graph_point *point, char label[LABEL_MAX])
{
    unsigned long long age_s = point->age_s;

    if (age_s < S_PER_MINUTE)
        return (size_t)snprintf(label, LABEL_MAX, "%llus", age_s);
    if (age_s < S_PER_HOUR)
        return (size_t)snprintf(label, LABEL_MAX, "%llum",
                                age_s / S_PER_MINUTE);
    if (age_s < S_PER_DAY)
        return (size_t)snprintf(label, LABEL_MAX, "%lluh", age_s / S_PER_HOUR);
    return (size_t)snprintf(label, LABEL_MAX, "%llud", age_s / S_PER_DAY);
}

static void
draw_rows(const struct graph *graph, size_t from, size_t end)
{
    for (unsigned row = 0; row < ROWS; row++) {
        for (size_t i = from; i < end; i++) {
            unsigned height = height_of(graph, &graph->points[i]);
            buf_append_char(graph->out, cell_of(height, row));
        }
        buf_append_char(graph->out, '\n');
    }
}

/* Labels from top to bottom, below an empty line. */
static void
draw_labels(const struct graph *graph, size_t from, size_t end)
{
    char label[LABEL_MAX];
    size_t longest = 0;

    for (size_t i = from; i < end; i++)
        longest = MAX(longest, label_of(&graph->points[i], label));
    for (size_t line = 0; line <= longest; line++) {
        for (size_t i = from; i < end; i++) {
            size_t len = label_of(&graph->points[i], label);
            bool is_there = line > 0 && line <= len;
            buf_append_char(graph->out, is_there ? label[line - 1] : ' ');
        }
        buf_append_char(graph->out, '\n');
    }
}

void
graph_draw(const struct graph_point *points, size_t count, struct buf *out)
{
    struct graph graph = {.points = points, .least_ms = UINT64_MAX, .out = out};
    uint64_t most_ms = 0;

    for (size_t i = 0; i < count; i++) {
        graph.least_ms = MIN(graph.least_ms, points[i].ms);
        most_ms = MAX(most_ms, points[i].ms);
    }
    graph.span_ms = MAX(most_ms - MIN(graph.least_ms, most_ms), UINT64_C(1));
    for (size_t from = 0; from < count; from += COLUMNS) {
        size_t end = MIN(count, from + COLUMNS);
        if (from > 0)
            buf_append_char(out, '\n');
        draw_rows(&graph, from, end);
        draw_labels(&graph, from, end);
    }
}
