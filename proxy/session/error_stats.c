/*
 * session/error_stats.c - rows of codes.
 */
#include "session/error_stats.h"

#include <ctype.h>
#include <string.h>

#define ROW_OTHER (ERROR_CODES - 1)

static void
name_row(struct error_stats *stats, unsigned row, struct view code)
{
    memcpy(stats->rows[row].code, code.data, code.len);
}

void
error_stats_init(struct error_stats *stats)
{
    name_row(stats, 0, VIEW("ERR"));
    name_row(stats, ROW_OTHER, VIEW("other"));
    cell_set(&stats->used, 1);
}

/* Servers write codes in capital letters. */
static bool
is_code(struct view word)
{
    if (word.len == 0 || word.len >= ERROR_CODE_MAX)
        return false;
    for (size_t i = 0; i < word.len; i++) {
        unsigned char c = (unsigned char)word.data[i];
        if (!isupper(c) && !isdigit(c) && c != '_')
            return false;
    }
    return true;
}

/* The word behind the '-'. */
static struct view
code_of(struct view line)
{
    struct view rest = view_of(line.data + 1, line.len > 0 ? line.len - 1 : 0);
    size_t len = 0;

    while (len < rest.len && rest.data[len] != ' ' && rest.data[len] != '\r')
        len++;
    return view_of(rest.data, len);
}

unsigned
error_stats_used(const struct error_stats *stats)
{
    return (unsigned)__atomic_load_n(&stats->used.value, __ATOMIC_ACQUIRE);
}

uint8_t
error_stats_find(struct error_stats *stats, struct view line)
{
    struct view code = code_of(line);
    unsigned used = error_stats_used(stats);

    if (!is_code(code))
        return ROW_OTHER;
    for (unsigned i = 0; i < used; i++) {
        if (view_equal(code, view_str(stats->rows[i].code)))
            return (uint8_t)i;
    }
    if (used == ROW_OTHER)
        return ROW_OTHER;
    name_row(stats, used, code);
    /* Who reads the number sees the name. */
    __atomic_store_n(&stats->used.value, used + 1, __ATOMIC_RELEASE);
    return (uint8_t)used;
}

void
error_stats_note(struct error_stats *stats, struct view line)
{
    cell_inc(&stats->rows[error_stats_find(stats, line)].all);
}

void
error_stats_reset(struct error_stats *stats)
{
    for (unsigned i = 0; i < ERROR_CODES; i++)
        cell_set(&stats->rows[i].before, cell_get(&stats->rows[i].all));
}
