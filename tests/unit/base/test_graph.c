/*
 * test_graph.c - what samples look like.
 *
 * The drawings are those that redis-server 7.0 has made of the same samples.
 */
#include "unit.h"

#include "base/graph.h"

static const struct graph_point samples[] = {
    {3, 66}, {50, 65}, {11, 63}, {22, 62}, {33, 61},
    {4, 60}, {41, 59}, {50, 58}, {10, 56}, {10, 55},
};

static void
expect_drawing(const struct graph_point *points, size_t count,
               const char *expected)
{
    struct buf out = {0};

    graph_draw(points, count, &out);
    buf_append_char(&out, '\0');
    ck_assert_str_eq(out.data, expected);
    buf_fini(&out);
}

START_TEST(graph_is_drawn_as_by_servers)
{
    expect_drawing(samples, ARRAY_LEN(samples),
                   " #    _#  \n"
                   " |  o ||  \n"
                   " | o| ||  \n"
                   "_|#||_||oo\n"
                   "          \n"
                   "1111115555\n"
                   "mmmmmm9865\n"
                   "      ssss\n");
}
END_TEST

START_TEST(graph_of_equal_samples_is_flat)
{
    const struct graph_point same[] = {{7, 90000}, {7, 7200}, {7, 0}};

    expect_drawing(same, 3, "   \n   \n   \n___\n   \n120\ndhs\n");
    expect_drawing(same, 0, "");
}
END_TEST

START_TEST(graph_goes_on_below_when_the_line_is_full)
{
    struct graph_point many[81];
    struct buf out = {0};
    size_t lines = 0;

    for (size_t i = 0; i < ARRAY_LEN(many); i++)
        many[i] = (struct graph_point){i, 0};
    graph_draw(many, ARRAY_LEN(many), &out);
    struct view text = buf_view(&out);
    while (text.len > 0) {
        struct view line = view_take(&text, '\n');
        ck_assert_uint_eq(line.len, lines < 7 ? 80 : lines == 7 ? 0 : 1);
        lines++;
    }
    ck_assert_uint_eq(lines, 15);
    buf_fini(&out);
}
END_TEST

int
main(void)
{
    TCase *tests = tcase_create("graph");

    tcase_add_test(tests, graph_is_drawn_as_by_servers);
    tcase_add_test(tests, graph_of_equal_samples_is_flat);
    tcase_add_test(tests, graph_goes_on_below_when_the_line_is_full);
    return unit_run("base", tests);
}
