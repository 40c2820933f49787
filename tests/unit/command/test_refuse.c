/*
 * test_refuse.c - refusals word for word as redis-server 7.0.15 gives them.
 */
#include "request.h"

#include "command/refuse.h"

#define UNKNOWN "-ERR unknown command '"
#define BEGIN "', with args beginning with: "

static struct buf out;

static void
tear_down(void)
{
    buf_fini(&out);
}

static void
expect_out(const char *text)
{
    expect_bytes(buf_view(&out), text);
    buf_fini(&out);
}

static void
refuse_unknown(const struct view *words, size_t count)
{
    struct request request;

    request_init_words(&request, words, count);
    refuse_unknown_command(&out, &request.args);
    request_fini(&request);
}

/* `count` times the letter; many_free() frees it. */
static struct view
many(char letter, size_t count)
{
    char *text = mem_alloc(count);

    memset(text, letter, count);
    return view_of(text, count);
}

static void
many_free(struct view text)
{
    mem_free((void *)(uintptr_t)text.data);
}

START_TEST(an_unknown_command_is_shown_with_its_arguments)
{
    const struct view words[] = {VIEW("nosuch"), VIEW("a"), VIEW("b")};

    refuse_unknown(words, 3);
    expect_out(UNKNOWN "nosuch" BEGIN "'a' 'b' \r\n");
    refuse_unknown(words, 1);
    expect_out(UNKNOWN "nosuch" BEGIN "\r\n");
}
END_TEST

START_TEST(long_arguments_are_cut_at_128_bytes_in_all)
{
    const struct view a200 = many('a', 200), a100 = many('a', 100);
    struct view a122 = view_of(a200.data, 122), a128 = view_of(a200.data, 128);
    struct view b25 = many('b', 25);
    char *want = mem_printf(UNKNOWN "nosuch" BEGIN "'%.128s' \r\n", a128.data);

    refuse_unknown((struct view[]){VIEW("nosuch"), a200, VIEW("b")}, 3);
    expect_out(want);
    mem_free(want);

    want = mem_printf(UNKNOWN "nosuch" BEGIN "'%.100s' '%.25s' \r\n", a100.data,
                      b25.data);
    refuse_unknown((struct view[]){VIEW("nosuch"), a100,
                                   VIEW("bbbbbbbbbbbbbbbbbbbbbbbbb"
                                        "bbbbbb"),
                                   VIEW("c")},
                   4);
    expect_out(want);
    mem_free(want);

    want = mem_printf(UNKNOWN "nosuch" BEGIN "'%.122s' 'bbb' \r\n", a122.data);
    refuse_unknown((struct view[]){VIEW("nosuch"), a122, VIEW("bbbbbbb"),
                                   VIEW("c")},
                   4);
    expect_out(want);
    mem_free(want);
    many_free(a200);
    many_free(a100);
    many_free(b25);
}
END_TEST

START_TEST(empty_arguments_count_for_their_quotes)
{
    struct view words[100];

    words[0] = VIEW("nosuch");
    for (size_t i = 1; i < ARRAY_LEN(words); i++)
        words[i] = VIEW("");
    refuse_unknown(words, ARRAY_LEN(words));
    /* 43 times three bytes: the last one begins at 126. */
    ck_assert_uint_eq(out.len, strlen(UNKNOWN "nosuch" BEGIN) + 43 * 3 + 2);
}
END_TEST

START_TEST(strange_bytes_are_cut_or_become_spaces)
{
    struct view x200 = many('x', 200);
    char *want = mem_printf(UNKNOWN "no such%.121s" BEGIN "\r\n", x200.data);
    char *name = mem_printf("no\rsuch%.200s", x200.data);

    refuse_unknown((struct view[]){VIEW("nosuch"), VIEW("a\0b\r\nc"),
                                   VIEW("b")},
                   3);
    expect_out(UNKNOWN "nosuch" BEGIN "'a' 'b' \r\n");
    refuse_unknown((struct view[]){VIEW("nosuch"), VIEW("a\r\nb")}, 2);
    expect_out(UNKNOWN "nosuch" BEGIN "'a  b' \r\n");
    refuse_unknown((struct view[]){view_str(name)}, 1);
    expect_out(want);
    refuse_unknown((struct view[]){VIEW("")}, 1);
    expect_out(UNKNOWN "" BEGIN "\r\n");
    mem_free(name);
    mem_free(want);
    many_free(x200);
}
END_TEST

START_TEST(an_unknown_subcommand_points_to_help)
{
    const struct command *object = command_find(VIEW("oBjEcT"));
    struct view x200 = many('x', 200);
    char *want = mem_printf("-ERR unknown subcommand '%.128s'. Try OBJECT "
                            "HELP.\r\n",
                            x200.data);

    refuse_unknown_subcommand(&out, object, VIEW("nosuch"));
    expect_out("-ERR unknown subcommand 'nosuch'. Try OBJECT HELP.\r\n");
    refuse_unknown_subcommand(&out, object, VIEW("a\0b"));
    expect_out("-ERR unknown subcommand 'a'. Try OBJECT HELP.\r\n");
    refuse_unknown_subcommand(&out, object, x200);
    expect_out(want);
    mem_free(want);
    many_free(x200);
}
END_TEST

START_TEST(wrong_arity_names_the_command)
{
    refuse_wrong_arity(&out, command_by_id(COMMAND_ID_GET));
    expect_out("-ERR wrong number of arguments for 'get' command\r\n");
    refuse_wrong_arity(&out, command_by_id(COMMAND_ID_CONFIG_GET));
    expect_out("-ERR wrong number of arguments for 'config|get' command\r\n");
}
END_TEST

static void
refuse_line(const char *line)
{
    struct request request;

    request_init(&request, line);
    refuse_command(&out, request_command(&request), &request.args);
    request_fini(&request);
}

START_TEST(a_refused_command_is_named)
{
    refuse_line("SHUTDOWN NOSAVE");
    expect_out("-ERR command 'shutdown' is not supported through this "
               "proxy\r\n");
    refuse_line("script DEBUG yes");
    expect_out("-ERR command 'script|debug' is not supported through this "
               "proxy\r\n");
}
END_TEST

START_TEST(what_data_servers_say_is_said_alike)
{
    refuse_line("SENTINEL masters");
    expect_out(UNKNOWN "SENTINEL" BEGIN "'masters' \r\n");
}
END_TEST

START_TEST(keys_apart_are_a_crossslot)
{
    refuse_crossslot(&out);
    expect_out("-CROSSSLOT Keys in request don't hash to the same slot\r\n");
    refuse_sort_pattern(&out, "BY");
    expect_out("-ERR BY option of SORT denied in Cluster mode.\r\n");
}
END_TEST

START_TEST(keys_over_the_limit_are_counted)
{
    refuse_keys(&out, command_find(VIEW("mget")), 12, 10);
    expect_out("-ERR proxy: command 'mget' has 12 keys, more than max_keys "
               "(10), command was not executed\r\n");
}
END_TEST

int
main(void)
{
    TCase *tests = tcase_create("refuse");

    tcase_add_checked_fixture(tests, NULL, tear_down);
    tcase_add_test(tests, an_unknown_command_is_shown_with_its_arguments);
    tcase_add_test(tests, long_arguments_are_cut_at_128_bytes_in_all);
    tcase_add_test(tests, empty_arguments_count_for_their_quotes);
    tcase_add_test(tests, strange_bytes_are_cut_or_become_spaces);
    tcase_add_test(tests, an_unknown_subcommand_points_to_help);
    tcase_add_test(tests, wrong_arity_names_the_command);
    tcase_add_test(tests, a_refused_command_is_named);
    tcase_add_test(tests, what_data_servers_say_is_said_alike);
    tcase_add_test(tests, keys_apart_are_a_crossslot);
    tcase_add_test(tests, keys_over_the_limit_are_counted);
    return unit_run("command", tests);
}
