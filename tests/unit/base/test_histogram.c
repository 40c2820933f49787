/*
 * test_histogram.c - where an observation is counted.
 */
#include "unit.h"

#include "base/histogram.h"

/* The one bucket that counts a value. */
static unsigned
bucket_of(uint64_t us)
{
    struct histogram h = {0};
    unsigned found = HISTOGRAM_BUCKETS;

    histogram_add(&h, us);
    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
        if (cell_get(&h.bucket[i]) == 0)
            continue;
        ck_assert_uint_eq(found, HISTOGRAM_BUCKETS);
        ck_assert_uint_eq(cell_get(&h.bucket[i]), 1);
        found = i;
    }
    ck_assert_uint_lt(found, HISTOGRAM_BUCKETS);
    ck_assert_uint_eq(cell_get(&h.sum_us), us);
    return found;
}

START_TEST(histogram_bounds_are_inclusive)
{
    for (unsigned i = 0; i < HISTOGRAM_BUCKETS - 1; i++) {
        ck_assert_uint_eq(bucket_of(histogram_bound_us(i)), i);
        ck_assert_uint_eq(bucket_of(histogram_bound_us(i) + 1), i + 1);
    }
}
END_TEST

START_TEST(histogram_takes_the_smallest_and_the_largest_value)
{
    ck_assert_uint_eq(bucket_of(0), 0);
    ck_assert_uint_eq(bucket_of(1), 0);
    ck_assert_uint_eq(bucket_of(UINT64_MAX), HISTOGRAM_BUCKETS - 1);
}
END_TEST

START_TEST(histogram_bounds_double_and_end_with_infinity)
{
    ck_assert_uint_eq(histogram_bound_us(0), HISTOGRAM_FIRST_US);
    for (unsigned i = 1; i < HISTOGRAM_BUCKETS - 1; i++)
        ck_assert_uint_eq(histogram_bound_us(i), 2 * histogram_bound_us(i - 1));
    ck_assert_uint_gt(histogram_bound_us(HISTOGRAM_BUCKETS - 2), 16000000);
    ck_assert(histogram_bound_us(HISTOGRAM_BUCKETS - 1) == UINT64_MAX);
}
END_TEST

START_TEST(histogram_merge_adds_every_cell)
{
    struct histogram total = {0}, part = {0};

    histogram_add(&total, 1);
    histogram_add(&part, 1);
    histogram_add(&part, 1000);
    histogram_add(&part, UINT32_MAX);
    histogram_merge(&total, &part);

    ck_assert_uint_eq(cell_get(&total.bucket[0]), 2);
    ck_assert_uint_eq(cell_get(&total.bucket[bucket_of(1000)]), 1);
    ck_assert_uint_eq(cell_get(&total.bucket[HISTOGRAM_BUCKETS - 1]), 1);
    ck_assert_uint_eq(cell_get(&total.sum_us), 1002 + (uint64_t)UINT32_MAX);
    ck_assert_uint_eq(cell_get(&part.bucket[0]), 1);
}
END_TEST

int
main(void)
{
    TCase *tests = tcase_create("histogram");

    tcase_add_test(tests, histogram_bounds_are_inclusive);
    tcase_add_test(tests, histogram_takes_the_smallest_and_the_largest_value);
    tcase_add_test(tests, histogram_bounds_double_and_end_with_infinity);
    tcase_add_test(tests, histogram_merge_adds_every_cell);
    return unit_run("base", tests);
}
