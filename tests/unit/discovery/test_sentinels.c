/*
 * tests/unit/discovery/test_sentinels.c - Sentinels on a net and a clock that are
 * written down.
 *
 * Three of them, on ports 26379 on, know the master "m" at port 7001; the first
 * or all are seeds.  What lasts for a minute lasts for no time here.
 */
#include "discovery/sentinels.h"

#include <stdio.h>

#include "base/mem.h"
#include "config/settings.h"
#include "discovery/names.h"
#include "fake_net.h"
#include "resp/encode.h"
#include "resp/reply_read.h"
#include "unit.h"

#define COUNT 3
#define FIRST_PORT 26379
#define PEERS_MAX 64
#define STEP_US 10000
#define EVERYBODY ((1 << COUNT) - 1)

/* One scripted Sentinel. */
struct actor {
    uint16_t master_port;
    unsigned epoch;
    unsigned lists;      /* others that it knows, by bit */
    bool is_dead;
    bool is_failing_over;
    struct fake_peer *listener; /* who hears its events */
};

struct scene {
    struct loop *loop;
    struct settings *settings;
    struct sentinels *sentinels;
    struct actor actors[COUNT];
    struct fake_peer *peers[PEERS_MAX];
    unsigned peer_count;
    uint16_t believed_port;
    uint64_t believed_epoch;
    enum gate gate;
};

/* --- names: nobody has one here -------------------------------------------------- */

const struct address_list *
names_find(struct names *names, const char *host)
{
    (void)names;
    (void)host;
    ck_abort_msg("a name is looked up");
}

void
names_hint(struct names *names, const char *host)
{
    (void)names;
    (void)host;
}

/* --- what control would do ----------------------------------------------------------- */

static uint64_t
find_epoch(struct sentinels *sentinels, const char *master)
{
    (void)sentinels;
    (void)master;
    return 0;
}

static void
on_epoch(struct sentinels *sentinels, const char *master, uint64_t epoch)
{
    struct scene *scene = sentinels_arg(sentinels);

    ck_assert_str_eq(master, "m");
    scene->believed_epoch = epoch;
}

static void
on_change(struct sentinels *sentinels, uint64_t asked_us)
{
    struct scene *scene = sentinels_arg(sentinels);
    struct roster *roster =
        sentinels_roster(sentinels, &scene->settings->pools[0]);

    (void)asked_us;
    scene->believed_port = roster->entries[0].address.port;
    roster_unref(&roster);
}

static void
on_gates(struct sentinels *sentinels, const enum gate *gates)
{
    struct scene *scene = sentinels_arg(sentinels);

    scene->gate = gates[0];
}

static void
on_same(struct sentinels *sentinels, uint64_t asked_us)
{
    (void)sentinels;
    (void)asked_us;
}

static const struct sentinels_ops ops = {
    .find_epoch = find_epoch,
    .on_epoch = on_epoch,
    .on_change = on_change,
    .on_gates = on_gates,
    .on_same = on_same,
};

/* --- what Sentinels say ---------------------------------------------------------------- */

static void
say_words(struct buf *out, const char *const *words, uint32_t count)
{
    encode_array(out, count);
    for (uint32_t i = 0; i < count; i++)
        encode_bulk_str(out, words[i]);
}

#define SAY(out, ...) \
    say_words(out, (const char *const[]){__VA_ARGS__}, \
              ARRAY_LEN(((const char *const[]){__VA_ARGS__})))

static void
say_run_id(char *text, unsigned number)
{
    snprintf(text, 41, "%040u", number + 1);
}

static void
say_master(struct buf *out, const struct actor *actor)
{
    char port[8], epoch[16];

    snprintf(port, sizeof(port), "%u", actor->master_port);
    snprintf(epoch, sizeof(epoch), "%u", actor->epoch);
    SAY(out, "name", "m", "ip", "127.0.0.1", "port", port, "flags",
        actor->is_failing_over ? "master,failover_in_progress" : "master",
        "config-epoch", epoch);
}

static void
say_others(struct buf *out, const struct actor *actor)
{
    encode_array(out, (uint32_t)__builtin_popcount(actor->lists));
    for (unsigned i = 0; i < COUNT; i++) {
        char port[8], run_id[41];
        if ((actor->lists >> i & 1) == 0)
            continue;
        snprintf(port, sizeof(port), "%u", FIRST_PORT + i);
        say_run_id(run_id, i);
        SAY(out, "ip", "127.0.0.1", "port", port, "runid", run_id, "flags",
            "sentinel");
    }
}

static void
answer(struct scene *scene, struct fake_peer *peer, struct view first,
       struct view second, struct buf *out)
{
    unsigned number = peer->port - FIRST_PORT;
    struct actor *actor = number < COUNT ? &scene->actors[number] : NULL;
    char text[41];

    if (view_equal(first, VIEW("SUBSCRIBE")) ||
        view_equal(first, VIEW("PSUBSCRIBE"))) {
        SAY(out, "psubscribe", "*", "1");
        if (actor != NULL)
            actor->listener = peer;
    } else if (view_equal(first, VIEW("PING"))) {
        SAY(out, "pong", "");
    } else if (view_equal(second, VIEW("MYID"))) {
        say_run_id(text, number);
        encode_bulk_str(out, text);
    } else if (view_equal(second, VIEW("MASTER"))) {
        say_master(out, actor);
    } else if (view_equal(second, VIEW("GET-MASTER-ADDR-BY-NAME"))) {
        snprintf(text, sizeof(text), "%u", actor->master_port);
        SAY(out, "127.0.0.1", text);
    } else {
        ck_assert(view_equal(second, VIEW("SENTINELS")));
        say_others(out, actor);
    }
}

/* One request that is here whole, as all are; false: there is none. */
static bool
serve_one(struct scene *scene, struct fake_peer *peer)
{
    struct view rest = fake_received(peer);
    size_t len = rest.len;
    struct reply_item array, word;
    struct view words[2] = {VIEW(""), VIEW("")};
    struct buf out = {0};

    if (len == 0)
        return false;
    ck_assert(reply_next(&rest, &array));
    for (uint64_t i = 0; i < array.count; i++) {
        ck_assert(reply_next(&rest, &word));
        if (i < ARRAY_LEN(words))
            words[i] = word.text;
    }
    answer(scene, peer, words[0], words[1], &out);
    fake_take(peer, len - rest.len);
    fake_send(peer, buf_view(&out));
    buf_fini(&out);
    return true;
}

static bool
is_dead(const struct scene *scene, uint16_t port)
{
    return port >= FIRST_PORT && scene->actors[port - FIRST_PORT].is_dead;
}

static void
accept_at(struct scene *scene, uint16_t port)
{
    struct fake_peer *peer;

    while ((peer = fake_find_asked(scene->loop, port)) != NULL) {
        if (is_dead(scene, port)) {
            fake_answer(peer, FAKE_REFUSED);
            continue;
        }
        fake_answer(peer, FAKE_OPEN);
        for (unsigned i = scene->peer_count; i-- > 0;) {
            if (scene->peers[i]->closed)
                scene->peers[i] = scene->peers[--scene->peer_count];
        }
        ck_assert_uint_lt(scene->peer_count, PEERS_MAX);
        scene->peers[scene->peer_count++] = peer;
    }
}

static void
serve(struct scene *scene)
{
    bool is_busy = true;

    while (is_busy) {
        for (unsigned i = 0; i < COUNT; i++)
            accept_at(scene, (uint16_t)(FIRST_PORT + i));
        accept_at(scene, 7001);
        accept_at(scene, 7002);
        ck_assert(fake_settle(scene->loop));
        is_busy = false;
        for (unsigned i = 0; i < scene->peer_count; i++) {
            struct fake_peer *peer = scene->peers[i];
            while (!peer->closed && serve_one(scene, peer))
                is_busy = true;
        }
        ck_assert(fake_settle(scene->loop));
    }
}

static void
let_pass(struct scene *scene, uint64_t ms)
{
    for (uint64_t us = 0; us < ms * 1000; us += STEP_US) {
        serve(scene);
        ck_assert(fake_advance(scene->loop, STEP_US));
    }
    serve(scene);
}

/* An event of one of them. */
static void
tell(struct scene *scene, unsigned number, const char *channel)
{
    struct fake_peer *listener = scene->actors[number].listener;
    struct buf out = {0};

    ck_assert_ptr_nonnull(listener);
    ck_assert(!listener->closed);
    SAY(&out, "pmessage", "*", channel,
        channel[1] == 't' && channel[2] == 'i' ? "#tilt mode"
                                               : "master m 127.0.0.1 7001");
    fake_send(listener, buf_view(&out));
    buf_fini(&out);
    let_pass(scene, 20);
}

static void
die(struct scene *scene, unsigned number)
{
    scene->actors[number].is_dead = true;
    for (unsigned i = 0; i < scene->peer_count; i++) {
        if (scene->peers[i]->port == FIRST_PORT + number &&
            !scene->peers[i]->closed)
            fake_close(scene->peers[i]);
    }
}

/* --- building up and taking down --------------------------------------------------------- */

static void
scene_init(struct scene *scene, unsigned seeds)
{
    struct buf yaml = {0}, messages = {0};

    *scene = (struct scene){.loop = loop_new()};
    for (unsigned i = 0; i < COUNT; i++)
        scene->actors[i] = (struct actor){
            .master_port = 7001,
            .epoch = 4,
            .lists = EVERYBODY & ~(1u << i),
        };
    buf_append_str(&yaml, "pointsman: {state_file: /f}\npool:\n"
                          "  listen: h:1\n  redis: true\n  sentinels:\n");
    for (unsigned i = 0; i < seeds; i++)
        buf_printf(&yaml, "    - 127.0.0.1:%u\n", FIRST_PORT + i);
    buf_append_str(&yaml, "  servers: [{name: s, master: m}]\n");
    scene->settings = settings_parse("pool", buf_view(&yaml), &messages);
    ck_assert_msg(scene->settings != NULL, "%.*s", (int)messages.len,
                  messages.data);
    buf_fini(&messages);
    buf_fini(&yaml);
    scene->sentinels = sentinels_new(
        scene->loop, NULL, &scene->settings->pools[0], &ops, scene);
    let_pass(scene, 1000);
    ck_assert_uint_eq(scene->believed_port, 7001);
    ck_assert_int_eq(scene->gate, GATE_OPEN);
}

static void
scene_fini(struct scene *scene)
{
    sentinels_free(&scene->sentinels);
    settings_free(&scene->settings);
    loop_free(&scene->loop);
}

static uint64_t
value_of(const struct cell *cell)
{
    return cell_get(cell);
}

#define VALUE(scene, name) value_of(&sentinels_stats((scene)->sentinels)->name)

static enum epoch_verdict
verdict(const struct scene *scene)
{
    struct sentinel_master_facts facts;

    ck_assert(sentinels_master(scene->sentinels, 0, &facts));
    return facts.verdict;
}

static void
say_all(struct scene *scene, uint16_t port, unsigned epoch)
{
    for (unsigned i = 0; i < COUNT; i++) {
        scene->actors[i].master_port = port;
        scene->actors[i].epoch = epoch;
    }
}

/* --- who counts ----------------------------------------------------------------------------- */

START_TEST(tilt_ends_by_itself)
{
    struct scene scene;

    scene_init(&scene, 3);
    tell(&scene, 0, "+tilt");
    tell(&scene, 1, "+tilt");
    let_pass(&scene, 10000);
    ck_assert_int_eq(verdict(&scene), EPOCH_TOO_FEW);
    say_all(&scene, 7002, 5);
    let_pass(&scene, 20000);
    ck_assert_uint_eq(scene.believed_port, 7001);
    /* Sentinel's own period is thirty seconds. */
    let_pass(&scene, 8000);
    ck_assert_uint_eq(scene.believed_port, 7002);
    ck_assert_uint_eq(scene.believed_epoch, 5);
    scene_fini(&scene);
}
END_TEST

START_TEST(tilt_ends_when_it_is_said)
{
    struct scene scene;

    scene_init(&scene, 3);
    tell(&scene, 0, "+tilt");
    tell(&scene, 1, "+tilt");
    say_all(&scene, 7002, 5);
    let_pass(&scene, 3000);
    ck_assert_uint_eq(scene.believed_port, 7001);
    tell(&scene, 0, "-tilt");
    tell(&scene, 1, "-tilt");
    let_pass(&scene, 1000);
    ck_assert_uint_eq(scene.believed_port, 7002);
    scene_fini(&scene);
}
END_TEST

START_TEST(learnt_sentinel_is_forgotten_after_a_minute)
{
    struct scene scene;

    scene_init(&scene, 1);
    ck_assert_uint_eq(VALUE(&scene, known), 3);
    ck_assert_uint_eq(VALUE(&scene, reached), 3);
    die(&scene, 2);
    for (unsigned i = 0; i < COUNT; i++)
        scene.actors[i].lists &= ~4u;
    let_pass(&scene, 50000);
    ck_assert_uint_eq(VALUE(&scene, known), 3);
    let_pass(&scene, 20000);
    ck_assert_uint_eq(VALUE(&scene, known), 2);
    /* It is learnt again when somebody lists it. */
    scene.actors[2].is_dead = false;
    scene.actors[0].lists |= 4;
    let_pass(&scene, 10000);
    ck_assert_uint_eq(VALUE(&scene, known), 3);
    ck_assert_uint_eq(VALUE(&scene, reached), 3);
    scene_fini(&scene);
}
END_TEST

START_TEST(listed_sentinel_that_is_dead_is_not_forgotten)
{
    struct scene scene;

    scene_init(&scene, 1);
    die(&scene, 2);
    let_pass(&scene, 120000);
    ck_assert_uint_eq(VALUE(&scene, known), 3);
    ck_assert_uint_eq(VALUE(&scene, reached), 2);
    ck_assert_int_eq(verdict(&scene), EPOCH_BELIEVED);
    scene_fini(&scene);
}
END_TEST

/* --- holding ------------------------------------------------------------------------------- */

START_TEST(who_held_for_nothing_is_not_heard_for_a_minute)
{
    struct scene scene;

    scene_init(&scene, 3);
    scene.actors[0].epoch = 90;
    tell(&scene, 0, "+config-update-from");
    ck_assert_int_eq(scene.gate, GATE_HELD);
    let_pass(&scene, 3000);
    ck_assert_int_eq(scene.gate, GATE_OPEN);
    scene.actors[0].epoch = 91;
    let_pass(&scene, 55000);
    ck_assert_int_eq(scene.gate, GATE_OPEN);
    ck_assert_uint_eq(VALUE(&scene, holds), 1);
    let_pass(&scene, 10000);
    ck_assert_uint_eq(VALUE(&scene, holds), 2);
    scene_fini(&scene);
}
END_TEST

START_TEST(failover_is_waited_for_and_followed)
{
    struct scene scene;

    scene_init(&scene, 3);
    scene.actors[0].is_failing_over = true;
    tell(&scene, 0, "+try-failover");
    ck_assert_int_eq(scene.gate, GATE_HELD);
    let_pass(&scene, 1000);
    tell(&scene, 0, "+failover-state-wait-promotion");
    ck_assert_int_eq(scene.gate, GATE_PROMOTING);
    scene.actors[0].is_failing_over = false;
    say_all(&scene, 7002, 5);
    tell(&scene, 0, "+promoted-slave");
    let_pass(&scene, 200);
    ck_assert_uint_eq(scene.believed_port, 7002);
    ck_assert_int_eq(scene.gate, GATE_OPEN);
    ck_assert_uint_eq(VALUE(&scene, holds_late), 0);
    /* News of it that come behind hold nothing. */
    tell(&scene, 0, "+promoted-slave");
    ck_assert_int_eq(scene.gate, GATE_OPEN);
    let_pass(&scene, 1000);
    ck_assert_uint_eq(VALUE(&scene, holds_unfounded), 0);
    scene_fini(&scene);
}
END_TEST

START_TEST(failover_without_an_end_is_stuck)
{
    struct scene scene;

    scene_init(&scene, 3);
    for (unsigned i = 0; i < COUNT; i++)
        scene.actors[i].is_failing_over = true;
    tell(&scene, 0, "+try-failover");
    let_pass(&scene, 4500);
    ck_assert_int_eq(scene.gate, GATE_HELD);
    let_pass(&scene, 1500);
    ck_assert_int_eq(scene.gate, GATE_STUCK);
    ck_assert_uint_eq(VALUE(&scene, holds_stuck), 1);
    for (unsigned i = 0; i < COUNT; i++)
        scene.actors[i].is_failing_over = false;
    let_pass(&scene, 1500);
    ck_assert_int_eq(scene.gate, GATE_OPEN);
    ck_assert_uint_eq(scene.believed_port, 7001);
    scene_fini(&scene);
}
END_TEST

/* Whether there was one nobody can say. */
START_TEST(failover_without_sentinels_is_stuck)
{
    struct scene scene;

    scene_init(&scene, 3);
    tell(&scene, 0, "+try-failover");
    for (unsigned i = 0; i < COUNT; i++)
        die(&scene, i);
    let_pass(&scene, 6500);
    ck_assert_int_eq(scene.gate, GATE_STUCK);
    for (unsigned i = 0; i < COUNT; i++)
        scene.actors[i].is_dead = false;
    let_pass(&scene, 3000);
    ck_assert_int_eq(scene.gate, GATE_OPEN);
    scene_fini(&scene);
}
END_TEST

START_TEST(failover_that_is_given_up_is_let_go)
{
    struct scene scene;

    scene_init(&scene, 3);
    scene.actors[0].is_failing_over = true;
    tell(&scene, 0, "+try-failover");
    tell(&scene, 0, "-failover-abort-no-good-slave");
    let_pass(&scene, 2000);
    ck_assert_int_eq(scene.gate, GATE_HELD);
    scene.actors[0].is_failing_over = false;
    let_pass(&scene, 1000);
    ck_assert_int_eq(scene.gate, GATE_OPEN);
    ck_assert_uint_eq(VALUE(&scene, holds_unfounded), 1);
    scene_fini(&scene);
}
END_TEST

START_TEST(failover_that_is_heard_of_late_is_counted)
{
    struct scene scene;

    scene_init(&scene, 3);
    tell(&scene, 0, "+failover-state-wait-promotion");
    ck_assert_int_eq(scene.gate, GATE_PROMOTING);
    ck_assert_uint_eq(VALUE(&scene, holds_late), 1);
    say_all(&scene, 7002, 5);
    let_pass(&scene, 1000);
    ck_assert_uint_eq(scene.believed_port, 7002);
    ck_assert_uint_eq(VALUE(&scene, holds_late), 1);
    say_all(&scene, 7001, 6);
    let_pass(&scene, 6000);
    ck_assert_uint_eq(scene.believed_port, 7001);
    ck_assert_uint_eq(VALUE(&scene, holds_late), 2);
    scene_fini(&scene);
}
END_TEST

int
main(void)
{
    TCase *tests = tcase_create("sentinels");

    tcase_add_test(tests, tilt_ends_by_itself);
    tcase_add_test(tests, tilt_ends_when_it_is_said);
    tcase_add_test(tests, learnt_sentinel_is_forgotten_after_a_minute);
    tcase_add_test(tests, listed_sentinel_that_is_dead_is_not_forgotten);
    tcase_add_test(tests, who_held_for_nothing_is_not_heard_for_a_minute);
    tcase_add_test(tests, failover_is_waited_for_and_followed);
    tcase_add_test(tests, failover_without_an_end_is_stuck);
    tcase_add_test(tests, failover_without_sentinels_is_stuck);
    tcase_add_test(tests, failover_that_is_given_up_is_let_go);
    tcase_add_test(tests, failover_that_is_heard_of_late_is_counted);
    return unit_run("discovery", tests);
}
