/*
 * config/slurp.h - a whole file into memory: the room's only way to the disk.
 */
#ifndef CONFIG_SLURP_H
#define CONFIG_SLURP_H

#include "base/base.h"
#include "base/buf.h"
#include "base/error.h"

/*
 * Append at most `limit` bytes; more is an error.  A named pipe without a
 * writer is empty: opening it does not wait for one.  -1 and a sentence on
 * failure.
 */
int slurp(const char *path, size_t limit, struct buf *out,
          struct error *error) MUST_CHECK;

#endif
