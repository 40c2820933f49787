/*
 * session/script_load.c - asking a server for scripts, and loading them.
 */
#include "session/script_load.h"

#include "base/mem.h"
#include "command/outcome.h"
#include "command/script_memory.h"
#include "resp/encode.h"
#include "session/body_words.h"
#include "session/holding.h"
#include "session/key_watch.h"
#include "session/replica_read.h"
#include "session/scripts.h"
#include "session/session.h"

struct script_load {
    struct call call;
    struct request *request; /* a ref */
    struct server *server;   /* which is asked */
    bool is_loading;         /* it has said what it lacks */
    bool is_for_answer;      /* of one script, about a NOSCRIPT ... */
    bool is_servers_word;    /* ... that the script has surely not said */
    uint32_t count;          /* that it is asked for; then, that it lacks */
    struct script_digest digests[];
};

static const struct call_ops script_load_ops;

/* --- what is sent ------------------------------------------------------------- */

static void
set_body(struct script_load *load, struct buf *text)
{
    struct chunk_pool *chunks = loop_chunks(load->request->pool->env->loop);

    chunk_unref(&load->call.body.chunk);
    load->call.body = extent_copy_alone(chunks, buf_view(text));
    buf_fini(text);
}

static void
encode_question(struct script_load *load)
{
    struct buf text = {0};
    char hex[SCRIPT_DIGEST_HEX];

    encode_array(&text, load->count + 2);
    encode_bulk_str(&text, "SCRIPT");
    encode_bulk_str(&text, "EXISTS");
    for (uint32_t i = 0; i < load->count; i++) {
        script_digest_write(&load->digests[i], hex);
        encode_bulk(&text, view_of(hex, sizeof(hex)));
    }
    set_body(load, &text);
}

/* One command for each script that is known; their number. */
static uint32_t
encode_scripts(struct script_load *load)
{
    struct script_memory *memory = load->request->pool->scripts;
    struct buf text = {0}, body = {0};
    uint32_t known = 0;

    for (uint32_t i = 0; i < load->count; i++) {
        body.len = 0;
        if (!script_memory_find(memory, &load->digests[i], &body))
            continue;
        encode_array(&text, 3);
        encode_bulk_str(&text, "SCRIPT");
        encode_bulk_str(&text, "LOAD");
        encode_bulk(&text, buf_view(&body));
        known++;
    }
    buf_fini(&body);
    if (known > 0)
        set_body(load, &text);
    return known;
}

static bool
submit(struct script_load *load)
{
    struct request *request = load->request;
    struct session *session = request->session;

    return server_submit(load->server,
                         attempt_lane_key(session, &request->attempt),
                         session->lane_number, &load->call);
}

/* --- its end --------------------------------------------------------------------- */

/* As it is told of in the queue: does somebody still wait for it? */
static bool
is_wanted(const struct script_load *load)
{
    const struct request *request = load->request;

    if (request->session == NULL || request->done)
        return false;
    return !load->is_for_answer || request->attempt.hold == HOLD_DOUBT;
}

static void
end_answer(struct request *request, bool is_there)
{
    struct attempt *attempt = &request->attempt;

    holding_drop(request, attempt);
    if (!is_there) {
        request_done(request); /* by what was said */
        return;
    }
    request_undo(request);
    holding_take_anew(request, attempt);
}

static void
end_ahead(struct request *request)
{
    if (request->ends_watch && key_watch_is_broken(request->session))
        key_watch_take_loss(request, false);
    else
        request_submit(request);
}

/* `is_there`: what it lacked has been loaded. */
static void
end(struct script_load *load, bool is_there)
{
    struct request *request = load->request;

    if (is_wanted(load)) {
        if (load->is_for_answer)
            end_answer(request, is_there);
        else
            end_ahead(request);
    }
    request_unref(&load->request);
    chunk_unref(&load->call.body.chunk);
    mem_free(load);
}

/* --- what the server says --------------------------------------------------------- */

/* Keep those which it has answered 0 for.  False: that is no answer. */
static bool
keep_missing(struct script_load *load, struct view line)
{
    struct buf head = {0};
    uint32_t missing = 0;

    encode_array(&head, load->count);
    bool is_good = line.len == head.len + 4 * (size_t)load->count &&
        memcmp(line.data, head.data, head.len) == 0;
    const char *number = line.data + head.len;
    buf_fini(&head);
    for (uint32_t i = 0; is_good && i < load->count; i++, number += 4) {
        is_good = number[0] == ':' && (number[1] == '0' || number[1] == '1');
        if (number[1] == '0')
            load->digests[missing++] = load->digests[i];
    }
    load->count = missing;
    return is_good;
}

static void
load_missing(struct script_load *load)
{
    uint32_t known = encode_scripts(load);

    if (known == 0) {
        end(load, false);
        return;
    }
    cell_add(&load->request->pool->stats->scripts_loaded, known);
    load->is_loading = true;
    load->call.leading = known - 1;
    if (!submit(load))
        end(load, false);
}

static void
on_reply(struct call *call, const struct reply_piece *piece)
{
    struct script_load *load = CONTAINER_OF(call, struct script_load, call);
    struct view line = view_of(piece->chunk->data + piece->off, piece->len);

    if (!piece->last)
        return;
    if (load->is_loading)
        end(load, piece->type == '$');
    else if (!is_wanted(load) || piece->size != piece->len ||
             !keep_missing(load, line))
        end(load, false);
    else if (load->count == 0) /* somebody has loaded it meanwhile */
        end(load, load->is_servers_word);
    else
        load_missing(load);
}

static void
on_lost(struct call *call, enum close_reason why UNUSED, bool sent UNUSED)
{
    end(CONTAINER_OF(call, struct script_load, call), false);
}

static const struct call_ops script_load_ops = {
    .on_reply = on_reply,
    .on_lost = on_lost,
};

/* --- its beginning ------------------------------------------------------------------ */

static struct script_load *
script_load_new(struct request *request, uint32_t capacity)
{
    struct script_load *load = mem_zalloc(
        sizeof(*load) + capacity * sizeof(struct script_digest));

    call_init(&load->call, &script_load_ops);
    load->request = request;
    load->server = request_server(request);
    request->refs++;
    return load;
}

static void
add_if_known(struct script_load *load, const struct script_digest *digest)
{
    if (script_memory_has(load->request->pool->scripts, digest))
        load->digests[load->count++] = *digest;
}

/* False: there is nothing to ask for, or nobody to be asked. */
static bool
begin(struct script_load *load)
{
    struct request *request = load->request;

    if (load->count > 0) {
        encode_question(load);
        if (submit(load))
            return true;
    }
    request_unref(&request);
    chunk_unref(&load->call.body.chunk);
    mem_free(load);
    return false;
}

/* The digest that EVALSHA names. */
static bool
find_digest(const struct request *request, struct script_digest *digest)
{
    struct request_scan scan;

    if (request->call.body.chunk == NULL)
        return false;
    struct command_args args = body_words(&scan, &request->call.body);
    bool is_digest = script_digest_parse(command_arg(&args, 1), digest);
    request_scan_fini(&scan);
    return is_digest;
}

static bool
mentions(struct view text)
{
    return memmem(text.data, text.len, "NOSCRIPT", 8) != NULL;
}

/* As one version or another of them has it. */
static bool
is_servers_text(struct view line)
{
    return view_equal(line, VIEW("-NOSCRIPT No matching script. Please use "
                                 "EVAL.\r\n")) ||
        view_equal(line, VIEW("-NOSCRIPT No matching script.\r\n"));
}

/* A script that knows the word, or was given it, may have said it. */
static bool
is_servers_word(const struct request *request, struct view line,
                const struct script_digest *digest)
{
    const struct extent *bytes = &request->call.body;
    struct buf body = {0};

    bool is_known =
        script_memory_find(request->pool->scripts, digest, &body);
    bool is_its = is_known && is_servers_text(line) &&
        request->script_loads == 0 && !mentions(buf_view(&body)) &&
        !mentions(view_of(bytes->chunk->data + bytes->off, bytes->len));
    buf_fini(&body);
    return is_its;
}

bool
script_load_for_answer(struct request *request, const struct reply_piece *piece)
{
    struct script_digest digest;

    if (request->job != NULL || request_is_gone(request) ||
        !find_digest(request, &digest))
        return false;
    struct script_load *load = script_load_new(request, 1);
    load->is_for_answer = true;
    load->is_servers_word = is_servers_word(
        request, view_of(piece->chunk->data + piece->off, piece->len),
        &digest);
    add_if_known(load, &digest);
    if (!begin(load))
        return false;
    request->attempt.outcome = OUTCOME_NOSCRIPT;
    holding_take_doubtful(request, &request->attempt, piece);
    return true;
}

bool
script_load_ahead(struct request *request)
{
    struct script_wants *wants = request->wants;
    struct server *server = request_server(request);

    if (wants->server == server)
        return false;
    wants->server = server;
    struct script_load *load = script_load_new(request, wants->count);
    for (uint32_t i = 0; i < wants->count; i++)
        add_if_known(load, &wants->digests[i]);
    return begin(load);
}
