/*
 * test_outcome.c - what error words prove.
 */
#include "guard.h"
#include "unit.h"

#include "command/outcome.h"

static enum outcome
outcome(const char *line)
{
    return outcome_of(view_str(line));
}

START_TEST(known_words_are_recognised)
{
    ck_assert_int_eq(outcome("-MOVED 12182 127.0.0.1:7103\r\n"), OUTCOME_MOVED);
    ck_assert_int_eq(outcome("-ASK 5061 127.0.0.1:7102\r\n"), OUTCOME_ASK);
    ck_assert_int_eq(outcome("-TRYAGAIN Multiple keys request during "
                             "rehashing of slot\r\n"),
                     OUTCOME_TRYAGAIN);
    ck_assert_int_eq(outcome("-LOADING Redis is loading the dataset in memory"
                             "\r\n"),
                     OUTCOME_LOADING);
    ck_assert_int_eq(outcome("-LOADING Valkey is loading"), OUTCOME_LOADING);
    ck_assert_int_eq(outcome("-BUSY Redis is busy\r\n"), OUTCOME_BUSY);
    ck_assert_int_eq(outcome("-OOM\r\n"), OUTCOME_OOM);
    ck_assert_int_eq(outcome("-OOM"), OUTCOME_OOM);
    ck_assert_int_eq(outcome("-OOM\n"), OUTCOME_OOM);
}
END_TEST

START_TEST(words_are_compared_whole)
{
    ck_assert_int_eq(outcome("-BUSYKEY Target key name already exists.\r\n"),
                     OUTCOME_OTHER);
    ck_assert_int_eq(outcome("-BUSYGROUP Consumer Group name\r\n"),
                     OUTCOME_OTHER);
    ck_assert_int_eq(outcome("-BUS Y\r\n"), OUTCOME_OTHER);
    ck_assert_int_eq(outcome("-moved 1 a:1\r\n"), OUTCOME_OTHER);
    ck_assert_int_eq(outcome("-ERR MOVED 1 a:1\r\n"), OUTCOME_OTHER);
    ck_assert_int_eq(outcome("- MOVED\r\n"), OUTCOME_OTHER);
    ck_assert_int_eq(outcome("-\r\n"), OUTCOME_OTHER);
    ck_assert_int_eq(outcome("-"), OUTCOME_OTHER);
    ck_assert_int_eq(outcome(""), OUTCOME_OTHER);
    ck_assert_int_eq(outcome("+MOVED 1 a:1\r\n"), OUTCOME_OTHER);
    ck_assert_int_eq(outcome("-WRONGTYPE Operation\r\n"), OUTCOME_OTHER);
    ck_assert_int_eq(outcome_of(VIEW("-ASK\0 1\r\n")), OUTCOME_OTHER);
}
END_TEST

START_TEST(every_word_is_its_own_outcome)
{
    for (int i = OUTCOME_OTHER + 1; i < OUTCOME_COUNT; i++) {
        const char *word = outcome_word((enum outcome)i);
        size_t len = strlen(word);
        struct guard line = guard_new(len + 1);
        line.data[0] = '-';
        memcpy(line.data + 1, word, len);
        ck_assert_int_eq(outcome_of(view_of(line.data, len + 1)), i);
        ck_assert_int_eq(outcome_of(view_of(line.data, len)), OUTCOME_OTHER);
        guard_free(&line);
    }
    ck_assert_str_eq(outcome_word(OUTCOME_OTHER), "");
}
END_TEST

START_TEST(refusals_prove_that_nothing_ran)
{
    static const enum outcome proofs[] = {
        OUTCOME_MOVED,     OUTCOME_ASK,       OUTCOME_TRYAGAIN,
        OUTCOME_CROSSSLOT, OUTCOME_READONLY,  OUTCOME_LOADING,
        OUTCOME_OOM,       OUTCOME_MISCONF,   OUTCOME_MASTERDOWN,
        OUTCOME_NOAUTH,    OUTCOME_UNBLOCKED, OUTCOME_EXECABORT,
    };

    for (size_t i = 0; i < ARRAY_LEN(proofs); i++)
        ck_assert(outcome_proves_not_run(proofs[i]));
    ck_assert(!outcome_proves_not_run(OUTCOME_OTHER));
    ck_assert(!outcome_proves_not_run(OUTCOME_INPROG));
    ck_assert(!outcome_proves_not_run(OUTCOME_NOGOODSLAVE));
}
END_TEST

int
main(void)
{
    TCase *tests = tcase_create("outcome");

    tcase_add_test(tests, known_words_are_recognised);
    tcase_add_test(tests, words_are_compared_whole);
    tcase_add_test(tests, every_word_is_its_own_outcome);
    tcase_add_test(tests, refusals_prove_that_nothing_ran);
    return unit_run("command", tests);
}
