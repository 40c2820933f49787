/*
 * request.h - requests for the tests of this room, from a line of text.
 */
#ifndef TESTS_COMMAND_REQUEST_H
#define TESTS_COMMAND_REQUEST_H

#include "guard.h"
#include "unit.h"

#include "base/buf.h"
#include "base/mem.h"
#include "command/command.h"

/* A request that ends at an unreadable page, scanned. */
struct request {
    struct guard bytes;
    struct request_scan scan;
    struct command_args args;
};

/* From bytes as a client sends them. */
static inline void
request_init_bytes(struct request *request, struct view bytes)
{
    const struct request_limits limits = {INT32_MAX, RESP_MAX_BULK, false};

    request->bytes = guard_copy(bytes.data, bytes.len);
    request_scan_init(&request->scan);
    enum resp_result result =
        request_scan(&request->scan, &limits, request->bytes.data, bytes.len);
    ck_assert_int_eq(result, RESP_OK);
    ck_assert_uint_eq(request->scan.size, bytes.len);
    request->args =
        (struct command_args){request->bytes.data, request->scan.args,
                              request->scan.argc};
}

static inline void
request_init_words(struct request *request, const struct view *words,
                   size_t count)
{
    struct buf bytes = {0};

    buf_printf(&bytes, "*%zu\r\n", count);
    for (size_t i = 0; i < count; i++) {
        buf_printf(&bytes, "$%zu\r\n", words[i].len);
        buf_append_view(&bytes, words[i]);
        buf_append_str(&bytes, "\r\n");
    }
    request_init_bytes(request, buf_view(&bytes));
    buf_fini(&bytes);
}

/* From words between single spaces; two in a row make an empty word. */
static inline void
request_init(struct request *request, const char *line)
{
    struct view words[64];
    size_t count = 0;

    for (const char *p = line; p != NULL; count++) {
        const char *space = strchr(p, ' ');
        ck_assert_uint_lt(count, ARRAY_LEN(words));
        words[count] =
            space == NULL ? view_str(p) : view_of(p, (size_t)(space - p));
        p = space == NULL ? NULL : space + 1;
    }
    request_init_words(request, words, count);
}

static inline void
request_fini(struct request *request)
{
    request_scan_fini(&request->scan);
    guard_free(&request->bytes);
}

/* The row that serves the request, subcommands included; NULL for none. */
static inline const struct command *
request_command(const struct request *request)
{
    const struct command *row = command_find(command_arg(&request->args, 0));

    if (row != NULL && (row->flags & COMMAND_CONTAINER) &&
        request->args.argc > 1)
        row = command_find_sub(row, command_arg(&request->args, 1));
    return row;
}

/* Compare bytes with a string and show both when they differ. */
static inline void
expect_bytes(struct view bytes, const char *text)
{
    char *copy = mem_view_dup(bytes);

    ck_assert_str_eq(copy, text);
    ck_assert_uint_eq(bytes.len, strlen(text));
    mem_free(copy);
}

#endif
