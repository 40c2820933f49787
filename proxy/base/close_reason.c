/*
 * base/close_reason.c - names and levels of close reasons.
 */
#include "base/close_reason.h"

#include <ctype.h>
#include <string.h>

#include "base/base.h"

#define REASON_NAME_MAX 32

static const struct {
    const char *name;
    bool is_error;
    enum log_level level;
} reasons[CLOSE_REASON_COUNT] = {
#define CLOSE(name, is_error, level, text) \
    {#name, is_error, LOG_LEVEL_##level},
#include "base/close_reason.def"
#undef CLOSE
};

static char names[CLOSE_REASON_COUNT][REASON_NAME_MAX];

__attribute__((constructor)) static void
lower_names(void)
{
    for (int i = 0; i < CLOSE_REASON_COUNT; i++) {
        size_t len = strlen(reasons[i].name);
        ASSERT(len < REASON_NAME_MAX);
        for (size_t c = 0; c < len; c++)
            names[i][c] = (char)tolower((unsigned char)reasons[i].name[c]);
    }
}

const char *
close_reason_name(enum close_reason reason)
{
    return names[reason];
}

bool
close_reason_is_error(enum close_reason reason)
{
    return reasons[reason].is_error;
}

enum log_level
close_reason_level(enum close_reason reason)
{
    return reasons[reason].level;
}
