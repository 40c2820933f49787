/*
 * session/databases.c - the numbers of databases in commands.
 */
#include "session/databases.h"

#include "resp/encode.h"
#include "session/local_priv.h"
#include "session/session.h"

/* The next word behind `before` that is a database's number; 0: there is none, or
 * the server says what is wrong. */
static uint32_t
next_number(const struct incoming *in, uint32_t before)
{
    const struct command_args *args = &in->args;

    if (in->command->id == COMMAND_ID_MOVE)
        return before == 0 ? 2 : 0;
    for (uint32_t i = MAX(before + 1, 3u); i + 1 < args->argc; i++) {
        if (view_equal_nocase(command_arg(args, i), VIEW("DB")))
            return i + 1;
    }
    return 0;
}

/* False: the server says what is wrong. */
static bool
read_index(struct view number, int64_t *index)
{
    return local_integer(number, index) && *index >= INT32_MIN &&
        *index <= INT32_MAX;
}

static bool
are_in_range(const struct incoming *in)
{
    uint64_t count = in->session->pool->settings->databases;
    uint32_t number = 0;
    int64_t index;

    while ((number = next_number(in, number)) != 0) {
        if (read_index(command_arg(&in->args, number), &index) &&
            (index < 0 || (uint64_t)index >= count))
            return false;
    }
    return true;
}

static void
answer_out_of_range(const struct incoming *in)
{
    struct buf *out = &in->session->pool->env->out;

    out->len = 0;
    encode_error(out, VIEW("ERR DB index is out of range"));
    answer_error(in->session, in->command, out,
                 &in->session->pool->stats->errors_refused);
}

static void
encode_shifted(struct view number, uint64_t by, struct buf *out)
{
    int64_t index;

    if (read_index(number, &index))
        encode_bulk_u64(out, by + (uint64_t)index);
    else
        encode_bulk(out, number);
}

/* The same words, and the server's numbers in the place of the client's. */
static struct extent
write_anew(const struct incoming *in)
{
    struct session_pool *pool = in->session->pool;
    uint32_t number = next_number(in, 0);
    struct buf words = {0};

    encode_array(&words, in->args.argc);
    for (uint32_t i = 0; i < in->args.argc; i++) {
        struct view word = command_arg(&in->args, i);
        if (i > 0 && i == number) {
            encode_shifted(word, pool->settings->redis_db, &words);
            number = next_number(in, number);
        } else {
            encode_bulk(&words, word);
        }
    }
    struct extent own =
        extent_copy(loop_chunks(pool->env->loop), buf_view(&words));
    buf_fini(&words);
    return own;
}

/* The words stay as they are: who reads them is the proxy. */
static void
act_on_others(const struct incoming *in,
              void (*act)(const struct incoming *))
{
    struct incoming others = *in;

    others.bytes = write_anew(in);
    act(&others);
    chunk_unref(&others.bytes.chunk);
}

void
databases_act(const struct incoming *in,
              void (*act)(const struct incoming *))
{
    const struct pool_settings *settings = in->session->pool->settings;
    /* In a cluster the server refuses what is not 0. */
    bool is_named = next_number(in, 0) != 0 && !pool_is_cluster(settings);

    if (is_named && !are_in_range(in))
        answer_out_of_range(in);
    else if (is_named && settings->redis_db > 0)
        act_on_others(in, act);
    else
        act(in);
}
