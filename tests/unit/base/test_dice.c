/*
 * test_dice.c - the numbers that SplitMix64 is known for.
 */
#include "unit.h"

#include "base/dice.h"

START_TEST(numbers_are_those_of_splitmix64)
{
    uint64_t dice = 1234567;

    ck_assert_uint_eq(dice_roll(&dice), UINT64_C(6457827717110365317));
    ck_assert_uint_eq(dice_roll(&dice), UINT64_C(3203168211198807973));
    ck_assert_uint_eq(dice_roll(&dice), UINT64_C(9817491932198370423));
}
END_TEST

START_TEST(none_reaches_its_bound_and_each_below_it_comes)
{
    uint64_t dice = 0;
    unsigned seen = 0;

    for (int i = 0; i < 1000; i++) {
        uint64_t number = dice_below(&dice, 6);
        ck_assert_uint_lt(number, 6);
        seen |= 1u << number;
    }
    ck_assert_uint_eq(seen, 0x3f);
    ck_assert_uint_eq(dice_below(&dice, 1), 0);
}
END_TEST

int
main(void)
{
    TCase *tests = tcase_create("dice");

    tcase_add_test(tests, numbers_are_those_of_splitmix64);
    tcase_add_test(tests, none_reaches_its_bound_and_each_below_it_comes);
    return unit_run("base", tests);
}
