/*
 * test_keys.c - which words of a request are keys, by examples.
 *
 * Where not said otherwise the lists are those of COMMAND GETKEYS of a server.
 */
#include "request.h"

#include "command/keys.h"

struct example {
    const char *request;
    const char *keys; /* between spaces; NULL: malformed */
};

static void
expect_keys(const struct example *example)
{
    struct request request;
    struct key_list list;
    struct buf found = {0};

    request_init(&request, example->request);
    const struct command *command = request_command(&request);
    ck_assert_msg(command != NULL, "unknown: %s", example->request);
    key_list_init(&list);
    enum keys_result result = command_keys(command, &request.args, &list);
    ck_assert_msg((result == KEYS_MALFORMED) == (example->keys == NULL),
                  "%s: %d", example->request, result);
    for (uint32_t i = 0; i < list.count; i++) {
        if (i > 0)
            buf_append_char(&found, ' ');
        buf_append_view(&found, command_arg(&request.args, list.at[i]));
    }
    expect_bytes(buf_view(&found), example->keys == NULL ? "" : example->keys);
    buf_fini(&found);
    key_list_fini(&list);
    request_fini(&request);
}

#define EXPECT_ALL(examples)                              \
    for (size_t i_ = 0; i_ < ARRAY_LEN(examples); i_++) { \
        expect_keys(&(examples)[i_]);                     \
    }

START_TEST(keys_in_fixed_places_are_found)
{
    static const struct example examples[] = {
        {"GET k", "k"},
        {"SET k v GET EX 10", "k"},
        {"PING", ""},
        {"CLUSTER KEYSLOT k", ""},
        {"PUBLISH c m", ""},
        {"KEYS *", ""},
        {"SCAN 0", ""},
        {"MGET a b c", "a b c"},
        {"MGET a", "a"},
        {"DEL a a", "a a"},
        {"MSET a 1 b 2", "a b"},
        {"MSETNX a 1", "a"},
        {"LCS a b LEN", "a b"},
        {"RENAME a b", "a b"},
        {"SMOVE a b m", "a b"},
        {"COPY a b DB 3", "a b"},
        {"SUNIONSTORE d a b", "d a b"},
        {"PFMERGE d", "d"},
        {"PFMERGE d a b", "d a b"},
        {"BITOP AND d a b", "d a b"},
        {"BITOP NOT d a", "d a"},
        {"BLPOP a b 0", "a b"},
        {"BLPOP a 0", "a"},
        {"BZPOPMIN a b c 1.5", "a b c"},
        {"BLMOVE a b LEFT RIGHT 0", "a b"},
        {"GEOSEARCHSTORE d s FROMMEMBER m BYRADIUS 1 m", "d s"},
        {"ZRANGESTORE d s 0 -1", "d s"},
        {"WATCH a b", "a b"},
        {"HSETEX k FIELDS 1 f v", "k"},
        {"HEXPIRE k 10 FIELDS 1 f", "k"},
        {"BITFIELD k GET u8 0", "k"},
        {"JSON.MGET a b $", "a b"},
        {"JSON.MSET a $ 1 b $ 2", "a b"},
        {"TS.MADD a 1 2 b 3 4", "a b"},
        {"LMOVEM a b LEFT RIGHT 2", "a b"},
    };

    EXPECT_ALL(examples);
}
END_TEST

START_TEST(subcommands_have_keys_of_their_own)
{
    static const struct example examples[] = {
        {"OBJECT FREQ k", "k"},       {"oBjEcT eNcOdInG a", "a"},
        {"OBJECT HELP", ""},          {"XINFO HELP", ""},
        {"XINFO STREAM k FULL", "k"}, {"XGROUP CREATE k g $", "k"},
        {"MEMORY USAGE k", "k"},      {"PFDEBUG GETREG k", "k"},
    };

    EXPECT_ALL(examples);
}
END_TEST

START_TEST(channels_route_as_keys_do)
{
    static const struct example examples[] = {
        {"SPUBLISH c m", "c"},
        {"SSUBSCRIBE a b", "a b"},
        {"SUNSUBSCRIBE", ""},
        {"SUBSCRIBE a b", ""},
    };

    EXPECT_ALL(examples);
}
END_TEST

START_TEST(counted_keys_are_found)
{
    static const struct example examples[] = {
        {"EVAL script 2 a b arg", "a b"},
        {"EVAL script 0 arg", ""},
        {"EVALSHA sha 1 a", "a"},
        {"FCALL f 1 a b", "a"},
        {"EVAL_RO script 3 a b c", "a b c"},
        {"LMPOP 2 a b LEFT", "a b"},
        {"BLMPOP 0 2 a b LEFT", "a b"},
        {"BZMPOP 0 1 a MIN", "a"},
        {"ZMPOP 1 a MAX", "a"},
        {"SINTERCARD 2 a b LIMIT 1", "a b"},
        {"ZINTER 2 a b WITHSCORES", "a b"},
        {"ZUNIONSTORE d 2 a b WEIGHTS 1 2", "d a b"},
        {"ZDIFFSTORE d 1 a", "d a"},
        {"MSETEX 2 a 1 b 2 EX 10", "a b"},
        {"CMS.MERGE d 2 a b WEIGHTS 1 2", "d a b"},
        {"TDIGEST.MERGE d 1 a OVERRIDE", "d a"},
        {"SUNIONCARD 1 a", "a"},
    };

    EXPECT_ALL(examples);
}
END_TEST

START_TEST(wrong_counts_are_malformed)
{
    static const struct example examples[] = {
        {"EVAL x abc", NULL},
        {"EVAL x 9 a", NULL},
        {"EVAL x 2 a", NULL},
        {"EVAL x -1 a", NULL},
        {"EVAL x +1 a", NULL},
        {"EVAL x 01 a", NULL},
        {"EVAL x 1.0 a", NULL},
        {"EVAL x 0x1 a", NULL},
        {"EVAL x  a", NULL},
        {"EVAL x 18446744073709551615 a", NULL},
        {"EVAL x 18446744073709551616 a", NULL},
        {"EVAL x 4294967297 a", NULL},
        {"ZUNIONSTORE d x a", NULL},
        {"ZUNIONSTORE d 9 a", NULL},
        {"SINTERCARD -2 a b", NULL},
        {"MSETEX 2 a 1 b", NULL},
        {"MSETEX 2 a 1 EX 10", "a EX"},
    };

    EXPECT_ALL(examples);
}
END_TEST

START_TEST(streams_stand_behind_their_word)
{
    static const struct example examples[] = {
        {"XREAD STREAMS a 0", "a"},
        {"XREAD COUNT 2 BLOCK 0 streams a b 0 0", "a b"},
        {"XREAD STREAMS streams 0", "streams"},
        {"XREAD COUNT streams STREAMS a 0", "STREAMS"},
        {"XREAD STREAMS a b 0", "a"},
        {"XREADGROUP GROUP g c STREAMS a >", "a"},
        {"XREADGROUP GROUP STREAMS c STREAMS a >", "a"},
        {"XREADGROUP GROUP g streams COUNT 1 STREAMS a b > >", "a b"},
        /* Here servers look into the group's name; we do not. */
        {"XREADGROUP COUNT 1 GROUP streams c STREAMS a >", "a"},
        {"XREAD COUNT 1 BLOCK 2", NULL},
        {"XREAD COUNT 2 STREAMS", NULL},
        {"XREAD BLOCK 0 STREAMS a", NULL},
    };

    EXPECT_ALL(examples);
}
END_TEST

START_TEST(sort_has_a_key_to_store_at)
{
    static const struct example examples[] = {
        {"SORT k", "k"},
        {"SORT k STORE d", "k d"},
        {"sort k alpha store d desc", "k d"},
        {"SORT k GET store LIMIT 0 1", "k"},
        {"SORT k BY store", "k"},
        {"SORT k LIMIT store store STORE d", "k d"},
        {"SORT store STORE store", "store store"},
        {"SORT k STORE a STORE b", "k b"},
        {"SORT k STORE", "k"},
        {"SORT k GET STORE STORE d", "k d"},
        /* The list is stored at "store"; servers say "ALPHA" here. */
        {"SORT k STORE store ALPHA", "k store"},
        {"SORT_RO k GET #", "k"},
    };

    EXPECT_ALL(examples);
}
END_TEST

START_TEST(georadius_stores_at_the_last_key)
{
    static const struct example examples[] = {
        {"GEORADIUS k 0 0 1 m", "k"},
        {"GEORADIUS k 0 0 1 m STORE d", "k d"},
        {"GEORADIUS k 0 0 1 m COUNT 1 ASC storedist d", "k d"},
        /* Servers list d too, but write only e. */
        {"GEORADIUS k 0 0 1 m STORE d STOREDIST e", "k e"},
        {"GEORADIUS k 0 0 1 m STORE d STORE e", "k e"},
        {"GEORADIUS k 0 0 1 m STORE STOREDIST", "k STOREDIST"},
        {"GEORADIUS store store 0 1 m", "store"},
        {"GEORADIUSBYMEMBER k m 1 m STORE d", "k d"},
        {"GEORADIUSBYMEMBER k store store m STORE d", "k d"},
        {"GEORADIUS_RO k 0 0 1 m STORE d", "k"},
    };

    EXPECT_ALL(examples);
}
END_TEST

START_TEST(migrate_may_name_many_keys)
{
    static const struct example examples[] = {
        {"MIGRATE h 1 k 0 1", "k"},
        {"MIGRATE h 1  0 1 KEYS a b", "a b"},
        {"MIGRATE h 1  0 1 AUTH keys KEYS a", "a"},
        {"MIGRATE h 1  0 1 AUTH2 keys keys COPY KEYS a", "a"},
        {"MIGRATE h 1  0 1", ""},
    };

    EXPECT_ALL(examples);
}
END_TEST

START_TEST(json_debug_has_a_key_only_for_memory)
{
    static const struct example examples[] = {
        {"JSON.DEBUG MEMORY k $", "k"},
        {"JSON.DEBUG HELP", ""},
        {"JSON.DEBUG MEMORY", ""},
    };

    EXPECT_ALL(examples);
}
END_TEST

/* Whatever the words are, positions stay inside the request. */
START_TEST(positions_stay_inside_the_request)
{
    static const char *const words[] = {"STREAMS", "1", "STORE", "2", "KEYS"};
    struct key_list list;

    key_list_init(&list);
    for (int id = 0; id < COMMAND_ID_COUNT; id++) {
        const struct command *row = command_by_id((enum command_id)id);
        for (uint32_t argc = 1; argc < 12; argc++) {
            struct view some[12];
            struct request request;
            for (uint32_t i = 0; i < argc; i++)
                some[i] = view_str(words[(i + (uint32_t)id) % 5]);
            request_init_words(&request, some, argc);
            enum keys_result result = command_keys(row, &request.args, &list);
            ck_assert(result == KEYS_OK || list.count == 0);
            for (uint32_t i = 0; i < list.count; i++)
                ck_assert(list.at[i] > 0 && list.at[i] < argc);
            request_fini(&request);
        }
    }
    key_list_fini(&list);
}
END_TEST

START_TEST(a_long_list_grows)
{
    static struct view words[10002];
    struct request request;
    struct key_list list;

    words[0] = VIEW("SUNIONSTORE");
    for (size_t i = 1; i < ARRAY_LEN(words); i++)
        words[i] = VIEW("k");
    request_init_words(&request, words, ARRAY_LEN(words));
    key_list_init(&list);
    for (int round = 0; round < 2; round++) {
        ck_assert_int_eq(command_keys(command_find(words[0]), &request.args,
                                      &list),
                         KEYS_OK);
        ck_assert_uint_eq(list.count, 10001);
        for (uint32_t i = 0; i < list.count; i++)
            ck_assert_uint_eq(list.at[i], i + 1);
    }
    key_list_fini(&list);
    request_fini(&request);
}
END_TEST

static bool
routes_early(const char *name, uint32_t argc, uint32_t seen)
{
    return command_routes_early(command_find(view_str(name)), argc, seen);
}

START_TEST(keys_in_front_route_early)
{
    ck_assert(routes_early("set", 3, 2));
    ck_assert(!routes_early("set", 3, 1));
    ck_assert(routes_early("getset", 3, 2));
    ck_assert(routes_early("append", 3, 2));
    ck_assert(routes_early("hset", 4, 3));
    ck_assert(routes_early("xadd", 5, 3));
    ck_assert(routes_early("restore", 4, 3));
    ck_assert(routes_early("copy", 5, 3));
    ck_assert(!routes_early("copy", 5, 2));
    ck_assert(!routes_early("mset", 3, 2));
    ck_assert(!routes_early("msetnx", 5, 2));
    ck_assert(!routes_early("eval", 4, 3));
    ck_assert(!routes_early("eval", 4, 1));
    ck_assert(!routes_early("bitop", 4, 3));
    ck_assert(!routes_early("sort", 4, 3));
    ck_assert(!routes_early("echo", 2, 1));
    ck_assert(!routes_early("publish", 3, 2));
    ck_assert(!routes_early("watch", 3, 2));
}
END_TEST

static const char *
pattern_option(const char *line)
{
    struct request request;

    request_init(&request, line);
    const char *option =
        command_pattern_option(request_command(&request), &request.args);
    request_fini(&request);
    return option == NULL ? "none" : option;
}

START_TEST(sort_patterns_name_foreign_keys)
{
    ck_assert_str_eq(pattern_option("SORT k BY w_* GET #"), "BY");
    ck_assert_str_eq(pattern_option("SORT k BY nosort GET #"), "none");
    ck_assert_str_eq(pattern_option("SORT k GET # get d_*"), "GET");
    ck_assert_str_eq(pattern_option("SORT_RO k GET d->f"), "GET");
    ck_assert_str_eq(pattern_option("SORT k STORE get"), "none");
    ck_assert_str_eq(pattern_option("SORT k STORE BY BY w*"), "BY");
    ck_assert_str_eq(pattern_option("SORT k LIMIT by *"), "none");
    ck_assert_str_eq(pattern_option("SORT k BY"), "none");
    ck_assert_str_eq(pattern_option("LRANGE k BY w*"), "none");
}
END_TEST

int
main(void)
{
    TCase *tests = tcase_create("keys");

    tcase_add_test(tests, keys_in_fixed_places_are_found);
    tcase_add_test(tests, subcommands_have_keys_of_their_own);
    tcase_add_test(tests, channels_route_as_keys_do);
    tcase_add_test(tests, counted_keys_are_found);
    tcase_add_test(tests, wrong_counts_are_malformed);
    tcase_add_test(tests, streams_stand_behind_their_word);
    tcase_add_test(tests, sort_has_a_key_to_store_at);
    tcase_add_test(tests, georadius_stores_at_the_last_key);
    tcase_add_test(tests, migrate_may_name_many_keys);
    tcase_add_test(tests, json_debug_has_a_key_only_for_memory);
    tcase_add_test(tests, positions_stay_inside_the_request);
    tcase_add_test(tests, a_long_list_grows);
    tcase_add_test(tests, keys_in_front_route_early);
    tcase_add_test(tests, sort_patterns_name_foreign_keys);
    return unit_run("command", tests);
}
