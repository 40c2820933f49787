/*
 * resp/inline.c - sdssplitargs() of redis-server, over a view.
 */
#include "resp/inline.h"

#include "base/mem.h"
#include "resp/encode.h"
#include "resp/resp_priv.h"

/* isspace() of the C locale. */
static bool
is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* What ends a word outside quotes; VT and FF do not. */
static bool
ends_word(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static int
hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

static void
add(struct inline_word *word, char c)
{
    if (word->len < word->cap)
        word->data[word->len] = c;
    word->len++;
}

static void
advance(struct view *rest, size_t len)
{
    rest->data += len;
    rest->len -= len;
}

static char
escaped(char c)
{
    switch (c) {
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    case 'b':
        return '\b';
    case 'a':
        return '\a';
    default:
        return c;
    }
}

static bool
is_hex_escape(struct view rest)
{
    return rest.len >= 4 && rest.data[1] == 'x' &&
           hex_value(rest.data[2]) >= 0 && hex_value(rest.data[3]) >= 0;
}

/* Add what the backslash at hand stands for, in double quotes. */
static void
add_escape(struct view *rest, struct inline_word *word)
{
    const char *p = rest->data;

    if (is_hex_escape(*rest)) {
        add(word, (char)(hex_value(p[2]) * 16 + hex_value(p[3])));
        advance(rest, 4);
    } else if (rest->len >= 2) {
        add(word, escaped(p[1]));
        advance(rest, 2);
    } else {
        add(word, '\\');
        advance(rest, 1);
    }
}

/* Add one character, plain or escaped, from between two `quote`s. */
static void
add_quoted(struct view *rest, struct inline_word *word, char quote)
{
    bool has_escape = rest->data[0] == '\\';

    if (has_escape && quote == '"') {
        add_escape(rest, word);
    } else if (has_escape && rest->len >= 2 && rest->data[1] == '\'') {
        add(word, '\'');
        advance(rest, 2);
    } else {
        add(word, rest->data[0]);
        advance(rest, 1);
    }
}

/* Add the rest of a word from behind its opening quote.  A closing quote ends
 * the word, too, so it must be followed by a blank or nothing. */
static enum inline_found
add_quotation(struct view *rest, struct inline_word *word, char quote)
{
    while (rest->len > 0 && rest->data[0] != quote)
        add_quoted(rest, word, quote);
    if (rest->len == 0)
        return INLINE_UNBALANCED;
    advance(rest, 1);
    if (rest->len > 0 && !is_blank(rest->data[0]))
        return INLINE_UNBALANCED;
    return INLINE_WORD;
}

enum inline_found
inline_next(struct view *rest, struct inline_word *word)
{
    word->len = 0;
    while (rest->len > 0 && is_blank(rest->data[0]))
        advance(rest, 1);
    if (rest->len == 0)
        return INLINE_END;

    while (rest->len > 0 && !ends_word(rest->data[0])) {
        char c = rest->data[0];
        advance(rest, 1);
        if (c == '"' || c == '\'')
            return add_quotation(rest, word, c);
        add(word, c);
    }
    return INLINE_WORD;
}

enum resp_result
inline_encode(struct view line, struct buf *out, uint32_t *argc)
{
    /* A word is never longer than its spelling. */
    struct inline_word word = {mem_alloc(line.len + 1), line.len, 0};
    struct buf words = {0};
    enum inline_found found;

    *argc = 0;
    while ((found = inline_next(&line, &word)) == INLINE_WORD) {
        encode_bulk(&words, view_of(word.data, word.len));
        (*argc)++;
    }
    if (found == INLINE_END && *argc > 0) {
        encode_array(out, *argc);
        buf_append_view(out, buf_view(&words));
    }
    buf_fini(&words);
    mem_free(word.data);
    return found == INLINE_END ? RESP_OK : RESP_BAD;
}
