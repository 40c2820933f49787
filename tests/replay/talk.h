/*
 * tests/replay/talk.h - the text of a script: lines, words and bytes.
 *
 * Bytes are written with the usual escapes (\r \n \t \\ \s for a space, \0 and
 * \x0a), and {text*N} stands for N times the text, which may hold the same.
 * Any other brace is itself.
 */
#ifndef TESTS_REPLAY_TALK_H
#define TESTS_REPLAY_TALK_H

#include <stdbool.h>

#include "base/buf.h"

struct talk {
    char *name; /* of the file, without folders */
    char *text; /* every line ends in NUL */
    char **lines;
    unsigned count;
};

/* NULL, and a word on standard error, when the file cannot be read. */
struct talk *talk_new(const char *path) MUST_CHECK;
void talk_free(struct talk **talkp);

/* Append the bytes that a text stands for. */
void talk_expand(struct buf *out, struct view text);

/* The words of a request as RESP; "" is an empty word. */
void talk_encode(struct buf *out, struct view words);

/* The next word of *rest, which is shortened; empty at the end. */
struct view talk_word(struct view *rest);

/* The bytes as a script would have them, cut to what a line can show. */
void talk_quote(struct buf *out, struct view bytes);

#endif
