/*
 * tests/replay/steps.c - the language of the scripts: patterns and verbs.
 *
 * In a pattern $ stands for one word and @ for the rest of the line.  The
 * table at the end is the whole language; tests/replay/README says it at more
 * length.
 */
#include "steps.h"

#include "steps_priv.h"

#include <inttypes.h>

#include "expect.h"
#include "session/session.h"

#define US_PER_MS 1000

struct step {
    const char *pattern;
    void (*run)(struct world *world, const struct args *args);
};

static uint64_t
number_of(const struct world *world, struct view text)
{
    uint64_t number;

    if (!view_to_u64(text, &number))
        world_fail(world, "not a number: %.*s", (int)text.len, text.data);
    return number;
}

/* --- connections ---------------------------------------------------------- */

static void
step_connect(struct world *world, const struct args *args)
{
    int fd;

    if (world->settings == NULL)
        world_fail(world, "there is no pool yet");
    world_add_peer(world, args->at[0], fake_client(world->loop, &fd));
    (void)session_new(world->env.pools[0], fd, ++world->sessions);
}

static struct fake_peer *
get_asked(struct world *world, struct view server)
{
    struct fake_peer *peer =
        fake_find_asked(world->loop, world_get_port(world, server));

    if (peer == NULL)
        world_fail(world, "nobody connects to %.*s", (int)server.len,
                   server.data);
    return peer;
}

static void
step_accept_as(struct world *world, const struct args *args)
{
    fake_answer(world_add_peer(world, args->at[1],
                               get_asked(world, args->at[0])),
                FAKE_OPEN);
}

static void
step_accept(struct world *world, const struct args *args)
{
    step_accept_as(world, &(struct args){{args->at[0], args->at[0]}});
}

static void
step_refuse(struct world *world, const struct args *args)
{
    fake_answer(get_asked(world, args->at[0]), FAKE_REFUSED);
}

static void
step_hang(struct world *world, const struct args *args)
{
    fake_answer(get_asked(world, args->at[0]), FAKE_HUNG);
}

static void
step_no_descriptors(struct world *world, const struct args *args)
{
    (void)args;
    fake_set_descriptors(world->loop, false);
}

static void
step_descriptors(struct world *world, const struct args *args)
{
    (void)args;
    fake_set_descriptors(world->loop, true);
}

static void
step_short(struct world *world, const struct args *args)
{
    (void)args;
    budget_set_short(&world->budget, true);
}

static void
step_enough(struct world *world, const struct args *args)
{
    (void)args;
    budget_set_short(&world->budget, false);
}

/* --- what peers do -------------------------------------------------------- */

static struct fake_peer *
peer_of(struct world *world, const struct args *args)
{
    return world_get_peer(world, args->at[0])->peer;
}

static void
step_send(struct world *world, const struct args *args)
{
    struct buf bytes = {0};

    talk_expand(&bytes, args->at[1]);
    fake_send(peer_of(world, args), buf_view(&bytes));
    buf_fini(&bytes);
}

static void
step_send_words(struct world *world, const struct args *args)
{
    struct buf bytes = {0};

    talk_encode(&bytes, args->at[1]);
    fake_send(peer_of(world, args), buf_view(&bytes));
    buf_fini(&bytes);
}

static void
step_pieces(struct world *world, const struct args *args)
{
    uint64_t size = number_of(world, args->at[1]);

    peer_of(world, args)->piece = size == 0 ? FAKE_ANY : size;
}

static void
step_whole(struct world *world, const struct args *args)
{
    peer_of(world, args)->piece = FAKE_ANY;
}

static void
step_close(struct world *world, const struct args *args)
{
    fake_close(peer_of(world, args));
}

static void
step_half_close(struct world *world, const struct args *args)
{
    fake_finish(peer_of(world, args));
}

static void
step_reset(struct world *world, const struct args *args)
{
    fake_reset(peer_of(world, args));
}

static void
step_stop_reading(struct world *world, const struct args *args)
{
    peer_of(world, args)->window = 0;
}

static void
step_read(struct world *world, const struct args *args)
{
    peer_of(world, args)->window += number_of(world, args->at[1]);
}

static void
step_read_on(struct world *world, const struct args *args)
{
    peer_of(world, args)->window = FAKE_ANY;
}

/* --- time, control -------------------------------------------------------- */

/* +15s, +200ms, +50us */
static void
step_time(struct world *world, const struct args *args)
{
    struct view text = args->at[0];
    uint64_t unit = 1;
    size_t digits = 1;

    while (digits < text.len && text.data[digits] >= '0' &&
           text.data[digits] <= '9')
        digits++;
    struct view name = view_of(text.data + digits, text.len - digits);
    if (view_equal(name, VIEW("ms")))
        unit = US_PER_MS;
    else if (view_equal(name, VIEW("s")))
        unit = 1000 * US_PER_MS;
    else if (!view_equal(name, VIEW("us")) || text.data[0] != '+')
        world_fail(world, "allowed are +Ns, +Nms and +Nus");
    if (!fake_advance(world->loop,
                      unit *
                          number_of(world, view_of(text.data + 1, digits - 1))))
        world_fail(world, "the loop does not come to rest");
}

static void
step_hold(struct world *world, const struct args *args)
{
    (void)args;
    world->is_holding = true;
}

static void
step_go(struct world *world, const struct args *args)
{
    (void)args;
    world->is_holding = false;
}

static void
step_drain(struct world *world, const struct args *args)
{
    (void)args;
    session_env_drain(&world->env);
}

/* down, half-open or up */
static void
step_verdict(struct world *world, const struct args *args)
{
    static const enum health_state states[] = {HEALTH_DOWN, HEALTH_HALF_OPEN,
                                               HEALTH_UP};
    static const char *const names[] = {"down", "half-open", "up"};
    uint32_t shard = (uint32_t)world_get_server(world, args->at[0]);

    for (size_t i = 0; i < ARRAY_LEN(states); i++) {
        if (!view_equal(args->at[1], view_str(names[i])))
            continue;
        pool_set_verdict(world->env.pools[0]->pool, shard, states[i]);
        return;
    }
    world_fail(world, "allowed are down, half-open and up");
}

/* --- expectations --------------------------------------------------------- */

static void
step_expect_bytes(struct world *world, const struct args *args)
{
    struct buf bytes = {0};

    talk_expand(&bytes, args->at[1]);
    expect_bytes(world, world_get_peer(world, args->at[0]), buf_view(&bytes));
    buf_fini(&bytes);
}

static void
step_expect_words(struct world *world, const struct args *args)
{
    struct buf bytes = {0};

    talk_encode(&bytes, args->at[1]);
    expect_bytes(world, world_get_peer(world, args->at[0]), buf_view(&bytes));
    buf_fini(&bytes);
}

/* Where the bytes before the end that is named do not matter. */
static void
step_take_up_to(struct world *world, const struct args *args)
{
    struct fake_peer *peer = peer_of(world, args);
    struct view came = fake_received(peer);
    struct buf end = {0};

    talk_expand(&end, args->at[1]);
    const char *found = memmem(came.data, came.len, end.data, end.len);
    if (found == NULL)
        world_fail(world, "it has not come, but %zu other bytes", came.len);
    fake_take(peer, (size_t)(found - came.data) + end.len);
    buf_fini(&end);
}

static void
step_expect_nothing(struct world *world, const struct args *args)
{
    expect_nothing(world, world_get_peer(world, args->at[0]));
}

static void
step_expect_closed(struct world *world, const struct args *args)
{
    expect_closed(world, world_get_peer(world, args->at[0]), true);
}

static void
step_expect_open(struct world *world, const struct args *args)
{
    expect_closed(world, world_get_peer(world, args->at[0]), false);
}

static void
step_expect_connections(struct world *world, const struct args *args)
{
    unsigned count =
        fake_count(world->loop, world_get_port(world, args->at[0]));

    if (count != number_of(world, args->at[1]))
        world_fail(world, "there are %u", count);
}

static size_t
unread_of(struct world *world, const struct args *args)
{
    const struct fake_peer *peer = peer_of(world, args);

    return peer->to_proxy.len - peer->read;
}

static void
step_expect_all_read(struct world *world, const struct args *args)
{
    if (unread_of(world, args) != 0)
        world_fail(world, "%zu bytes are unread", unread_of(world, args));
}

static void
step_expect_unread(struct world *world, const struct args *args)
{
    if (unread_of(world, args) == 0)
        world_fail(world, "everything is read");
}

static void
step_expect_memory(struct world *world, const struct args *args)
{
    uint64_t held = fake_live_bytes(world->loop);

    if (held >= number_of(world, args->at[0]))
        world_fail(world, "chunks hold %" PRIu64 " bytes", held);
}

/* What a script logs goes to a file, which standard error is. */
static void
step_expect_logged(struct world *world, const struct args *args)
{
    struct stat status;
    struct buf text = {0};

    if (fstat(STDERR_FILENO, &status) < 0 || !S_ISREG(status.st_mode))
        world_fail(world, "standard error is no file");
    char *to = buf_reserve(&text, (size_t)status.st_size);
    ssize_t len = pread(STDERR_FILENO, to, (size_t)status.st_size, 0);
    if (len < 0 ||
        memmem(to, (size_t)len, args->at[0].data, args->at[0].len) == NULL)
        world_fail(world, "it is not in the log");
    buf_fini(&text);
}

static void
step_pool_stat(struct world *world, const struct args *args)
{
    expect_pool_stat(world, args->at[0], number_of(world, args->at[1]));
}

static void
step_server_stat(struct world *world, const struct args *args)
{
    expect_server_stat(world, args->at[0], args->at[1],
                       number_of(world, args->at[2]));
}

static void
step_closed(struct world *world, const struct args *args)
{
    expect_closed_for(world, args->at[0], args->at[1],
                      number_of(world, args->at[2]));
}

static void
step_ended(struct world *world, const struct args *args)
{
    expect_ended(world, args->at[0], number_of(world, args->at[1]));
}

/* Those that control has not been told before. */
static void
step_incidents(struct world *world, const struct args *args)
{
    static const char *const names[] = {
        [INCIDENT_LOST] = "lost",       [INCIDENT_EXPIRED] = "expired",
        [INCIDENT_SLOW] = "slow",       [INCIDENT_REFUSAL] = "refusal",
        [INCIDENT_SILENT] = "silent",   [INCIDENT_CONNECT] = "connect",
        [INCIDENT_ADDRESS] = "address",
    };
    uint32_t shard = (uint32_t)world_get_server(world, args->at[0]);
    struct server *server = 
        generation_server(world->env.pools[0]->pool->current, shard);

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (names[i] == NULL || !view_equal(args->at[1], view_str(names[i])))
            continue;
        if (server->incidents.of[i] != number_of(world, args->at[2]))
            world_fail(world, "there are %u", server->incidents.of[i]);
        server->incidents.of[i] = 0;
        return;
    }
    world_fail(world, "no incident is called %.*s", (int)args->at[1].len,
               args->at[1].data);
}

static void
step_nothing(struct world *world, const struct args *args)
{
    (void)world;
    (void)args;
}

/* --- the language --------------------------------------------------------- */

/* The first that matches is taken. */
static const struct step steps[] = {
    {"pieces $", step_nothing}, /* read before the script runs */
    {"pool $ servers @", step_pool},
    {"yaml <<END", step_yaml},
    {"cluster @", step_cluster},
    {"map @", step_map},
    {"name of $ leads to @", step_addresses},
    {"expect $ asked at $", step_expect_asked},
    {"masters @", step_masters},
    {"sentinels say @", step_sentinels_say},
    {"expect hints told $", step_expect_hints},
    {"expect hint $", step_expect_hint},
    {"hints are taken", step_take_hints},
    {"client $ connects", step_connect},
    {"server $ accepts", step_accept},
    {"server $ accepts as $", step_accept_as},
    {"server $ refuses", step_refuse},
    {"server $ hangs", step_hang},
    {"descriptors run out", step_no_descriptors},
    {"descriptors are back", step_descriptors},
    {"memory is short", step_short},
    {"memory is enough", step_enough},
    {"time $", step_time},
    {"hold", step_hold},
    {"go", step_go},
    {"drain", step_drain},
    {"answer question @", step_answer_question},
    {"workers are asked", step_ask_workers},
    {"expect logged @", step_expect_logged},
    {"verdict $ $", step_verdict},
    {"incidents $ $ $", step_incidents},
    {"expect question $", step_expect_question},
    {"expect nothing from $", step_expect_nothing},
    {"expect all read from $", step_expect_all_read},
    {"expect unread from $", step_expect_unread},
    {"expect memory below $", step_expect_memory},
    {"expect $ closed", step_expect_closed},
    {"expect $ open", step_expect_open},
    {"expect $ connections $", step_expect_connections},
    {"stat pool $ $", step_pool_stat},
    {"stat ended $ $", step_ended},
    {"stat $ closed $ $", step_closed},
    {"stat $ $ $", step_server_stat},
    {"$ > @", step_send},
    {"$ >> @", step_send_words},
    {"$ < @", step_expect_bytes},
    {"$ << @", step_expect_words},
    {"$ takes up to @", step_take_up_to},
    {"$ speaks in pieces of $", step_pieces},
    {"$ speaks whole", step_whole},
    {"$ closes", step_close},
    {"$ half-closes", step_half_close},
    {"$ resets", step_reset},
    {"$ stops reading", step_stop_reading},
    {"$ reads on", step_read_on},
    {"$ reads $", step_read},
};

static bool
matches(const char *pattern, struct view line, struct args *args)
{
    struct view rest = view_str(pattern), part, word;
    size_t count = 0;

    while ((part = talk_word(&rest)).len > 0) {
        if (view_equal(part, VIEW("@"))) {
            /* One space parts it from the word before. */
            args->at[count] =
                line.len > 0 ? view_of(line.data + 1, line.len - 1) : line;
            return true;
        }
        word = talk_word(&line);
        if (word.len == 0)
            return false;
        if (view_equal(part, VIEW("$")))
            args->at[count++] = word;
        else if (!view_equal(part, word))
            return false;
    }
    return talk_word(&line).len == 0;
}

static void
run_line(struct world *world, struct view line)
{
    struct args args = {{{0}}};

    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        if (matches(steps[i].pattern, line, &args)) {
            steps[i].run(world, &args);
            return;
        }
    }
    world_fail(world, "no step looks like this");
}

void
steps_run(struct world *world)
{
    const struct talk *talk = world->talk;

    while (world->line < talk->count) {
        const char *line = talk->lines[world->line++];
        if (line[0] == '\0')
            continue;
        run_line(world, view_str(line));
        world_settle(world);
    }
    for (size_t i = 0; i < world->peer_count; i++)
        expect_nothing(world, &world->peers[i]);
}

size_t
steps_piece(const struct talk *talk)
{
    struct args args = {{{0}}};
    uint64_t size;

    for (unsigned i = 0; i < talk->count; i++) {
        if (!matches("pieces $", view_str(talk->lines[i]), &args))
            continue;
        return view_to_u64(args.at[0], &size) ? size : FAKE_ANY;
    }
    return 1;
}
