/*
 * base/error.h - a sentence for the operator when setting something up fails.
 *
 * Set-up functions return 0 or -1 and fill a struct error given by the caller,
 * who prints it.  The data path never uses it: it closes with a close reason.
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include "base/base.h"

#define ERROR_TEXT_MAX 512

struct error {
    char text[ERROR_TEXT_MAX];
};

/* Write the sentence (cut at ERROR_TEXT_MAX); returns -1, for `return`. */
int error_set(struct error *error, const char *fmt, ...) PRINTF_LIKE(2, 3);

#endif
