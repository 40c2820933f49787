/*
 * test_replica_count.c - INFO replication, as WAIT needs it.
 */
#include "request.h"

#include "command/replica_count.h"

#define REPLICA(number, state, offset)                                   \
    "slave" number ":ip=127.0.0.1,port=7001,state=" state ",offset=" offset \
    ",lag=0,type=replica\r\n"

/* The reply with this text. */
static bool
read_text(const char *text, uint64_t least, struct replica_count *told)
{
    struct buf reply = {0};

    buf_printf(&reply, "$%zu\r\n%s\r\n", strlen(text), text);
    bool is_one = replica_count_read(buf_view(&reply), least, told);
    buf_fini(&reply);
    return is_one;
}

START_TEST(those_that_are_far_enough_count)
{
    static const char text[] =
        "# Replication\r\nrole:master\r\nconnected_slaves:4\r\n" REPLICA(
            "0", "online", "100") REPLICA("1", "online", "99")
            REPLICA("2", "wait_bgsave", "200") REPLICA("10", "online", "101")
                "master_repl_offset:120\r\nslave_priority:100\r\n";
    struct replica_count told;

    ck_assert(read_text(text, 100, &told));
    ck_assert_uint_eq(told.offset, 120);
    ck_assert_uint_eq(told.count, 2);
    ck_assert(read_text(text, 0, &told));
    ck_assert_uint_eq(told.count, 3);
    ck_assert(read_text(text, 102, &told));
    ck_assert_uint_eq(told.count, 0);
}
END_TEST

START_TEST(a_verbatim_text_is_read_as_well)
{
    struct replica_count told;

    ck_assert(replica_count_read(
        VIEW("=45\r\ntxt:role:master\r\nmaster_repl_offset:7\r\nx:12\r\n\r\n"), 0,
        &told));
    ck_assert_uint_eq(told.offset, 7);
    ck_assert_uint_eq(told.count, 0);
}
END_TEST

START_TEST(others_are_refused)
{
    struct replica_count told;

    ck_assert(!read_text("role:slave\r\nmaster_repl_offset:7\r\n", 0, &told));
    ck_assert(!read_text("role:master\r\n", 0, &told));
    ck_assert(!read_text("role:master\r\nmaster_repl_offset:x\r\n", 0, &told));
    ck_assert(!read_text("", 0, &told));
    ck_assert(!replica_count_read(VIEW("-NOPERM no\r\n"), 0, &told));
    ck_assert(!replica_count_read(VIEW("$-1\r\n"), 0, &told));
    ck_assert(!replica_count_read(VIEW(":1\r\n"), 0, &told));
}
END_TEST

START_TEST(a_strange_line_is_no_replica)
{
    static const char text[] =
        "role:master\r\nmaster_repl_offset:7\r\n"
        "slave_expires_tracked_keys:0\r\nslaves:9\r\nslave0\r\nslave1:\r\n"
        "slave2:state=online\r\nslave3:offset=9\r\n"
        "slave4:state=online,offset=\r\nslave5:state=online,offset=9,\r\n";
    struct replica_count told;

    ck_assert(read_text(text, 1, &told));
    ck_assert_uint_eq(told.count, 1);
}
END_TEST

int
main(void)
{
    TCase *tests = tcase_create("replica count");

    tcase_add_test(tests, those_that_are_far_enough_count);
    tcase_add_test(tests, a_verbatim_text_is_read_as_well);
    tcase_add_test(tests, others_are_refused);
    tcase_add_test(tests, a_strange_line_is_no_replica);
    return unit_run("command", tests);
}
