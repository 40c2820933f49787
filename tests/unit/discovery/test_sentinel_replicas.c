/*
 * tests/unit/discovery/test_sentinel_replicas.c - who replicates a master.
 *
 * A list is written as words: "7002 ok 7003 err 7004 down 7005 wrong".
 */
#include "discovery/sentinel_replicas.h"

#include "base/buf.h"
#include "unit.h"

#define HOST "10.0.0.1"
#define PORT 7001
#define LISTS_MAX 4

/* What a Sentinel says of a replica in this state. */
static void
append(struct buf *out, struct view port, struct view how)
{
    bool is_down = view_equal(how, VIEW("down"));
    bool is_cut = view_equal(how, VIEW("err"));
    bool is_elsewhere = view_equal(how, VIEW("wrong"));
    bool is_hidden = view_equal(how, VIEW("hidden"));
    const char *const words[] = {
        "ip", "10.0.0.2", "flags", is_down ? "slave,s_down" : "slave",
        "role-reported", "slave",
        "master-link-status", is_cut ? "err" : "ok",
        "master-host", HOST, "master-port", is_elsewhere ? "7009" : "7001",
        "slave-priority", "0", "replica-announced", is_hidden ? "0" : "1",
    };

    buf_printf(out, "*%zu\r\n", ARRAY_LEN(words) + 2);
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        buf_printf(out, "$%zu\r\n%s\r\n", strlen(words[i]), words[i]);
    buf_printf(out, "$4\r\nport\r\n$%zu\r\n%.*s\r\n", port.len, (int)port.len,
               port.data);
}

static struct sentinel_replicas *
list_of(const char *words)
{
    struct view rest = view_str(words);
    struct buf out = {0}, reply = {0};
    size_t count = 0;

    while (rest.len > 0) {
        struct view port = view_take(&rest, ' ');
        append(&out, port, view_take(&rest, ' '));
        count++;
    }
    buf_printf(&reply, "*%zu\r\n%.*s", count, (int)out.len,
               out.len > 0 ? out.data : "");
    struct sentinel_replicas *list =
        sentinel_replicas_read(buf_view(&reply), view_str(HOST), PORT);
    buf_fini(&out);
    buf_fini(&reply);
    return list;
}

static void
describe(const struct sentinel_replicas *list, struct buf *out)
{
    for (size_t i = 0; i < list->count; i++)
        buf_printf(out, "%s%u %s", i > 0 ? " " : "", list->items[i].port,
                   list->items[i].is_usable    ? "ok"
                       : list->items[i].is_cut ? "cut"
                                               : "off");
}

static void
expect_list(const struct sentinel_replicas *list, const char *text)
{
    struct buf out = {0};

    buf_append_str(&out, "");
    describe(list, &out);
    ck_assert_msg(view_equal(buf_view(&out), view_str(text)), "%.*s",
                  (int)out.len, out.len > 0 ? out.data : "");
    buf_fini(&out);
}

/* `words`: what each says; NULL for one that has not answered. */
static void
expect_merged(const char *const *words, size_t count, const char *text)
{
    struct sentinel_replicas *lists[LISTS_MAX] = {NULL};

    for (size_t i = 0; i < count; i++) {
        if (words[i] != NULL)
            lists[i] = list_of(words[i]);
    }
    struct sentinel_replicas *merged = sentinel_replicas_merge(
        (const struct sentinel_replicas *const *)lists, count);
    expect_list(merged, text);
    sentinel_replicas_free(&merged);
    for (size_t i = 0; i < count; i++)
        sentinel_replicas_free(&lists[i]);
}

#define EXPECT_MERGED(text, ...) \
    expect_merged((const char *const[]){__VA_ARGS__}, \
                  ARRAY_LEN(((const char *const[]){__VA_ARGS__})), text)

START_TEST(list_has_what_a_sentinel_says)
{
    struct sentinel_replicas *list =
        list_of("7005 wrong 7002 ok 7003 err 7004 down 7006 hidden");

    expect_list(list, "7002 ok 7003 cut 7004 off 7005 cut 7006 off");
    sentinel_replicas_free(&list);
}
END_TEST

START_TEST(what_is_no_list_is_none)
{
    ck_assert_ptr_null(sentinel_replicas_read(
        VIEW("-ERR No such master with that name\r\n"), VIEW(HOST), PORT));
    ck_assert_ptr_null(
        sentinel_replicas_read(VIEW("+OK\r\n"), VIEW(HOST), PORT));
    ck_assert_ptr_null(sentinel_replicas_read(VIEW(""), VIEW(HOST), PORT));
}
END_TEST

/* Where Sentinels announce names their replicas may tell of addresses. */
START_TEST(name_and_address_of_a_master_may_be_the_same)
{
    struct view reply = VIEW(
        "*1\r\n*12\r\n+ip\r\n+10.0.0.2\r\n+port\r\n+7002\r\n"
        "+role-reported\r\n+slave\r\n+master-link-status\r\n+ok\r\n"
        "+master-host\r\n+10.0.0.1\r\n+master-port\r\n+7001\r\n");
    struct sentinel_replicas *list =
        sentinel_replicas_read(reply, VIEW("m.example"), PORT);
    expect_list(list, "7002 ok");
    sentinel_replicas_free(&list);
    list = sentinel_replicas_read(reply, VIEW("10.0.0.9"), PORT);
    expect_list(list, "7002 cut");
    sentinel_replicas_free(&list);
}
END_TEST

START_TEST(most_decide_who_is_a_replica)
{
    EXPECT_MERGED("7002 ok", "7002 ok", "7002 ok 7003 ok", "7002 ok");
    EXPECT_MERGED("7002 ok 7003 ok", "7002 ok", "7003 ok 7002 ok",
                  "7003 ok 7002 ok");
    EXPECT_MERGED("", "7002 ok", "7003 ok");
    EXPECT_MERGED("7002 ok", "7002 ok", NULL, NULL);
    EXPECT_MERGED("", NULL, NULL);
}
END_TEST

START_TEST(most_decide_how_it_is)
{
    EXPECT_MERGED("7002 ok", "7002 ok", "7002 down", "7002 ok");
    EXPECT_MERGED("7002 off", "7002 down", "7002 down", "7002 ok");
    EXPECT_MERGED("7002 cut", "7002 err", "7002 err", "7002 ok");
    EXPECT_MERGED("7002 cut", "7002 err", "7002 down", "7002 ok");
}
END_TEST

START_TEST(master_is_no_replica_of_its_own)
{
    struct sentinel_replicas *list = list_of("7002 ok 7003 ok");

    sentinel_replicas_drop(list, VIEW("10.0.0.2"), 7002);
    sentinel_replicas_drop(list, VIEW("10.0.0.2"), 7009);
    sentinel_replicas_drop(NULL, VIEW("10.0.0.2"), 7009);
    expect_list(list, "7003 ok");
    sentinel_replicas_free(&list);
}
END_TEST

START_TEST(lists_are_compared)
{
    struct sentinel_replicas *a = list_of("7002 ok 7003 ok");
    struct sentinel_replicas *b = list_of("7003 ok 7002 ok");
    struct sentinel_replicas *c = list_of("7002 ok 7003 err");
    struct sentinel_replicas *none = list_of("");

    ck_assert(sentinel_replicas_equal(a, b));
    ck_assert(!sentinel_replicas_equal(a, c));
    ck_assert(!sentinel_replicas_equal(a, none));
    ck_assert(sentinel_replicas_equal(NULL, none));
    sentinel_replicas_free(&a);
    sentinel_replicas_free(&b);
    sentinel_replicas_free(&c);
    sentinel_replicas_free(&none);
}
END_TEST

int
main(void)
{
    TCase *tests = tcase_create("sentinel_replicas");

    tcase_add_test(tests, list_has_what_a_sentinel_says);
    tcase_add_test(tests, what_is_no_list_is_none);
    tcase_add_test(tests, name_and_address_of_a_master_may_be_the_same);
    tcase_add_test(tests, most_decide_who_is_a_replica);
    tcase_add_test(tests, most_decide_how_it_is);
    tcase_add_test(tests, master_is_no_replica_of_its_own);
    tcase_add_test(tests, lists_are_compared);
    return unit_run("discovery", tests);
}
