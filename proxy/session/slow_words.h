/*
 * session/slow_words.h - the words of a slow request, cut to size.
 */
#ifndef SESSION_SLOW_WORDS_H
#define SESSION_SLOW_WORDS_H

#include "base/buf.h"
#include "session/request.h"

/* Append them as an array: 32 of 128 bytes at most, without passwords, as
 * servers have it.  Of EXEC it tells how many commands were queued. */
void slow_words_encode(const struct request *request, struct buf *out);

#endif
