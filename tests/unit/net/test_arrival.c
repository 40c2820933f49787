/*
 * tests/unit/net/test_arrival.c - streams are served in the order of arrival.
 *
 * On the real loop, with events that are all there when it looks.
 */
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/loop.h"
#include "net/stream.h"

#include "unit.h"

#define STREAMS 5

static struct loop *loop;
static struct stream streams[STREAMS];
static int far_ends[STREAMS];
static unsigned served[STREAMS]; /* numbers, in the order of being served */
static unsigned count;
static int victim; /* is closed by the first that is served; -1: nobody */
static bool is_gone; /* ... and its memory is somebody else's */

static void
on_input(struct stream *stream)
{
    served[count++] = (unsigned)(stream - streams);
    stream_consume(stream, stream_input_len(stream));
    if (victim >= 0 && !is_gone) {
        stream_close(&streams[victim]);
        memset(&streams[victim], 0xff, sizeof(streams[victim]));
        is_gone = true;
    }
    if (count == STREAMS - (victim >= 0))
        loop_stop(loop);
}

static void
on_end(struct stream *stream, enum stream_end end)
{
    (void)stream;
    (void)end;
}

static const struct stream_ops ops = {.on_input = on_input, .on_end = on_end};

static void
setup(void)
{
    int ends[2];

    loop = loop_new();
    count = 0;
    victim = -1;
    is_gone = false;
    for (unsigned i = 0; i < STREAMS; i++) {
        ck_assert_int_eq(
            socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
        stream_open(&streams[i], loop, ends[0], &ops);
        far_ends[i] = ends[1];
    }
}

static void
teardown(void)
{
    for (unsigned i = 0; i < STREAMS; i++) {
        if (!is_gone || (int)i != victim)
            stream_close(&streams[i]);
        close(far_ends[i]);
    }
    loop_free(&loop);
}

/* The kernel lists those that it has not been asked about as they were opened. */
static void
send_to_all(void)
{
    for (unsigned i = 0; i < STREAMS; i++)
        ck_assert_int_eq(write(far_ends[i], "x", 1), 1);
}

START_TEST(who_came_first_is_served_first)
{
    send_to_all();
    loop_run(loop);
    for (unsigned i = 0; i < STREAMS; i++)
        ck_assert_uint_eq(served[i], i);
}
END_TEST

START_TEST(who_is_closed_before_his_turn_is_not_served)
{
    victim = 3;
    send_to_all();
    loop_run(loop);
    for (unsigned i = 0; i < STREAMS - 1; i++)
        ck_assert_uint_ne(served[i], 3);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("arrival");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, who_came_first_is_served_first);
    tcase_add_test(tcase, who_is_closed_before_his_turn_is_not_served);
    return unit_run("net", tcase);
}
