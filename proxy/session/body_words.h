/*
 * session/body_words.h - the words of a request that is kept.
 */
#ifndef SESSION_BODY_WORDS_H
#define SESSION_BODY_WORDS_H

#include "base/chain.h"
#include "command/command.h"
#include "resp/request_scan.h"

/* Limits are for what comes, and may have changed: what has been taken has none. */
struct request_limits body_limits(void);

/* `body` was scanned before, so nothing is wrong with it.  The words stand in
 * `scan`, to be freed with request_scan_fini(). */
struct command_args body_words(struct request_scan *scan,
                               const struct extent *body);

#endif
