/*
 * tests/replay/talk.c - files to lines, escapes to bytes and back.
 */
#include "talk.h"

#include <errno.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/view.h"
#include "resp/encode.h"

#define QUOTE_MAX 200 /* bytes shown of what came */

/* --- files ---------------------------------------------------------------- */

static bool
read_all(FILE *file, struct buf *out)
{
    size_t got;

    do {
        got = fread(buf_reserve(out, 4096), 1, 4096, file);
        out->len += got;
    } while (got > 0);
    buf_append_char(out, '\n');
    buf_append_char(out, '\0');
    return !ferror(file);
}

/* Cut the remark off, and blanks at the end. */
static void
trim_line(char *line)
{
    char *remark = line[0] == '#' ? line : strstr(line, "  #");
    size_t len = remark == NULL ? strlen(line) : (size_t)(remark - line);

    while (len > 0 && line[len - 1] == ' ')
        len--;
    line[len] = '\0';
}

static void
split_lines(struct talk *talk)
{
    char *line = talk->text, *end;

    for (; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = '\0';
        trim_line(line);
        talk->lines =
            mem_realloc(talk->lines, (talk->count + 1) * sizeof(*talk->lines));
        talk->lines[talk->count++] = line;
    }
}

struct talk *
talk_new(const char *path)
{
    struct talk *talk = MEM_NEW(struct talk);
    const char *slash = strrchr(path, '/');
    FILE *file = fopen(path, "r");
    struct buf text = {0};

    talk->name = mem_strdup(slash == NULL ? path : slash + 1);
    bool is_read = file != NULL && read_all(file, &text);
    if (!is_read)
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
    if (file != NULL)
        fclose(file);
    talk->text = text.data;
    if (is_read)
        split_lines(talk);
    else
        talk_free(&talk);
    return talk;
}

void
talk_free(struct talk **talkp)
{
    struct talk *talk = *talkp;

    *talkp = NULL;
    if (talk == NULL)
        return;
    mem_free(talk->name);
    mem_free(talk->text);
    mem_free(talk->lines);
    mem_free(talk);
}

/* --- bytes ---------------------------------------------------------------- */

static int
hex_digit(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *place = c == '\0' ? NULL : strchr(digits, c);

    return place == NULL ? -1 : (int)(place - digits);
}

/* One escape; returns how many characters it took. */
static size_t
expand_escape(struct buf *out, struct view text)
{
    static const char names[] = "rnts\\0";
    static const char bytes[] = "\r\n\t \\\0";
    char c = text.len > 1 ? text.data[1] : '\0';
    const char *place = c == '\0' ? NULL : strchr(names, c);

    if (place != NULL) {
        buf_append_char(out, bytes[place - names]);
        return 2;
    }
    int high = text.len > 3 && c == 'x' ? hex_digit(text.data[2]) : -1;
    int low = high < 0 ? -1 : hex_digit(text.data[3]);
    if (low < 0) {
        buf_append_char(out, '\\');
        return 1;
    }
    buf_append_char(out, (char)(high * 16 + low));
    return 4;
}

/* The brace that ends what the first one begins; 0: none. */
static size_t
closing_brace(struct view text)
{
    size_t depth = 0;

    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] == '{')
            depth++;
        else if (text.data[i] == '}' && --depth == 0)
            return i;
    }
    return 0;
}

/* The parts of {text*N} at the start of a text; false: it is none. */
static bool
parse_repeat(struct view text, struct view *body, uint64_t *count, size_t *len)
{
    size_t end = closing_brace(text), star = end;

    while (star > 0 && text.data[star] != '*')
        star--;
    if (star == 0)
        return false;
    *len = end + 1;
    *body = view_of(text.data + 1, star - 1);
    return view_to_u64(view_of(text.data + star + 1, end - star - 1), count);
}

static void
expand_plain(struct buf *out, struct view text)
{
    for (size_t i = 0; i < text.len;) {
        if (text.data[i] == '\\') {
            i += expand_escape(out, view_of(text.data + i, text.len - i));
            continue;
        }
        buf_append_char(out, text.data[i++]);
    }
}

static void
expand_repeat(struct buf *out, struct view body, uint64_t count)
{
    struct buf once = {0};

    talk_expand(&once, body);
    buf_reserve(out, (size_t)count * once.len + 1);
    while (count-- > 0)
        buf_append(out, once.data, once.len);
    buf_fini(&once);
}

void
talk_expand(struct buf *out, struct view text)
{
    struct view body;
    uint64_t count;
    size_t start = 0, i = 0, len;

    while (i < text.len) {
        if (text.data[i] != '{' ||
            !parse_repeat(view_of(text.data + i, text.len - i), &body, &count,
                          &len)) {
            i++;
            continue;
        }
        expand_plain(out, view_of(text.data + start, i - start));
        expand_repeat(out, body, count);
        start = i += len;
    }
    expand_plain(out, view_of(text.data + start, i - start));
}

struct view
talk_word(struct view *rest)
{
    while (rest->len > 0 && rest->data[0] == ' ')
        *rest = view_of(rest->data + 1, rest->len - 1);

    const char *space = memchr(rest->data, ' ', rest->len);
    size_t len = space == NULL ? rest->len : (size_t)(space - rest->data);
    struct view word = view_of(rest->data, len);
    *rest = view_of(rest->data + len, rest->len - len);
    return word;
}

static size_t
count_words(struct view words)
{
    size_t count = 0;

    while (talk_word(&words).len > 0)
        count++;
    return count;
}

void
talk_encode(struct buf *out, struct view words)
{
    struct buf bytes = {0};
    struct view word;

    encode_array(out, count_words(words));
    while ((word = talk_word(&words)).len > 0) {
        bytes.len = 0;
        if (!view_equal(word, VIEW("\"\"")))
            talk_expand(&bytes, word);
        encode_bulk(out, view_of(bytes.data, bytes.len));
    }
    buf_fini(&bytes);
}

void
talk_quote(struct buf *out, struct view bytes)
{
    for (size_t i = 0; i < MIN(bytes.len, (size_t)QUOTE_MAX); i++) {
        unsigned char c = (unsigned char)bytes.data[i];
        if (c == '\r')
            buf_append_str(out, "\\r");
        else if (c == '\n')
            buf_append_str(out, "\\n");
        else if (c < 0x20 || c > 0x7e)
            buf_printf(out, "\\x%02x", c);
        else
            buf_append_char(out, (char)c);
    }
    if (bytes.len > QUOTE_MAX)
        buf_printf(out, " ... (%zu bytes)", bytes.len);
}
