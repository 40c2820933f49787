/*
 * command/hyperloglog.h - the values of PFADD: merging and counting them.
 *
 *   "HYLL" | form | 3 unused | count, 8 bytes | 16384 registers
 *
 * In the dense form a register has six bits, in the sparse one runs of equal
 * registers have one or two bytes.  How many are counted is what servers from Redis
 * 5 on count.
 *
 * Pure.
 */
#ifndef COMMAND_HYPERLOGLOG_H
#define COMMAND_HYPERLOGLOG_H

#include "base/buf.h"

#define HYPERLOGLOG_REGISTERS 16384

struct hyperloglog {
    uint8_t registers[HYPERLOGLOG_REGISTERS];
};

enum hyperloglog_result {
    HYPERLOGLOG_OK,
    HYPERLOGLOG_OTHER,  /* another kind of string */
    HYPERLOGLOG_CORRUPT /* it begins like one */
};

/* Take in what stands in these bytes; nothing when they are not in order. */
enum hyperloglog_result hyperloglog_merge(struct hyperloglog *into,
                                          struct view bytes) MUST_CHECK;
uint64_t hyperloglog_count(const struct hyperloglog *of);
/* Append it in the dense form, not counted. */
void hyperloglog_write(const struct hyperloglog *from, struct buf *out);

#endif
