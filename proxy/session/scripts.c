/*
 * session/scripts.c - noting what clients show, and errors about it.
 */
#include "session/scripts.h"

#include "base/mem.h"
#include "command/outcome.h"
#include "command/script_memory.h"
#include "command/shebang.h"
#include "route/hash.h"
#include "session/body_words.h"
#include "session/script_load.h"
#include "session/session.h"

#define SHOWN 64               /* a power of two */
#define RECENT_US 10000000     /* then it is noted again, as still in use */
#define LOADS_MAX 4            /* for one request: replicas have their own */
#define WANTS_MAX 1024         /* scripts of one transaction; others may fail */

/* What this worker has noted lately, so that it need not again. */
struct shown_scripts {
    struct shown_script {
        uint64_t key;
        uint64_t losses; /* of the memory at that time */
        uint64_t until_us;
    } scripts[SHOWN];
};

/* --- what was noted a moment ago -------------------------------------------- */

static bool
was_noted(struct session_pool *pool, uint64_t key)
{
    uint64_t now_us = loop_now_us(pool->env->loop);
    uint64_t losses = script_memory_losses(pool->scripts);

    if (pool->shown == NULL)
        pool->shown = MEM_NEW(struct shown_scripts);
    struct shown_script *shown = &pool->shown->scripts[key & (SHOWN - 1)];
    if (shown->key == key && shown->losses == losses &&
        now_us < shown->until_us)
        return true;
    *shown = (struct shown_script){key, losses, now_us + RECENT_US};
    return false;
}

/* Two bodies with one key would be a pity for the second, and no more. */
static void
note_body(struct session_pool *pool, struct view body)
{
    uint64_t key = (uint64_t)body.len << 32 | hash_xxh3(body, false);

    if (!was_noted(pool, key))
        (void)script_memory_keep(pool->scripts, body, false);
}

static void
note_use(struct session_pool *pool, struct view hex)
{
    struct script_digest digest;
    uint64_t key;

    if (hex.len != SCRIPT_DIGEST_HEX)
        return;
    memcpy(&key, hex.data, sizeof(key));
    if (!was_noted(pool, key) && script_digest_parse(hex, &digest))
        script_memory_touch(pool->scripts, &digest);
}

static bool
is_good_flush(const struct command_args *args)
{
    if (args->argc == 2)
        return true;
    struct view how = command_arg(args, 2);
    return args->argc == 3 && (view_equal_nocase(how, VIEW("SYNC")) ||
                               view_equal_nocase(how, VIEW("ASYNC")));
}

void
scripts_note(const struct incoming *in)
{
    struct session_pool *pool = in->session->pool;

    if (pool->settings->script_cache_bytes == 0)
        return;
    switch ((int)in->command->id) {
    case COMMAND_ID_EVAL:
    case COMMAND_ID_EVAL_RO:
        note_body(pool, command_arg(&in->args, 1));
        break;
    case COMMAND_ID_EVALSHA:
    case COMMAND_ID_EVALSHA_RO:
        note_use(pool, command_arg(&in->args, 1));
        break;
    case COMMAND_ID_SCRIPT_LOAD:
        (void)script_memory_keep(pool->scripts, command_arg(&in->args, 2),
                                 true);
        break;
    case COMMAND_ID_SCRIPT_FLUSH:
        if (is_good_flush(&in->args))
            script_memory_clear(pool->scripts);
        break;
    default:
        break;
    }
}

static bool
kept_only_reads(struct session_pool *pool, struct view hex)
{
    struct script_digest digest;
    struct buf body = {0};

    bool result = script_digest_parse(hex, &digest) &&
        script_memory_find(pool->scripts, &digest, &body) &&
        shebang_has_flag(buf_view(&body), VIEW("no-writes"));
    buf_fini(&body);
    return result;
}

bool
scripts_only_reads(const struct incoming *in)
{
    struct view word = command_arg(&in->args, 1);

    switch ((int)in->command->id) {
    case COMMAND_ID_EVAL:
        return shebang_has_flag(word, VIEW("no-writes"));
    case COMMAND_ID_EVALSHA:
        return kept_only_reads(in->session->pool, word);
    default:
        return false;
    }
}

/* --- of a transaction --------------------------------------------------------- */

static bool
is_by_digest(const struct command *command)
{
    return command->id == COMMAND_ID_EVALSHA ||
        command->id == COMMAND_ID_EVALSHA_RO;
}

static bool
has_want(const struct script_wants *wants, const struct script_digest *digest)
{
    for (uint32_t i = 0; i < wants->count; i++)
        if (script_digest_equal(&wants->digests[i], digest))
            return true;
    return false;
}

static void
add_want(struct script_wants **wantsp, const struct script_digest *digest)
{
    struct script_wants *wants = *wantsp;

    if (wants == NULL || wants->count == wants->capacity) {
        uint32_t count = wants == NULL ? 0 : wants->count;
        uint32_t capacity = MAX(2 * count, 4u);
        wants = mem_realloc(wants, sizeof(*wants) +
                                capacity * sizeof(struct script_digest));
        wants->server = NULL;
        wants->count = count;
        wants->capacity = capacity;
        *wantsp = wants;
    }
    wants->digests[wants->count++] = *digest;
}

void
scripts_want(struct script_wants **wants, const struct incoming *in)
{
    struct script_digest digest;

    if (!is_by_digest(in->command) ||
        in->session->pool->settings->script_cache_bytes == 0 ||
        !script_digest_parse(command_arg(&in->args, 1), &digest))
        return;
    if (*wants == NULL ||
        (!has_want(*wants, &digest) && (*wants)->count < WANTS_MAX))
        add_want(wants, &digest);
}

/* --- SCRIPT EXISTS and LOAD ---------------------------------------------------- */

uint8_t *
scripts_known(const struct incoming *in)
{
    struct script_memory *memory = in->session->pool->scripts;
    uint8_t *known = mem_array(in->args.argc, 1);
    struct script_digest digest;

    for (uint32_t i = 2; i < in->args.argc; i++)
        known[i - 2] =
            script_digest_parse(command_arg(&in->args, i), &digest) &&
            script_memory_has(memory, &digest);
    return known;
}

void
scripts_forget(struct session_pool *pool, struct view body)
{
    struct script_digest digest;

    if (script_digest_of(body, &digest))
        script_memory_forget(pool->scripts, &digest);
}

/* --- errors ---------------------------------------------------------------------- */

/* No server will ever take it. */
static bool
is_compile_error(struct view line)
{
    const struct view words = VIEW("-ERR Error compiling script");

    return line.len > words.len &&
        view_equal(view_of(line.data, words.len), words);
}

static void
forget_body(struct request *request, uint32_t position)
{
    struct request_scan scan;

    if (request->call.body.chunk == NULL)
        return;
    struct command_args args = body_words(&scan, &request->call.body);
    scripts_forget(request->pool, command_arg(&args, position));
    request_scan_fini(&scan);
}

static bool
take_unknown(struct request *request, const struct reply_piece *piece)
{
    if (request->script_loads < LOADS_MAX &&
        script_load_for_answer(request, piece)) {
        request->script_loads++;
        return true;
    }
    if (!request->attempt.at_replica)
        cell_inc(&request->pool->stats->scripts_unknown);
    return false;
}

bool
scripts_take_error(struct request *request, const struct reply_piece *piece)
{
    struct view line = view_of(piece->chunk->data + piece->off, piece->len);

    if (!piece->last || piece->size != piece->len || request->begun)
        return false;
    switch ((int)request->command->id) {
    case COMMAND_ID_EVALSHA:
    case COMMAND_ID_EVALSHA_RO:
        return outcome_of(line) == OUTCOME_NOSCRIPT &&
            take_unknown(request, piece);
    case COMMAND_ID_EVAL:
    case COMMAND_ID_EVAL_RO:
        if (is_compile_error(line))
            forget_body(request, 1);
        return false;
    case COMMAND_ID_SCRIPT_LOAD:
        forget_body(request, 2);
        return false;
    default:
        return false;
    }
}
