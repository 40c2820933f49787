/*
 * test_table.c - the rows and how they are found.
 */
#include "request.h"

#include "command/keyspec.h"

static const struct command *
find(const char *name)
{
    return command_find(view_str(name));
}

/* The row by its full name, as a client would spell it. */
static const struct command *
find_full(char *name)
{
    char *bar = strchr(name, '|');

    if (bar == NULL)
        return find(name);
    const struct command *container =
        command_find(view_of(name, (size_t)(bar - name)));
    ck_assert_ptr_nonnull(container);
    return command_find_sub(container, view_str(bar + 1));
}

/* Upper-case every letter whose position has a bit in common with mask. */
static void
change_case(char *name, unsigned mask)
{
    for (unsigned i = 0; name[i] != '\0'; i++)
        if (((i + 1) & mask) && name[i] >= 'a' && name[i] <= 'z')
            name[i] = (char)(name[i] - 32);
}

START_TEST(every_row_is_found_in_any_case)
{
    static const unsigned masks[] = {0, 1, 2, ~0u};

    for (int i = 0; i < COMMAND_ID_COUNT; i++) {
        const struct command *row = command_by_id((enum command_id)i);
        ck_assert_int_eq(row->id, i);
        ck_assert_uint_eq(row->name_len, strlen(row->name));
        for (size_t m = 0; m < ARRAY_LEN(masks); m++) {
            char *name = mem_strdup(row->name);
            change_case(name, masks[m]);
            ck_assert_ptr_eq(find_full(name), row);
            mem_free(name);
        }
    }
}
END_TEST

START_TEST(similar_names_are_unknown)
{
    static const char letters[] = "az|_\x01\xff";

    for (int i = 0; i < COMMAND_ID_COUNT; i++) {
        const struct command *row = command_by_id((enum command_id)i);
        char *name = mem_printf("%sx", row->name);
        const struct command *longer = find_full(name);
        ck_assert(longer == NULL || longer != row);
        name[strlen(name) - 1] = '\0';
        for (char *p = name; *p != '\0'; p++) {
            char saved = *p;
            for (size_t j = 0; j + 1 < sizeof(letters) && saved != '|'; j++) {
                *p = letters[j];
                const struct command *other = find(name);
                ck_assert(other == NULL || strcmp(other->name, name) == 0);
            }
            *p = saved;
        }
        mem_free(name);
    }
}
END_TEST

/* The one that was found last has a shorter way. */
START_TEST(neighbours_of_the_last_one_are_told_apart)
{
    static const char *const others[] = {"", "g", "ge", "gat", "gex", "xet",
                                         "gett", "get\x01"};
    const struct command *get = command_by_id(COMMAND_ID_GET);

    ck_assert_ptr_null(find(""));
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        ck_assert_ptr_eq(find("get"), get);
        ck_assert_ptr_null(find(others[i]));
        ck_assert_ptr_eq(find("GET"), get);
        ck_assert_ptr_eq(find("set"), command_by_id(COMMAND_ID_SET));
        ck_assert_ptr_eq(find("GET"), get);
        ck_assert_ptr_eq(find("get"), get);
    }
}
END_TEST

START_TEST(only_letters_lose_their_case)
{
    /* Bytes that differ from a letter or sign by the bit that makes case. */
    ck_assert_ptr_null(find("json\x0eget"));
    ck_assert_ptr_null(find("client\\id"));
    ck_assert_ptr_null(find("g\xe5t"));
    ck_assert_ptr_null(find("evalsha\x7fro"));
    ck_assert_ptr_nonnull(find("EVALSHA_ro"));
}
END_TEST

START_TEST(a_nul_in_a_name_makes_it_unknown)
{
    ck_assert_ptr_null(command_find(VIEW("get\0")));
    ck_assert_ptr_null(command_find(VIEW("get\0x")));
    ck_assert_ptr_null(command_find(VIEW("\0get")));
    ck_assert_ptr_null(command_find(VIEW("g\0t")));
    ck_assert_ptr_null(command_find(VIEW("zrangebyscore\0")));
    ck_assert_ptr_null(command_find(view_of("get", 0)));
}
END_TEST

START_TEST(names_are_read_to_their_last_byte_only)
{
    for (int i = 0; i < COMMAND_ID_COUNT; i++) {
        const struct command *row = command_by_id((enum command_id)i);
        for (size_t len = 0; len <= row->name_len; len++) {
            struct guard guard = guard_copy(row->name, len);
            const struct command *found =
                command_find(view_of(guard.data, len));
            ck_assert(found == NULL || found->name_len == len);
            guard_free(&guard);
        }
    }
}
END_TEST

START_TEST(a_subcommand_needs_its_container)
{
    const struct command *config = find("CONFIG");

    ck_assert(config->flags & COMMAND_CONTAINER);
    ck_assert_ptr_null(find("config|get"));
    ck_assert_ptr_null(find("freq"));
    ck_assert_int_eq(command_find_sub(config, VIEW("gEt"))->id,
                     COMMAND_ID_CONFIG_GET);
    ck_assert_ptr_null(command_find_sub(config, VIEW("freq")));
    ck_assert_ptr_null(command_find_sub(config, VIEW("config|get")));
    ck_assert_ptr_null(command_find_sub(find("get"), VIEW("get")));
    ck_assert_int_eq(command_find_sub(find("sentinel"),
                                      VIEW("GET-PRIMARY-ADDR-BY-NAME"))
                         ->id,
                     COMMAND_ID_SENTINEL_GET_PRIMARY_ADDR_BY_NAME);
}
END_TEST

START_TEST(rows_are_sorted_and_containers_have_subcommands)
{
    bool inside[COMMAND_ID_COUNT] = {false};

    for (int i = 0; i < COMMAND_ID_COUNT; i++) {
        const struct command *row = command_by_id((enum command_id)i);
        const char *bar = strchr(row->name, '|');
        if (i > 0)
            ck_assert_str_lt(command_by_id((enum command_id)(i - 1))->name,
                             row->name);
        if (bar != NULL)
            inside[command_find(view_of(row->name, (size_t)(bar - row->name)))
                       ->id] = true;
    }
    for (int i = 0; i < COMMAND_ID_COUNT; i++) {
        const struct command *row = command_by_id((enum command_id)i);
        ck_assert_int_eq(inside[i], (row->flags & COMMAND_CONTAINER) != 0);
    }
}
END_TEST

START_TEST(rows_agree_with_themselves)
{
    for (int i = 0; i < COMMAND_ID_COUNT; i++) {
        const struct command *row = command_by_id((enum command_id)i);
        const struct key_plan *plan = key_plan_of(row);
        ck_assert_int_ne(row->arity, 0);
        ck_assert((row->class == CLASS_SPLIT) ==
                  (row->split != SPLIT_NONE && row->split != SPLIT_STREAMS));
        ck_assert_msg(!(row->flags & COMMAND_WRITE) ||
                          !(row->flags & COMMAND_READONLY),
                      "%s writes and does not", row->name);
        if (row->class == CLASS_SPLIT || row->class == CLASS_ROUTE_PIN)
            ck_assert_uint_gt(plan->count, 0);

        uint32_t flags = plan->count > 0;
        for (const char *c = row->key_flags; *c != '\0'; c++)
            flags += *c == ';';
        ck_assert_msg(flags == plan->count, "key flags of %s", row->name);
    }
}
END_TEST

START_TEST(fixed_positions_are_those_of_the_keyspec)
{
    for (int i = 0; i < COMMAND_ID_COUNT; i++) {
        const struct command *row = command_by_id((enum command_id)i);
        const struct key_plan *plan = key_plan_of(row);
        int triple[3] = {0, 0, 0};
        bool movable = false;
        for (uint32_t j = 0; j < plan->count; j++)
            movable |= plan->specs[j].kind != KEY_RANGE;
        /* SORT_RO has the flag too, for patterns that name no key. */
        ck_assert(!movable || (row->flags & COMMAND_MOVABLEKEYS));
        if (!movable)
            key_plan_triple(plan, triple);
        ck_assert_int_eq(row->first_key, triple[0]);
        ck_assert_int_eq(row->last_key, triple[1]);
        ck_assert_int_eq(row->key_step, triple[2]);
    }
}
END_TEST

START_TEST(commands_of_one_key_are_plain)
{
    static const char *const plain[] = {"get", "set", "incr", "hset",
                                        "zadd", "lpush", "expire"};
    static const char *const special[] = {
        "mget", "del", "eval", "blpop", "xread", "sort", "publish", "ping",
        "object", "spublish", "watch", "cluster", "smove", "zunion"};

    for (size_t i = 0; i < sizeof(plain) / sizeof(*plain); i++)
        ck_assert_msg(find(plain[i])->is_plain, "%s", plain[i]);
    for (size_t i = 0; i < sizeof(special) / sizeof(*special); i++)
        ck_assert_msg(!find(special[i])->is_plain, "%s", special[i]);
}
END_TEST

START_TEST(commands_have_their_classes)
{
    ck_assert_uint_eq(find("get")->class, CLASS_ROUTE);
    ck_assert_uint_eq(find("blpop")->class, CLASS_ROUTE_PIN);
    ck_assert_uint_eq(find("mget")->class, CLASS_SPLIT);
    ck_assert_uint_eq(find("mget")->split, SPLIT_VALUES);
    ck_assert_uint_eq(find("msetnx")->class, CLASS_ROUTE);
    ck_assert_uint_eq(find("msetex")->class, CLASS_ROUTE);
    ck_assert_uint_eq(find("dbsize")->class, CLASS_FANOUT);
    ck_assert_uint_eq(find("scan")->class, CLASS_CURSOR);
    ck_assert_uint_eq(find("ping")->class, CLASS_LOCAL);
    ck_assert_uint_eq(find("command")->class, CLASS_LOCAL);
    ck_assert_uint_eq(find("watch")->class, CLASS_PIN);
    ck_assert_uint_eq(find("lastsave")->class, CLASS_ANY);
    ck_assert_uint_eq(find("shutdown")->class, CLASS_REFUSE);
    ck_assert(find("eval")->flags & COMMAND_MAY_REPLICATE);
}
END_TEST

START_TEST(arity_is_exact_or_a_minimum)
{
    const struct command *get = find("get"), *mget = find("mget");

    ck_assert(!command_arity_ok(get, 1));
    ck_assert(command_arity_ok(get, 2));
    ck_assert(!command_arity_ok(get, 3));
    ck_assert(!command_arity_ok(mget, 1));
    ck_assert(command_arity_ok(mget, 2));
    ck_assert(command_arity_ok(mget, UINT32_MAX));
}
END_TEST

int
main(void)
{
    TCase *tests = tcase_create("table");

    tcase_add_test(tests, every_row_is_found_in_any_case);
    tcase_add_test(tests, similar_names_are_unknown);
    tcase_add_test(tests, neighbours_of_the_last_one_are_told_apart);
    tcase_add_test(tests, only_letters_lose_their_case);
    tcase_add_test(tests, a_nul_in_a_name_makes_it_unknown);
    tcase_add_test(tests, names_are_read_to_their_last_byte_only);
    tcase_add_test(tests, a_subcommand_needs_its_container);
    tcase_add_test(tests, rows_are_sorted_and_containers_have_subcommands);
    tcase_add_test(tests, rows_agree_with_themselves);
    tcase_add_test(tests, fixed_positions_are_those_of_the_keyspec);
    tcase_add_test(tests, commands_of_one_key_are_plain);
    tcase_add_test(tests, commands_have_their_classes);
    tcase_add_test(tests, arity_is_exact_or_a_minimum);
    return unit_run("command", tests);
}
