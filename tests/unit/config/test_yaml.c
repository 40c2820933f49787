/*
 * tests/unit/config/test_yaml.c - bytes into a tree, and what is refused.
 */
#include "config/yaml.h"

#include "config_case.h"
#include "guard.h"

struct tree {
    struct node *root;
    struct report report;
    struct buf messages;
};

static struct tree
read_view(struct view text)
{
    struct tree tree = {0};

    tree.report = (struct report){.file = "t.yml", .out = &tree.messages};
    tree.root = yaml_read(text, &tree.report);
    buf_append_char(&tree.messages, '\0');
    return tree;
}

static void
tree_fini(struct tree *tree)
{
    node_free(&tree->root);
    buf_fini(&tree->messages);
}

static void
expect_problem(const char *text, bool has_root, const char *messages)
{
    struct tree tree = read_view(view_str(text));

    ck_assert_str_eq(tree.messages.data, messages);
    ck_assert_int_eq(tree.root != NULL, has_root);
    ck_assert_uint_gt(tree.report.errors, 0);
    tree_fini(&tree);
}

START_TEST(tree_has_texts_lists_and_maps_with_their_places)
{
    struct tree tree = read_view(VIEW("a: {b: [x, 'y']}\nlong:\n  - z\n"));
    const struct node *a = node_find(tree.root, VIEW("a"));
    const struct node *b = node_find(a, VIEW("b"));
    const struct node *z = node_find(tree.root, VIEW("long"))->first;

    ck_assert_str_eq(tree.messages.data, "");
    ck_assert_int_eq(tree.root->kind, NODE_MAP);
    ck_assert_uint_eq(tree.root->count, 2);
    ck_assert_int_eq(b->kind, NODE_LIST);
    ck_assert_str_eq(b->first->text, "x");
    ck_assert(!b->first->quoted);
    ck_assert_str_eq(b->first->next->text, "y");
    ck_assert(b->first->next->quoted);
    ck_assert_ptr_null(b->first->next->next);
    ck_assert_uint_eq(b->key_at.line, 1);
    ck_assert_uint_eq(b->key_at.column, 5);
    ck_assert_uint_eq(z->at.line, 3);
    ck_assert_uint_eq(z->at.column, 5);
    tree_fini(&tree);
}
END_TEST

START_TEST(empty_value_is_told_from_an_empty_text)
{
    struct tree tree = read_view(VIEW("a:\nb: ''\n"));

    ck_assert(node_is_empty(node_find(tree.root, VIEW("a"))));
    ck_assert(!node_is_empty(node_find(tree.root, VIEW("b"))));
    tree_fini(&tree);
}
END_TEST

START_TEST(empty_document_is_no_tree)
{
    static const char *const empty[] = {"", "\n", "# nothing\n"};

    for (size_t i = 0; i < ARRAY_LEN(empty); i++) {
        struct tree tree = read_view(view_str(empty[i]));
        ck_assert_ptr_null(tree.root);
        tree_fini(&tree);
    }
}
END_TEST

START_TEST(aliases_are_refused_each_where_it_stands)
{
    expect_problem("a: &x 1\nb: *x\nc: [*x]\n", true,
                   "t.yml:2:4: error: found an alias (*), allowed only what "
                   "is written out in full\n"
                   "t.yml:3:5: error: found an alias (*), allowed only what "
                   "is written out in full\n");
}
END_TEST

START_TEST(tags_and_second_keys_are_refused)
{
    expect_problem("a: !!int 1\n", true,
                   "t.yml:1:4: error: found a tag, allowed plain texts, lists "
                   "and maps\n");
    expect_problem("a: 1\nb: 2\na: 3\n", true,
                   "t.yml:3:1: error: found the key \"a\" again, allowed once "
                   "(first on line 1)\n");
}
END_TEST

START_TEST(second_document_is_refused)
{
    expect_problem("a: 1\n---\nb: 2\n", false,
                   "t.yml:3:1: error: found a second document, allowed one\n");
}
END_TEST

START_TEST(keys_must_be_texts)
{
    expect_problem("? [a]\n: 1\n", false,
                   "t.yml:1:3: error: found a key that is not a plain text, "
                   "allowed only that\n");
}
END_TEST

START_TEST(faults_of_yaml_are_reported_with_their_place)
{
    expect_problem("a:\n  b: {\n", false,
                   "t.yml:3:1: error: this is not YAML: while parsing a flow "
                   "node, did not find expected node content\n");
    expect_problem("a: b\nc: \"{}\nd: e\n", false,
                   "t.yml:4:1: error: this is not YAML: while scanning a "
                   "quoted scalar that begins on line 2, found unexpected end "
                   "of stream\n");
    expect_problem("a: b\nc: \xff\n", false,
                   "t.yml:2:4: error: this is not YAML: invalid leading UTF-8 "
                   "octet\n");
}
END_TEST

START_TEST(a_tab_that_indents_is_named)
{
    static const char *const texts[] = {
        "a:\n\tb: c\n",
        "a: b\n\t\n",
        "# \xc3\xb6\na:\n \tb: c\n",
        "a:\n  b: c\n\td: e\n",
        "a:\n  b:\n  \t- c\n",
    };
    static const char *const places[] = {"2:1", "2:1", "3:2", "3:1", "3:3"};

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        char wanted[128];
        snprintf(wanted, sizeof(wanted),
                 "t.yml:%s: error: this is not YAML: found a tab, allowed only "
                 "spaces before what stands on a line\n",
                 places[i]);
        expect_problem(texts[i], false, wanted);
    }
    expect_problem("a: b\nc: @\td\n", false,
                   "t.yml:2:4: error: this is not YAML: while scanning for the "
                   "next token, found character that cannot start any token\n");
}
END_TEST

START_TEST(depth_is_bounded)
{
    struct buf text = {0};

    for (int i = 0; i < 100000; i++)
        buf_append_str(&text, "[");
    struct tree tree = read_view(buf_view(&text));
    ck_assert_ptr_null(tree.root);
    ck_assert_str_eq(tree.messages.data,
                     "t.yml:1:9: error: found deeper nesting, allowed 8 "
                     "levels\n");
    tree_fini(&tree);
    buf_fini(&text);
}
END_TEST

START_TEST(entries_and_bytes_are_bounded)
{
    struct buf text = {0};

    for (int i = 0; i <= NODE_ENTRIES_MAX; i++)
        buf_printf(&text, "k%d: v\n", i);
    struct tree tree = read_view(buf_view(&text));
    ck_assert_ptr_null(tree.root);
    ck_assert_str_eq(tree.messages.data,
                     "t.yml:4097:1: error: found more entries in one list or "
                     "map, allowed 4096\n");
    tree_fini(&tree);

    memset(buf_reserve(&text, YAML_BYTES_MAX + 1), '\n', YAML_BYTES_MAX + 1);
    tree = read_view(view_of(text.data, YAML_BYTES_MAX + 1));
    ck_assert_ptr_null(tree.root);
    ck_assert_str_eq(tree.messages.data,
                     "t.yml: error: found 8388609 bytes, allowed 8388608\n");
    tree_fini(&tree);
    buf_fini(&text);
}
END_TEST

static void
expect_tree_or_message(const struct guard *guard)
{
    struct tree tree = read_view(view_of(guard->data, guard->len));

    ck_assert(tree.root != NULL || tree.report.errors > 0 || guard->len == 0);
    ck_assert_int_eq(tree.messages.len > 1, tree.report.errors > 0);
    tree_fini(&tree);
}

/* Whatever is cut off or changed: a tree or a message, no read beyond. */
START_TEST(cut_anywhere_it_is_a_tree_or_a_message)
{
    static const char text[] =
        "pointsman: {workers: 2, stats: 'off'}\n"
        "a: &x\n  listen: [\"h:1\", \"\\x41\\u00e4\"]\n  tag: !t |\n    b\n"
        "  servers:\n    - {name: *x, ? to : 1}\n    - h:1:1 \xc3\xa4\n...\n";
    for (size_t cut = 0; cut < sizeof(text); cut++) {
        struct guard guard = guard_copy(text, cut);
        expect_tree_or_message(&guard);
        guard_free(&guard);
    }
    for (size_t i = 0; i < sizeof(text) - 1; i++) {
        struct guard guard = guard_copy(text, sizeof(text) - 1);
        guard.data[i] ^= 0x15;
        expect_tree_or_message(&guard);
        guard_free(&guard);
    }
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("yaml");

    tcase_add_test(tcase, tree_has_texts_lists_and_maps_with_their_places);
    tcase_add_test(tcase, empty_value_is_told_from_an_empty_text);
    tcase_add_test(tcase, empty_document_is_no_tree);
    tcase_add_test(tcase, aliases_are_refused_each_where_it_stands);
    tcase_add_test(tcase, tags_and_second_keys_are_refused);
    tcase_add_test(tcase, second_document_is_refused);
    tcase_add_test(tcase, keys_must_be_texts);
    tcase_add_test(tcase, faults_of_yaml_are_reported_with_their_place);
    tcase_add_test(tcase, a_tab_that_indents_is_named);
    tcase_add_test(tcase, depth_is_bounded);
    tcase_add_test(tcase, entries_and_bytes_are_bounded);
    tcase_add_test(tcase, cut_anywhere_it_is_a_tree_or_a_message);
    return unit_run("config", tcase);
}
