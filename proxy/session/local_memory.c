/*
 * session/local_memory.c - MEMORY, as far as it is about a server itself.
 */
#include "base/mem.h"
#include "resp/encode.h"
#include "session/local_priv.h"
#include "session/request.h"
#include "session/survey_priv.h"

enum local_result
local_memory_stats(const struct local_call *call)
{
    return local_ask(call, QUESTION_MEMORY_STATS, VIEW("stats"));
}

enum local_result
local_memory_doctor(const struct local_call *call)
{
    return local_ask(call, QUESTION_MEMORY_TEXT, VIEW("doctor"));
}

enum local_result
local_memory_malloc_stats(const struct local_call *call)
{
    return local_ask(call, QUESTION_MEMORY_TEXT, VIEW("malloc-stats"));
}

/* The servers are told as well, and theirs is the answer. */
enum local_result
local_also_purge(const struct local_call *call UNUSED)
{
    mem_purge();
    return LOCAL_REFUSE;
}

/* "12" or "1.25", which has no other form in RESP2 than a string. */
static void
encode_number(struct buf *out, int resp, struct view text)
{
    int64_t number;

    if (view_to_i64(text, &number)) {
        encode_integer(out, number);
    } else if (resp == 2) {
        encode_bulk(out, text);
    } else {
        buf_append_char(out, ',');
        buf_append_view(out, text);
        buf_append_str(out, "\r\n");
    }
}

void
memory_reply_stats(const struct request *request, struct view text,
                   struct buf *out)
{
    int resp = request->session->resp;
    struct view rest = text;
    size_t pairs = 0;

    for (; rest.len > 0; pairs++)
        (void)view_take(&rest, '\n');
    encode_map(out, resp, pairs);
    while (text.len > 0) {
        struct view value = view_take(&text, '\n');
        struct view name = view_take(&value, ' ');
        encode_bulk(out, name);
        encode_number(out, resp, value);
    }
}
