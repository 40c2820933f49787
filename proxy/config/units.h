/*
 * config/units.h - durations and sizes as people write them.
 *
 * Strict: digits, then one unit in lower case, nothing else; what does not fit
 * is refused, never cut.
 */
#ifndef CONFIG_UNITS_H
#define CONFIG_UNITS_H

#include <stdbool.h>

#include "base/base.h"
#include "base/view.h"

#define UNITS_TEXT_SIZE 32

/* 400ms, 30s, 5m, 1h; a bare number is milliseconds. */
bool units_parse_msec(struct view text, int64_t *msec) MUST_CHECK;
/* 500us, 10ms, 1s; a bare number is microseconds. */
bool units_parse_usec(struct view text, int64_t *usec) MUST_CHECK;
/* 64kb, 1mb, 1gb, k = 1024; a bare number is bytes. */
bool units_parse_bytes(struct view text, uint64_t *bytes) MUST_CHECK;

/* The shortest text that parses to the same value. */
const char *units_print_msec(char out[UNITS_TEXT_SIZE], int64_t msec);
const char *units_print_usec(char out[UNITS_TEXT_SIZE], int64_t usec);
const char *units_print_bytes(char out[UNITS_TEXT_SIZE], uint64_t bytes);

#endif
