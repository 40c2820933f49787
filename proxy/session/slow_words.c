/*
 * session/slow_words.c - what is kept of a slow request.
 */
#include "session/slow_words.h"

#include "resp/encode.h"
#include "session/body_words.h"
#include "session/redact.h"
#include "session/split_job.h"

#define WORDS_MAX 32
#define WORD_MAX 128

static void
encode_word(struct buf *out, struct view word)
{
    struct buf text = {0};

    if (word.len <= WORD_MAX) {
        encode_bulk(out, word);
        return;
    }
    buf_append(&text, word.data, WORD_MAX);
    buf_printf(&text, "... (%zu more bytes)", word.len - WORD_MAX);
    encode_bulk(out, buf_view(&text));
    buf_fini(&text);
}

static void
encode_rest(struct buf *out, const char *fmt, uint32_t count)
{
    struct buf text = {0};

    buf_printf(&text, "... (%u more %s)", count, fmt);
    encode_bulk(out, buf_view(&text));
    buf_fini(&text);
}

/* `argc` words there are; those in `args` are here. */
static void
encode_words(struct buf *out, const struct command *command,
             const struct command_args *args, uint32_t argc)
{
    bool is_cut = argc > WORDS_MAX || args->argc < argc;
    uint32_t shown = MIN(args->argc, (uint32_t)WORDS_MAX - is_cut);

    encode_array(out, shown + (size_t)is_cut);
    for (uint32_t i = 0; i < shown; i++)
        encode_word(out, redact_word(command, args, i));
    if (is_cut)
        encode_rest(out, "arguments", argc - shown);
}

/* Only the name is known. */
static void
encode_name(struct buf *out, const struct command *command)
{
    encode_array(out, 1);
    encode_bulk(out, view_of(command->name, command->name_len));
}

static void
encode_exec(struct buf *out, uint32_t queued)
{
    encode_array(out, 2);
    encode_bulk_str(out, "EXEC");
    encode_rest(out, "commands", queued);
}

static void
encode_body(struct buf *out, const struct command *command,
            const struct extent *body)
{
    struct request_limits limits = body_limits();
    struct request_scan scan;
    const char *data = body->chunk->data + body->off;

    request_scan_init(&scan);
    enum resp_result result = request_scan(&scan, &limits, data, body->len);
    /* One that was passed on as it came is not here whole. */
    uint32_t here = result == RESP_OK ? scan.argc : scan.seen;
    struct command_args args = {data, scan.args, here};
    if (result == RESP_BAD || here == 0)
        encode_name(out, command);
    else
        encode_words(out, command, &args, scan.argc);
    request_scan_fini(&scan);
}

void
slow_words_encode(const struct request *request, struct buf *out)
{
    struct extent body = request->job == NULL ? request->call.body
                                              : split_job_words(request);

    if (body.chunk == NULL)
        encode_name(out, request->command);
    else if (request->command->id == COMMAND_ID_EXEC &&
             request->call.leading > 0)
        encode_exec(out, request->call.leading - 1);
    else
        encode_body(out, request->command, &body);
}
