/*
 * tests/unit/discovery/test_sentinel_read.c - what Sentinels say, and others.
 *
 * The replies are what redis-sentinel 7.0 says, with fewer fields.
 */
#include "discovery/sentinel_read.h"

#include "base/buf.h"
#include "guard.h"
#include "unit.h"

#define RUN_ID "0123456789012345678901234567890123456789"
#define LIST_MAX 3

/* Words as an array of bulks; NULL ends them. */
static struct view
array_of(const char *const *words)
{
    static struct buf out;
    size_t count = 0;

    while (words[count] != NULL)
        count++;
    out.len = 0;
    buf_printf(&out, "*%zu\r\n", count);
    for (size_t i = 0; i < count; i++)
        buf_printf(&out, "$%zu\r\n%s\r\n", strlen(words[i]), words[i]);
    return buf_view(&out);
}

#define ARRAY_OF(...) array_of((const char *const[]){__VA_ARGS__, NULL})
#define MASTER(...) \
    ARRAY_OF("name", "acc1", "ip", "10.0.0.1", "port", "6379", __VA_ARGS__)
#define REPLICA(...) \
    "ip", "10.0.0.2", "port", "6380", "flags", "slave", \
        "master-link-status", "ok", "role-reported", "slave", __VA_ARGS__

static bool
is_text(struct view view, const char *text)
{
    return view_equal(view, view_str(text));
}

/* --- masters ------------------------------------------------------------------- */

START_TEST(master_is_read_with_its_epoch)
{
    struct sentinel_instance master;

    ck_assert_int_eq(
        sentinel_read_master(MASTER("runid", RUN_ID, "flags", "master",
                                    "num-slaves", "2", "config-epoch", "7",
                                    "quorum", "2"),
                             &master),
        SENTINEL_OK);
    ck_assert(is_text(master.host, "10.0.0.1"));
    ck_assert_uint_eq(master.port, 6379);
    ck_assert_uint_eq(master.epoch, 7);
    ck_assert(is_text(master.run_id, RUN_ID));
    ck_assert_uint_eq(master.flags, 0);
}
END_TEST

START_TEST(master_is_read_as_a_map_with_strange_values)
{
    struct sentinel_instance master;
    struct view reply =
        VIEW("%6\r\n+ip\r\n$5\r\na.b.c\r\n+port\r\n:6379\r\n"
             "+config-epoch\r\n:0\r\n+new\r\n*2\r\n:1\r\n*1\r\n:2\r\n"
             "+newer\r\n_\r\n+flags\r\n+master,s_down,o_down\r\n");

    ck_assert_int_eq(sentinel_read_master(reply, &master), SENTINEL_OK);
    ck_assert(is_text(master.host, "a.b.c"));
    ck_assert_uint_eq(master.epoch, 0);
    ck_assert_uint_eq(master.flags, SENTINEL_S_DOWN | SENTINEL_O_DOWN);
}
END_TEST

START_TEST(master_flags_are_whole_words)
{
    struct sentinel_instance master;

    ck_assert_int_eq(
        sentinel_read_master(MASTER("config-epoch", "1", "flags",
                                    "master,failover_in_progress,s_downs,"),
                             &master),
        SENTINEL_OK);
    ck_assert_uint_eq(master.flags, SENTINEL_FAILOVER);
}
END_TEST

START_TEST(master_without_what_counts_is_no_answer)
{
    struct view bad[] = {
        VIEW("*0\r\n"),
        VIEW("+OK\r\n"),
        VIEW(":1\r\n"),
        VIEW("*1\r\n$2\r\nip\r\n"),
        VIEW("*2\r\n*1\r\n+ip\r\n+10.0.0.1\r\n"),
        VIEW("*4\r\n+ip\r\n+10.0.0.1\r\n+port\r\n+6379\r\n"),
    };
    struct sentinel_instance master;

    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        ck_assert_int_eq(sentinel_read_master(bad[i], &master), SENTINEL_BAD);
    ck_assert_int_eq(
        sentinel_read_master(MASTER("config-epoch", "-1"), &master),
        SENTINEL_BAD);
    ck_assert_int_eq(
        sentinel_read_master(MASTER("config-epoch",
                                    "99999999999999999999999"), &master),
        SENTINEL_BAD);
    ck_assert_int_eq(sentinel_read_master(MASTER("config-epoch", "1", "port",
                                                 "65536"), &master),
                     SENTINEL_BAD);
    ck_assert_int_eq(sentinel_read_master(MASTER("config-epoch", "1", "ip",
                                                 "a b"), &master),
                     SENTINEL_BAD);
    ck_assert_int_eq(sentinel_read_master(MASTER("config-epoch", "1", "ip",
                                                 "/tmp/x"), &master),
                     SENTINEL_BAD);
}
END_TEST

START_TEST(master_of_an_unknown_name_is_told_from_other_errors)
{
    struct sentinel_instance master;

    ck_assert_int_eq(
        sentinel_read_master(
            VIEW("-ERR No such master with that name\r\n"), &master),
        SENTINEL_NO_NAME);
    ck_assert_int_eq(sentinel_read_master(VIEW("*-1\r\n"), &master),
                     SENTINEL_NO_NAME);
    ck_assert_int_eq(
        sentinel_read_master(VIEW("-NOAUTH Authentication required.\r\n"),
                             &master),
        SENTINEL_ERROR);
    ck_assert_int_eq(
        sentinel_read_master(VIEW("-ERR unknown command 'SENTINEL'\r\n"),
                             &master),
        SENTINEL_ERROR);
}
END_TEST

START_TEST(master_is_where_its_address_is_asked_for)
{
    struct view bad[] = {VIEW("*-1\r\n"), VIEW("*2\r\n+a b\r\n+1\r\n"),
                         VIEW("*2\r\n+a\r\n+0\r\n"), VIEW("-ERR no\r\n"),
                         VIEW("*1\r\n+a\r\n"), VIEW("")};
    struct sentinel_instance master = {.host = VIEW("10.0.0.1"), .port = 1};

    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        sentinel_read_address(bad[i], &master);
    ck_assert(is_text(master.host, "10.0.0.1"));
    ck_assert_uint_eq(master.port, 1);
    sentinel_read_address(VIEW("*2\r\n$8\r\n10.0.0.2\r\n$1\r\n2\r\n"),
                          &master);
    ck_assert(is_text(master.host, "10.0.0.2"));
    ck_assert_uint_eq(master.port, 2);
}
END_TEST

START_TEST(master_cut_anywhere_is_no_answer)
{
    struct view whole = MASTER("config-epoch", "7", "flags", "master");

    for (size_t len = 0; len < whole.len; len++) {
        struct guard guard = guard_copy(whole.data, len);
        struct sentinel_instance master;
        ck_assert_int_eq(
            sentinel_read_master(view_of(guard.data, len), &master),
            SENTINEL_BAD);
        guard_free(&guard);
    }
}
END_TEST

/* --- lists ----------------------------------------------------------------------- */

START_TEST(list_holds_those_with_an_address)
{
    struct sentinel_instance list[LIST_MAX];
    size_t count;
    struct view reply = VIEW(
        "*3\r\n*4\r\n+ip\r\n+10.0.0.7\r\n+port\r\n+26379\r\n"
        "*4\r\n+ip\r\n+\r\n+port\r\n+26379\r\n"
        "%3\r\n+ip\r\n+10.0.0.8\r\n+port\r\n+26380\r\n+runid\r\n+abc\r\n");

    ck_assert_int_eq(sentinel_read_list(reply, list, LIST_MAX, &count),
                     SENTINEL_OK);
    ck_assert_uint_eq(count, 2);
    ck_assert(is_text(list[1].host, "10.0.0.8"));
    ck_assert(is_text(list[1].run_id, "abc"));
}
END_TEST

START_TEST(list_is_cut_at_its_bound)
{
    struct sentinel_instance list[LIST_MAX];
    struct buf reply = {0};
    size_t count;

    buf_printf(&reply, "*100\r\n");
    for (int i = 0; i < 100; i++)
        buf_printf(&reply, "*4\r\n+ip\r\n+10.0.0.7\r\n+port\r\n+%d\r\n", i + 1);
    ck_assert_int_eq(
        sentinel_read_list(buf_view(&reply), list, LIST_MAX, &count),
        SENTINEL_OK);
    ck_assert_uint_eq(count, LIST_MAX);
    buf_fini(&reply);
}
END_TEST

START_TEST(list_of_something_else_is_no_answer)
{
    struct sentinel_instance list[LIST_MAX];
    size_t count;

    ck_assert_int_eq(sentinel_read_list(VIEW("*0\r\n"), list, LIST_MAX,
                                        &count),
                     SENTINEL_OK);
    ck_assert_uint_eq(count, 0);
    ck_assert_int_eq(sentinel_read_list(VIEW("*1\r\n+x\r\n"), list, LIST_MAX,
                                        &count),
                     SENTINEL_BAD);
    ck_assert_int_eq(sentinel_read_list(VIEW("%1\r\n+x\r\n+y\r\n"), list,
                                        LIST_MAX, &count),
                     SENTINEL_BAD);
}
END_TEST

static bool
is_well(struct view fields)
{
    struct sentinel_instance list[1];
    struct buf reply = {0};
    size_t count;

    buf_printf(&reply, "*1\r\n%.*s", (int)fields.len, fields.data);
    ck_assert_int_eq(sentinel_read_list(buf_view(&reply), list, 1, &count),
                     SENTINEL_OK);
    ck_assert_uint_eq(count, 1);
    bool result = sentinel_replica_is_well(&list[0]);
    buf_fini(&reply);
    return result;
}

START_TEST(replica_is_well_when_nothing_is_against_it)
{
    ck_assert(is_well(ARRAY_OF(REPLICA("replica-announced", "1"))));
    ck_assert(!is_well(ARRAY_OF(REPLICA("replica-announced", "0"))));
    ck_assert(!is_well(ARRAY_OF(REPLICA("flags", "slave,s_down"))));
    ck_assert(!is_well(ARRAY_OF(REPLICA("flags", "slave,disconnected"))));
}
END_TEST

/* The old primary is back, and does not know yet. */
START_TEST(replica_that_says_master_is_not_well)
{
    ck_assert(!is_well(ARRAY_OF(REPLICA("role-reported", "master"))));
}
END_TEST

START_TEST(run_id_is_read_or_empty)
{
    ck_assert(is_text(sentinel_read_id(VIEW("$40\r\n" RUN_ID "\r\n")),
                      RUN_ID));
    ck_assert(is_text(sentinel_read_id(VIEW("$0\r\n\r\n")), ""));
    ck_assert(is_text(sentinel_read_id(VIEW("-ERR unknown\r\n")), ""));
    ck_assert(is_text(sentinel_read_id(VIEW("")), ""));
}
END_TEST

/* --- messages --------------------------------------------------------------------- */

static struct sentinel_event
event_of(const char *channel, const char *payload)
{
    struct sentinel_message message;

    ck_assert(sentinel_read_message(ARRAY_OF("message", channel, payload),
                                    &message));
    return sentinel_read_event(&message);
}

START_TEST(message_is_read_from_channels_and_patterns)
{
    struct sentinel_message message;

    ck_assert(sentinel_read_message(ARRAY_OF("pmessage", "*", "+tilt", "#x"),
                                    &message));
    ck_assert(is_text(message.channel, "+tilt"));
    ck_assert(is_text(message.payload, "#x"));
    ck_assert(sentinel_read_message(
        VIEW(">3\r\n+message\r\n+a\r\n+b\r\n"), &message));
    ck_assert(!sentinel_read_message(ARRAY_OF("subscribe", "a", "1"),
                                     &message));
    ck_assert(!sentinel_read_message(ARRAY_OF("message", "a"), &message));
    ck_assert(!sentinel_read_message(VIEW("*3\r\n+message\r\n*0\r\n+b\r\n"),
                                     &message));
    ck_assert(!sentinel_read_message(VIEW("+OK\r\n"), &message));
}
END_TEST

START_TEST(events_say_of_which_master_they_are)
{
    struct sentinel_event event =
        event_of("+switch-master", "acc1 10.0.0.1 6379 10.0.0.2 6379");

    ck_assert_int_eq(event.kind, SENTINEL_EVENT_MASTER);
    ck_assert(is_text(event.master, "acc1"));
    event = event_of("+sdown", "slave 10.0.0.2:6379 10.0.0.2 6379 @ acc2 "
                               "10.0.0.1 6379");
    ck_assert_int_eq(event.kind, SENTINEL_EVENT_REPLICAS);
    ck_assert(is_text(event.master, "acc2"));
    event = event_of("+try-failover", "master acc3 10.0.0.1 6379");
    ck_assert_int_eq(event.kind, SENTINEL_EVENT_FAILOVER);
    ck_assert(is_text(event.master, "acc3"));
    event = event_of("+tilt", "#tilt mode entered");
    ck_assert_int_eq(event.kind, SENTINEL_EVENT_TILT);
    ck_assert_uint_eq(event.master.len, 0);
}
END_TEST

START_TEST(events_have_their_meaning)
{
    static const struct {
        const char *channel;
        enum sentinel_event_kind kind;
    } cases[] = {
        {"+config-update-from", SENTINEL_EVENT_MASTER},
        {"+failover-end", SENTINEL_EVENT_MASTER},
        {"+failover-end-for-timeout", SENTINEL_EVENT_MASTER},
        {"+failover-state-select-slave", SENTINEL_EVENT_FAILOVER},
        {"+failover-state-send-slaveof-noone", SENTINEL_EVENT_FAILOVER},
        {"+failover-state-wait-promotion", SENTINEL_EVENT_PROMOTING},
        {"+promoted-slave", SENTINEL_EVENT_PROMOTING},
        {"-failover-abort-no-good-slave", SENTINEL_EVENT_ABORTED},
        {"+failover-state-reconf-slaves", SENTINEL_EVENT_MASTER},
        {"+slave-reconf-done", SENTINEL_EVENT_REPLICAS},
        {"+sentinel-address-switch", SENTINEL_EVENT_SENTINELS},
        {"-tilt", SENTINEL_EVENT_TILT_END},
        {"-cmd-link-reconnection", SENTINEL_EVENT_NOISE},
        {"+switch-masters", SENTINEL_EVENT_NOISE},
        {"+vote-for-leader", SENTINEL_EVENT_NOISE},
        {"", SENTINEL_EVENT_NOISE},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        ck_assert_int_eq(event_of(cases[i].channel, "x").kind, cases[i].kind);
}
END_TEST

START_TEST(hello_is_read_with_its_eight_fields)
{
    struct sentinel_hello hello;

    ck_assert(sentinel_read_hello(
        VIEW("10.0.0.7,26379," RUN_ID ",9,acc1,10.0.0.1,6379,8"), &hello));
    ck_assert(is_text(hello.run_id, RUN_ID));
    ck_assert(is_text(hello.master, "acc1"));
    ck_assert(is_text(hello.host, "10.0.0.1"));
    ck_assert_uint_eq(hello.port, 6379);
    ck_assert_uint_eq(hello.epoch, 8);
}
END_TEST

START_TEST(hello_of_anybody_is_refused)
{
    struct view bad[] = {
        VIEW(""),
        VIEW("hello"),
        VIEW(",,,,,,,"),
        VIEW("10.0.0.7,26379,abc,9,acc1,10.0.0.1,6379"),
        VIEW("10.0.0.7,26379,abc,9,acc1,10.0.0.1,6379,8,9"),
        VIEW("10.0.0.7,26379,abc,9,acc1,10.0.0.1,0,8"),
        VIEW("10.0.0.7,26379,abc,9,,10.0.0.1,6379,8"),
        VIEW("10.0.0.7,26379,,9,acc1,10.0.0.1,6379,8"),
        VIEW("10.0.0.7,26379,abc,9,acc1,10.0 0.1,6379,8"),
        VIEW("10.0.0.7,26379,abc,9,acc1,10.0.0.1,6379,-8"),
    };
    struct sentinel_hello hello;

    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        ck_assert(!sentinel_read_hello(bad[i], &hello));
}
END_TEST

int
main(void)
{
    TCase *tests = tcase_create("sentinel_read");

    tcase_add_test(tests, master_is_read_with_its_epoch);
    tcase_add_test(tests, master_is_read_as_a_map_with_strange_values);
    tcase_add_test(tests, master_flags_are_whole_words);
    tcase_add_test(tests, master_without_what_counts_is_no_answer);
    tcase_add_test(tests, master_of_an_unknown_name_is_told_from_other_errors);
    tcase_add_test(tests, master_is_where_its_address_is_asked_for);
    tcase_add_test(tests, master_cut_anywhere_is_no_answer);
    tcase_add_test(tests, list_holds_those_with_an_address);
    tcase_add_test(tests, list_is_cut_at_its_bound);
    tcase_add_test(tests, list_of_something_else_is_no_answer);
    tcase_add_test(tests, replica_is_well_when_nothing_is_against_it);
    tcase_add_test(tests, replica_that_says_master_is_not_well);
    tcase_add_test(tests, run_id_is_read_or_empty);
    tcase_add_test(tests, message_is_read_from_channels_and_patterns);
    tcase_add_test(tests, events_say_of_which_master_they_are);
    tcase_add_test(tests, events_have_their_meaning);
    tcase_add_test(tests, hello_is_read_with_its_eight_fields);
    tcase_add_test(tests, hello_of_anybody_is_refused);
    return unit_run("discovery", tests);
}
