/*
 * tests/fuzz/fuzz_inline.c - a line of words becomes a request that is sound.
 *
 * Input: a line.  Properties: what is encoded is exactly one request with the
 * number of words announced; with its line end it is the same; the scanner of
 * requests agrees on what is blank; its words, quoted, give it again.
 */
#include "fuzz.h"
#include "resp/inline.h"
#include "resp/request_scan.h"

#define INPUT_MAX 4096

static const struct request_limits LIMITS = {INT32_MAX, RESP_MAX_BULK, false};

static enum resp_result
encode_copy(struct view line, struct buf *out, uint32_t *argc)
{
    char *copy = fuzz_copy(line);
    enum resp_result result =
        inline_encode(view_of(copy, line.len), out, argc);

    mem_free(copy);
    return result;
}

/* The line again, with its end. */
static void
check_line_end(struct view line, const char *end, enum resp_result expected,
               struct view encoded)
{
    struct buf ended = {0}, out = {0};
    uint32_t argc;

    buf_append_view(&ended, line);
    buf_append_str(&ended, end);
    ASSERT(encode_copy(buf_view(&ended), &out, &argc) == expected);
    ASSERT(view_equal(buf_view(&out), encoded));
    buf_fini(&ended);
    buf_fini(&out);
}

static void
append_quoted(struct buf *line, struct view word)
{
    buf_append_char(line, '"');
    for (size_t i = 0; i < word.len; i++)
        buf_printf(line, "\\x%02x", (unsigned)(unsigned char)word.data[i]);
    buf_append_str(line, "\" ");
}

static void
check_encoded(struct view encoded, uint32_t argc)
{
    struct request_scan scan;
    struct buf quoted = {0}, again = {0};
    uint32_t argc_again;

    request_scan_init(&scan);
    enum resp_result result =
        request_scan(&scan, &LIMITS, encoded.data, encoded.len);
    if (result == RESP_OK) {
        ASSERT(scan.size == encoded.len && scan.seen == argc);
        for (uint32_t i = 0; i < argc; i++)
            append_quoted(&quoted, request_arg(&scan, encoded.data, i));
        ASSERT(encode_copy(buf_view(&quoted), &again, &argc_again) == RESP_OK);
        ASSERT(view_equal(buf_view(&again), encoded));
    } else {
        /* The one thing that is wrong with it is what it asks for. */
        ASSERT(result == RESP_BAD && scan.error[0] == '\0');
    }
    buf_fini(&quoted);
    buf_fini(&again);
    request_scan_fini(&scan);
}

/* As the scanner meets the line on its way in. */
static void
check_scanner(struct view line, enum resp_result encoded, uint32_t argc)
{
    struct request_scan scan;
    struct buf text = {0};

    buf_append_view(&text, line);
    buf_append_str(&text, "\n");
    request_scan_init(&scan);
    if (request_scan(&scan, &LIMITS, text.data, text.len) == RESP_OK &&
        scan.size == text.len && text.data[0] != '*') {
        bool is_blank = encoded == RESP_OK && argc == 0;
        ASSERT(scan.kind == (is_blank ? REQUEST_EMPTY : REQUEST_INLINE));
    }
    request_scan_fini(&scan);
    buf_fini(&text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct view line = view_of((const char *)data, MIN(size, INPUT_MAX));
    struct buf out = {0};
    uint32_t argc = 0;
    enum resp_result result = encode_copy(line, &out, &argc);

    ASSERT(result == RESP_OK || (result == RESP_BAD && out.len == 0));
    check_line_end(line, "\n", result, buf_view(&out));
    check_line_end(line, "\r\n", result, buf_view(&out));
    check_scanner(line, result, argc);
    ASSERT((out.len > 0) == (result == RESP_OK && argc > 0));
    if (out.len > 0)
        check_encoded(buf_view(&out), argc);
    buf_fini(&out);
    return 0;
}
