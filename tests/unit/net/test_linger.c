/*
 * tests/unit/net/test_linger.c - output that waits for what will follow.
 *
 * On the real loop.  The sockets keep the bounds of what is written, so a
 * message at the far end is one write.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/loop.h"
#include "net/stream.h"

#include "unit.h"

#define LARGE 8192 /* more than waits */

static struct loop *loop;
static struct stream stream;
static struct wakeup wakeup;
static struct fd_watch far_watch;
static int far_end;
static bool follows; /* what the stream's owner says */
static unsigned turns;
static char got[LARGE];
static ssize_t got_len; /* of the first message, -1 before */

static bool
more_follows(struct stream *of)
{
    (void)of;
    return follows;
}

static void
nothing_in(struct stream *of)
{
    (void)of;
}

static void
nothing_sent(struct stream *of, size_t bytes)
{
    (void)of;
    (void)bytes;
}

static void
no_end(struct stream *of, enum stream_end end)
{
    (void)of;
    (void)end;
}

static const struct stream_ops ops = {
    .on_input = nothing_in,
    .on_sent = nothing_sent,
    .on_end = no_end,
    .more_follows = more_follows,
};

static struct stream neighbour; /* whose output waits for nothing */

static void
push_to_neighbour(struct stream *of, size_t bytes)
{
    (void)of;
    (void)bytes;
    stream_push_copy(&neighbour, "b", 1);
}

static const struct stream_ops ops_of_neighbour = {
    .on_input = nothing_in,
    .on_sent = nothing_sent,
    .on_end = no_end,
};

static const struct stream_ops ops_with_neighbour = {
    .on_input = nothing_in,
    .on_sent = push_to_neighbour,
    .on_end = no_end,
    .more_follows = more_follows,
};

/* The first message has come. */
static void
on_message(struct fd_watch *watch, void *arg)
{
    (void)watch;
    (void)arg;
    got_len = recv(far_end, got, sizeof(got), 0);
    loop_stop(loop);
}

static void
setup(wakeup_fn on_turn)
{
    int ends[2];

    ck_assert_int_eq(
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends), 0);
    loop = loop_new();
    stream_open(&stream, loop, ends[0], &ops);
    far_end = ends[1];
    fd_watch_start(&far_watch, loop, far_end, on_message, NULL);
    wakeup_init(&wakeup, loop, on_turn, NULL);
    wakeup_send(&wakeup);
    turns = 0;
    got_len = -1;
}

static void
teardown(void)
{
    stream_close(&stream);
    fd_watch_stop(&far_watch);
    wakeup_fini(&wakeup);
    loop_free(&loop);
    close(far_end);
}

static void
assert_got(const char *text)
{
    ck_assert_int_eq(got_len, (ssize_t)strlen(text));
    ck_assert_mem_eq(got, text, strlen(text));
}

static void
push(const char *text)
{
    stream_push_copy(&stream, text, strlen(text));
}

static void
push_once(struct wakeup *of, void *arg)
{
    (void)of;
    (void)arg;
    push("a");
    follows = true;
}

START_TEST(it_leaves_when_nothing_follows_after_all)
{
    setup(push_once);
    loop_run(loop);
    assert_got("a");
    teardown();
}
END_TEST

/* Is the thread of the tests waiting for the system? */
static bool
loop_sleeps(void)
{
    char stat[512] = "", path[64];

    snprintf(path, sizeof(path), "/proc/self/task/%d/stat", getpid());
    int fd = open(path, O_RDONLY);
    ssize_t len = read(fd, stat, sizeof(stat) - 1);
    close(fd);
    const char *name_end = len > 0 ? strrchr(stat, ')') : NULL;
    return name_end != NULL && name_end[2] == 'S';
}

static atomic_bool has_pushed;

/* Another thread: an event, as soon as there is nothing to be done. */
static void *
wake_when_idle(void *arg)
{
    while (!atomic_load(&has_pushed) || !loop_sleeps())
        sched_yield();
    wakeup_send(arg);
    return NULL;
}

static void
push_before_and_after(struct wakeup *of, void *arg)
{
    (void)of;
    (void)arg;
    follows = turns++ == 0;
    push(follows ? "a" : "b");
    atomic_store(&has_pushed, true);
}

/* True unless the other thread was too slow. */
static bool
goes_with_what_comes_after_idleness(void)
{
    pthread_t other;

    atomic_store(&has_pushed, false);
    setup(push_before_and_after);
    pthread_create(&other, NULL, wake_when_idle, &wakeup);
    loop_run(loop);
    pthread_join(other, NULL);
    bool together = got_len == 2;
    teardown();
    return together;
}

START_TEST(it_waits_though_there_is_nothing_to_be_done)
{
    unsigned tries = 0;

    while (!goes_with_what_comes_after_idleness())
        ck_assert_uint_lt(++tries, 1000);
}
END_TEST

static void
push_over_two_turns(struct wakeup *of, void *arg)
{
    (void)arg;
    follows = turns++ == 0;
    push(follows ? "a" : "b");
    if (follows)
        wakeup_send(of);
}

START_TEST(what_follows_goes_with_it)
{
    setup(push_over_two_turns);
    loop_run(loop);
    assert_got("ab");
    teardown();
}
END_TEST

static void
push_and_be_busy(struct wakeup *of, void *arg)
{
    (void)arg;
    follows = true;
    if (turns++ == 0)
        push("a");
    wakeup_send(of);
}

START_TEST(it_leaves_though_the_loop_is_never_idle)
{
    setup(push_and_be_busy);
    loop_run(loop);
    assert_got("a");
    ck_assert_uint_gt(turns, 1);
    teardown();
}
END_TEST

static void
push_without_end(struct wakeup *of, void *arg)
{
    (void)arg;
    follows = true;
    if (turns++ < LARGE / 4)
        push("a");
    wakeup_send(of);
}

START_TEST(it_leaves_though_more_comes_all_the_time)
{
    setup(push_without_end);
    loop_run(loop);
    ck_assert_int_gt(got_len, 0);
    teardown();
}
END_TEST

static void
push_much_then_look(struct wakeup *of, void *arg)
{
    static const char much[LARGE];

    (void)arg;
    follows = true;
    if (turns++ == 0) {
        stream_push_copy(&stream, much, sizeof(much));
        fd_watch_stop(&far_watch);
        wakeup_send(of);
        return;
    }
    got_len = recv(far_end, got, sizeof(got), 0);
    loop_stop(loop);
}

START_TEST(much_does_not_wait)
{
    setup(push_much_then_look);
    loop_run(loop);
    ck_assert_int_eq(got_len, LARGE);
    teardown();
}
END_TEST

static void
push_then_close(struct wakeup *of, void *arg)
{
    (void)arg;
    follows = true;
    if (turns++ == 0) {
        push("a");
        wakeup_send(of);
    } else {
        stream_close(&stream);
    }
}

START_TEST(it_leaves_when_the_stream_is_closed)
{
    setup(push_then_close);
    loop_run(loop);
    assert_got("a");
    ck_assert_int_eq(recv(far_end, got, sizeof(got), 0), 0);
    teardown();
}
END_TEST

/* The message that is awaited is the neighbour's. */
static void
setup_with_neighbour(wakeup_fn on_turn, int *first_far_end)
{
    int ends[2];

    setup(on_turn);
    ck_assert_int_eq(
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends), 0);
    stream.ops = &ops_with_neighbour;
    stream_open(&neighbour, loop, ends[0], &ops_of_neighbour);
    fd_watch_stop(&far_watch);
    *first_far_end = far_end;
    far_end = ends[1];
    fd_watch_start(&far_watch, loop, far_end, on_message, NULL);
}

START_TEST(what_is_pushed_when_it_has_left_does_not_wait)
{
    int first_far_end;

    setup_with_neighbour(push_once, &first_far_end);
    loop_run(loop);
    assert_got("b");
    stream_close(&neighbour);
    teardown();
    close(first_far_end);
}
END_TEST

int
main(void)
{
    TCase *tests = tcase_create("linger");

    tcase_add_test(tests, it_leaves_when_nothing_follows_after_all);
    tcase_add_test(tests, it_waits_though_there_is_nothing_to_be_done);
    tcase_add_test(tests, what_follows_goes_with_it);
    tcase_add_test(tests, it_leaves_though_the_loop_is_never_idle);
    tcase_add_test(tests, it_leaves_though_more_comes_all_the_time);
    tcase_add_test(tests, much_does_not_wait);
    tcase_add_test(tests, it_leaves_when_the_stream_is_closed);
    tcase_add_test(tests, what_is_pushed_when_it_has_left_does_not_wait);
    return unit_run("net", tests);
}
