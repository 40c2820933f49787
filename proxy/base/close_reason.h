/*
 * base/close_reason.h - every reason for which a connection ends, or is
 * not taken in the first place.
 */
#ifndef BASE_CLOSE_REASON_H
#define BASE_CLOSE_REASON_H

#include <stdbool.h>

#include "base/log.h"

enum close_reason {
#define CLOSE(name, is_error, level, text) CLOSE_##name,
#include "base/close_reason.def"
#undef CLOSE
    CLOSE_REASON_COUNT
};

/* The name in lower case, as used for labels: "client_eof". */
const char *close_reason_name(enum close_reason reason);
/* The fault of a server. */
bool close_reason_is_error(enum close_reason reason);
/* Of the line that the log has for it. */
enum log_level close_reason_level(enum close_reason reason);

#endif
