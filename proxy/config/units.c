/*
 * config/units.c - numbers with a unit behind them.
 */
#include "config/units.h"

#include <inttypes.h>
#include <stdio.h>

struct unit {
    const char *name;
    uint64_t factor;
};

/* Largest first, which is the order in which printing tries them. */
static const struct unit durations[] = {
    {"h", 3600000}, {"m", 60000}, {"s", 1000}, {"ms", 1},
};

static const struct unit short_durations[] = {
    {"s", 1000000}, {"ms", 1000}, {"us", 1},
};

static const struct unit sizes[] = {
    {"gb", (uint64_t)1 << 30}, {"mb", 1 << 20}, {"kb", 1 << 10}, {"", 1},
};

static size_t
count_digits(struct view text)
{
    size_t n = 0;

    while (n < text.len && text.data[n] >= '0' && text.data[n] <= '9')
        n++;
    return n;
}

/* The factor of a unit's name; no name is 1; 0 when there is no such unit. */
static uint64_t
find_factor(const struct unit *units, size_t count, struct view name)
{
    if (name.len == 0)
        return 1;
    for (size_t i = 0; i < count; i++) {
        if (view_equal(view_str(units[i].name), name))
            return units[i].factor;
    }
    return 0;
}

static bool
parse(const struct unit *units, size_t count, struct view text, uint64_t *value)
{
    size_t digits = count_digits(text);
    struct view name = view_of(text.data + digits, text.len - digits);
    uint64_t factor = find_factor(units, count, name);

    return factor != 0 && view_to_u64(view_of(text.data, digits), value) &&
           !__builtin_mul_overflow(*value, factor, value);
}

static const char *
print(const struct unit *units, uint64_t value, char out[UNITS_TEXT_SIZE])
{
    const struct unit *unit = units;

    while (unit->factor > 1 && (value == 0 || value % unit->factor != 0))
        unit++;
    snprintf(out, UNITS_TEXT_SIZE, "%" PRIu64 "%s", value / unit->factor,
             unit->name);
    return out;
}

static bool
parse_signed(const struct unit *units, size_t count, struct view text,
             int64_t *value)
{
    uint64_t number;

    if (!parse(units, count, text, &number) || number > INT64_MAX)
        return false;
    *value = (int64_t)number;
    return true;
}

bool
units_parse_msec(struct view text, int64_t *msec)
{
    return parse_signed(durations, ARRAY_LEN(durations), text, msec);
}

bool
units_parse_usec(struct view text, int64_t *usec)
{
    return parse_signed(short_durations, ARRAY_LEN(short_durations), text,
                        usec);
}

bool
units_parse_bytes(struct view text, uint64_t *bytes)
{
    uint64_t value;

    if (!parse(sizes, ARRAY_LEN(sizes), text, &value))
        return false;
    *bytes = value;
    return true;
}

const char *
units_print_msec(char out[UNITS_TEXT_SIZE], int64_t msec)
{
    ASSERT(msec >= 0);
    return print(durations, (uint64_t)msec, out);
}

const char *
units_print_bytes(char out[UNITS_TEXT_SIZE], uint64_t bytes)
{
    return print(sizes, bytes, out);
}

const char *
units_print_usec(char out[UNITS_TEXT_SIZE], int64_t usec)
{
    ASSERT(usec >= 0);
    return print(short_durations, (uint64_t)usec, out);
}
