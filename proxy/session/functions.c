/*
 * session/functions.c - asking the shards for their functions.
 */
#include "session/functions.h"

#include "base/dict.h"
#include "base/mem.h"
#include "command/functions.h"

#define LIST_WORDS "*2\r\n$8\r\nFUNCTION\r\n$4\r\nLIST\r\n"

enum functions_state { FUNCTIONS_ASKED, FUNCTIONS_KNOWN, FUNCTIONS_FAILED };

/* A function of some shard. */
struct known_function {
    struct dict_entry entry;
    bool only_reads;
    char name[];
};

/* The question to one shard. */
struct function_call {
    struct call call;
    struct functions *functions;
    struct server *server;
    struct buf reply;
};

struct functions {
    struct session_pool *pool; /* NULL: nobody wants to know any more */
    void (*on_known)(struct session_pool *pool);
    struct generation *generation; /* a ref */
    struct timer patience;
    enum functions_state state;
    struct dict known;
    uint32_t left; /* calls that are not idle */
    uint32_t count;
    struct function_call calls[];
};

/* --- what has been said ---------------------------------------------------------- */

/* What one shard says counts only if the others do not say otherwise. */
static void
note_function(void *arg, const struct function *function)
{
    struct functions *functions = arg;
    struct dict_entry *entry = dict_find(&functions->known, function->name);

    if (entry != NULL) {
        struct known_function *known =
            CONTAINER_OF(entry, struct known_function, entry);
        known->only_reads = known->only_reads && function->only_reads;
        return;
    }
    struct known_function *known =
        mem_zalloc(sizeof(*known) + function->name.len);
    memcpy(known->name, function->name.data, function->name.len);
    known->entry.key = view_of(known->name, function->name.len);
    known->only_reads = function->only_reads;
    dict_add(&functions->known, &known->entry);
}

static void
forget_all(struct functions *functions)
{
    struct dict_entry *entry;

    while ((entry = dict_next(&functions->known, NULL)) != NULL) {
        dict_remove(&functions->known, entry);
        mem_free(CONTAINER_OF(entry, struct known_function, entry));
    }
}

static void
fail(struct functions *functions)
{
    if (functions->state == FUNCTIONS_ASKED)
        functions->state = FUNCTIONS_FAILED;
}

/* --- what lanes say ---------------------------------------------------------------- */

static void
release(struct functions *functions)
{
    if (functions->left > 0 || functions->pool != NULL)
        return;
    for (uint32_t i = 0; i < functions->count; i++) {
        chunk_unref(&functions->calls[i].call.body.chunk);
        buf_fini(&functions->calls[i].reply);
    }
    forget_all(functions);
    generation_unref(&functions->generation);
    mem_free(functions);
}

/* One call less is under way. */
static void
call_is_over(struct functions *functions)
{
    if (--functions->left == 0) {
        timer_stop(&functions->patience);
        if (functions->state == FUNCTIONS_ASKED) {
            functions->state = FUNCTIONS_KNOWN;
            if (functions->pool != NULL)
                functions->on_known(functions->pool);
        }
    }
    release(functions);
}

static void
on_reply(struct call *call, const struct reply_piece *piece)
{
    struct function_call *asked =
        CONTAINER_OF(call, struct function_call, call);
    struct functions *functions = asked->functions;

    if (piece->size > FUNCTIONS_REPLY_MAX)
        fail(functions);
    if (functions->state == FUNCTIONS_ASKED)
        buf_append(&asked->reply, piece->chunk->data + piece->off, piece->len);
    if (!piece->last)
        return;
    if (functions->state == FUNCTIONS_ASKED &&
        !functions_read(buf_view(&asked->reply), note_function, functions))
        fail(functions);
    buf_fini(&asked->reply);
    call_is_over(functions);
}

static void
on_lost(struct call *call, enum close_reason why UNUSED, bool sent UNUSED)
{
    struct functions *functions =
        CONTAINER_OF(call, struct function_call, call)->functions;

    fail(functions);
    call_is_over(functions);
}

static const struct call_ops function_call_ops = {
    .on_reply = on_reply,
    .on_lost = on_lost,
};

/* --- asking ---------------------------------------------------------------------------- */

static void
on_patience(struct timer *timer UNUSED, void *arg)
{
    struct functions *functions = arg;

    fail(functions);
    for (uint32_t i = 0; i < functions->count; i++) {
        struct function_call *asked = &functions->calls[i];
        if (asked->call.state == CALL_SENT)
            server_on_expired(asked->server, &asked->call);
    }
}

static void
ask_one(struct functions *functions, uint32_t shard)
{
    struct session_pool *pool = functions->pool;
    struct function_call *asked = &functions->calls[shard];
    struct lane_key key = {.resp = 2};

    call_init(&asked->call, &function_call_ops);
    asked->functions = functions;
    asked->server = generation_server(functions->generation, shard);
    asked->call.body =
        extent_copy(loop_chunks(pool->env->loop), VIEW(LIST_WORDS));
    if (server_submit(asked->server, key, 0, &asked->call))
        functions->left++;
    else
        fail(functions);
}

struct functions *
functions_ask(struct session_pool *pool,
              void (*on_known)(struct session_pool *pool))
{
    struct generation *generation = pool->pool->current;
    uint32_t count = generation->shard_count;
    struct functions *functions =
        mem_zalloc(sizeof(*functions) + count * sizeof(struct function_call));

    functions->pool = pool;
    functions->on_known = on_known;
    functions->generation = generation_ref(generation);
    functions->count = count;
    timer_init(&functions->patience, pool->env->loop, on_patience, functions);
    timer_start(&functions->patience,
                (int64_t)pool->settings->request_timeout_ms);
    for (uint32_t i = 0; i < count; i++)
        ask_one(functions, i);
    if (functions->left == 0)
        fail(functions);
    return functions;
}

void
functions_free(struct functions **functionsp)
{
    struct functions *functions = *functionsp;

    *functionsp = NULL;
    if (functions == NULL)
        return;
    functions->pool = NULL;
    timer_stop(&functions->patience);
    functions->left++; /* what is taken back is not the last */
    for (uint32_t i = 0; i < functions->count; i++) {
        struct function_call *asked = &functions->calls[i];
        if (asked->call.state == CALL_WAITING &&
            server_withdraw(asked->server, &asked->call))
            functions->left--;
    }
    functions->left--;
    release(functions);
}

bool
functions_have_failed(const struct functions *functions)
{
    return functions->state == FUNCTIONS_FAILED;
}

bool
functions_only_reads(const struct functions *functions, struct view name)
{
    struct dict_entry *entry = functions->state == FUNCTIONS_KNOWN
        ? dict_find(&functions->known, name)
        : NULL;

    return entry != NULL &&
        CONTAINER_OF(entry, struct known_function, entry)->only_reads;
}
