/*
 * daemon/epochs.h - the highest epochs of masters, kept over restarts.
 *
 *   7 acc1 accounts        epoch, master, pool: a line each
 *
 * Read once, at the start; written anew, beside the old file and then in its
 * place, whenever one has grown.  Without a file they are kept in memory, over
 * reloads.  Bounded by EPOCHS_MAX.
 *
 * Owner and thread: control.
 */
#ifndef DAEMON_EPOCHS_H
#define DAEMON_EPOCHS_H

#include <stdint.h>

#include "base/error.h"
#include "base/view.h"

#define EPOCHS_MAX 65536
#define EPOCHS_BYTES_MAX (64u << 20)

struct epochs;

/* NULL and a sentence when the file (NULL: none) is there and cannot be read.
 * The log says if it could not be written. */
struct epochs *epochs_new(const char *path, struct error *error) MUST_CHECK;
void epochs_free(struct epochs **epochsp);

/* After a reload: where to write from now on; what is known stays. */
void epochs_set_path(struct epochs *epochs, const char *path);

/* 0: none is known. */
uint64_t epochs_find(const struct epochs *epochs, const char *pool,
                     const char *master);
/* It is this one, if that is higher; that it could not be written is logged. */
void epochs_raise(struct epochs *epochs, const char *pool, const char *master,
                  uint64_t epoch);

/* From text; what is no line of ours makes it fail. */
int epochs_parse(struct epochs *epochs, struct view text,
                 struct error *error) MUST_CHECK;

#endif
