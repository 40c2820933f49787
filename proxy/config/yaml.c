/*
 * config/yaml.c - libyaml's events become a tree of nodes.
 *
 * build_node() descends with the document; `depth` bounds the recursion.  Each
 * build_*() is given the event that opens its node and returns false when the
 * document cannot be read on, having said why.  A refused alias leaves NULL in
 * place of its node and reading goes on.
 */
#include "config/yaml.h"

#include <yaml.h>

#include "base/log.h"
#include "base/mem.h"

struct builder {
    yaml_parser_t parser;
    struct report *report;
    struct view text;
    size_t nodes;
};

static bool build_node(struct builder *builder, const yaml_event_t *event,
                       unsigned depth, struct node **nodep);

static struct mark
mark_of(yaml_mark_t mark)
{
    return (struct mark){(unsigned)mark.line + 1, (unsigned)mark.column + 1};
}

/* Where a byte stands; libyaml tells only its offset when it is not UTF-8. */
static struct mark
mark_of_offset(struct view text, size_t offset)
{
    struct mark at = {1, 1};

    for (size_t i = 0; i < offset && i < text.len; i++) {
        at.column++;
        if (text.data[i] == '\n')
            at = (struct mark){at.line + 1, 1};
    }
    return at;
}

/* Whether a tab stands there, with nothing but spaces before it on its line. */
static bool
is_indenting_tab(struct view text, struct mark at)
{
    struct view line = {0};

    for (unsigned i = 0; i < at.line; i++)
        line = view_take(&text, '\n');
    if (at.column == 0 || line.len < at.column ||
        line.data[at.column - 1] != '\t')
        return false;
    for (unsigned i = 0; i < at.column - 1; i++) {
        if (line.data[i] != ' ')
            return false;
    }
    return true;
}

static void
report_syntax(struct builder *builder)
{
    const yaml_parser_t *parser = &builder->parser;
    struct mark at = mark_of(parser->problem_mark);
    struct mark begin = mark_of(parser->context_mark);
    const char *problem = parser->problem ? parser->problem : "no memory";

    if (parser->error == YAML_READER_ERROR)
        at = mark_of_offset(builder->text, parser->problem_offset);
    if (is_indenting_tab(builder->text, at))
        report_error(builder->report, at, NULL,
                     "this is not YAML: found a tab, allowed only spaces "
                     "before what stands on a line");
    else if (parser->context != NULL && begin.line < at.line)
        report_error(builder->report, at, NULL,
                     "this is not YAML: %s that begins on line %u, %s",
                     parser->context, begin.line, problem);
    else if (parser->context != NULL)
        report_error(builder->report, at, NULL, "this is not YAML: %s, %s",
                     parser->context, problem);
    else
        report_error(builder->report, at, NULL, "this is not YAML: %s",
                     problem);
}

static bool
next_event(struct builder *builder, yaml_event_t *event)
{
    if (yaml_parser_parse(&builder->parser, event))
        return true;
    report_syntax(builder);
    return false;
}

static void
check_tag(struct builder *builder, const yaml_event_t *event)
{
    const yaml_char_t *tag = NULL;

    if (event->type == YAML_SCALAR_EVENT)
        tag = event->data.scalar.tag;
    else if (event->type == YAML_SEQUENCE_START_EVENT)
        tag = event->data.sequence_start.tag;
    else if (event->type == YAML_MAPPING_START_EVENT)
        tag = event->data.mapping_start.tag;
    if (tag != NULL)
        report_error(builder->report, mark_of(event->start_mark), NULL,
                     "found a tag, allowed plain texts, lists and maps");
}

static char *
copy_scalar(const yaml_event_t *event, size_t *len)
{
    *len = event->data.scalar.length;
    return mem_view_dup(view_of((const char *)event->data.scalar.value, *len));
}

/* Bound what a list or map may hold before another child is added. */
static bool
has_room(struct builder *builder, const struct node *parent, struct mark at)
{
    if (parent->count < NODE_ENTRIES_MAX)
        return true;
    report_error(builder->report, at, NULL,
                 "found more entries in one list or map, allowed %d",
                 NODE_ENTRIES_MAX);
    return false;
}

static bool
build_item(struct builder *builder, const struct node *list, unsigned depth,
           const yaml_event_t *event, struct node **itemp)
{
    return has_room(builder, list, mark_of(event->start_mark)) &&
           build_node(builder, event, depth, itemp);
}

static bool
build_list(struct builder *builder, struct node *list, unsigned depth)
{
    for (;;) {
        yaml_event_t event;
        struct node *item = NULL;

        if (!next_event(builder, &event))
            return false;
        bool ended = event.type == YAML_SEQUENCE_END_EVENT;
        bool ok = ended || build_item(builder, list, depth, &event, &item);
        yaml_event_delete(&event);
        if (item != NULL)
            node_append(list, item);
        if (ended || !ok)
            return ok;
    }
}

/* Give a value its key, or drop it when the map has that key already. */
static void
add_entry(struct builder *builder, struct node *map, struct node *value,
          const yaml_event_t *key)
{
    char quoted[REPORT_QUOTE_SIZE];

    value->key = copy_scalar(key, &value->key_len);
    value->key_at = mark_of(key->start_mark);
    const struct node *first = node_find(map, node_key(value));
    if (first == NULL) {
        node_append(map, value);
        return;
    }
    report_error(builder->report, value->key_at, NULL,
                 "found the key %s again, allowed once (first on line %u)",
                 log_quote(quoted, sizeof(quoted), node_key(value)),
                 first->key_at.line);
    node_free(&value);
}

static bool
build_entry(struct builder *builder, struct node *map, unsigned depth,
            const yaml_event_t *key)
{
    struct mark at = mark_of(key->start_mark);
    struct node *value = NULL;
    yaml_event_t event;

    if (key->type != YAML_SCALAR_EVENT) {
        report_error(builder->report, at, NULL,
                     "found a key that is not a plain text, allowed only that");
        return false;
    }
    if (!has_room(builder, map, at) || !next_event(builder, &event))
        return false;
    bool ok = build_node(builder, &event, depth, &value);
    yaml_event_delete(&event);
    if (value != NULL)
        add_entry(builder, map, value, key);
    return ok;
}

static bool
build_map(struct builder *builder, struct node *map, unsigned depth)
{
    for (;;) {
        yaml_event_t key;

        if (!next_event(builder, &key))
            return false;
        bool ended = key.type == YAML_MAPPING_END_EVENT;
        bool ok = ended || build_entry(builder, map, depth, &key);
        yaml_event_delete(&key);
        if (ended || !ok)
            return ok;
    }
}

static void
build_text(struct node *node, const yaml_event_t *event)
{
    node->text = copy_scalar(event, &node->text_len);
    node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
}

static bool
is_within_bounds(struct builder *builder, struct mark at, unsigned depth)
{
    if (depth > NODE_DEPTH_MAX) {
        report_error(builder->report, at, NULL,
                     "found deeper nesting, allowed %d levels", NODE_DEPTH_MAX);
        return false;
    }
    if (++builder->nodes > YAML_NODES_MAX) {
        report_error(builder->report, at, NULL,
                     "found more words in the file, allowed %d",
                     YAML_NODES_MAX);
        return false;
    }
    return true;
}

/* Build what `event` opens; the event stays the caller's. */
static bool
build_node(struct builder *builder, const yaml_event_t *event, unsigned depth,
           struct node **nodep)
{
    struct mark at = mark_of(event->start_mark);

    if (!is_within_bounds(builder, at, depth))
        return false;
    if (event->type == YAML_ALIAS_EVENT) {
        report_error(builder->report, at, NULL, "found an alias (*), "
                     "allowed only what is written out in full");
        return true;
    }

    check_tag(builder, event);
    struct node *node = *nodep = MEM_NEW(struct node);
    node->at = at;
    if (event->type == YAML_SEQUENCE_START_EVENT) {
        node->kind = NODE_LIST;
        return build_list(builder, node, depth + 1);
    }
    if (event->type == YAML_MAPPING_START_EVENT) {
        node->kind = NODE_MAP;
        return build_map(builder, node, depth + 1);
    }
    ASSERT(event->type == YAML_SCALAR_EVENT);
    build_text(node, event);
    return true;
}

/* Read over the events that stand around the document. */
static bool
build_document(struct builder *builder, struct node **rootp)
{
    bool ok;

    for (;;) {
        yaml_event_t event;

        if (!next_event(builder, &event))
            return false;
        bool ended = event.type == YAML_STREAM_END_EVENT;
        bool is_edge = event.type == YAML_STREAM_START_EVENT ||
                       event.type == YAML_DOCUMENT_START_EVENT ||
                       event.type == YAML_DOCUMENT_END_EVENT;
        ok = ended || is_edge;
        if (!ok && *rootp == NULL)
            ok = build_node(builder, &event, 1, rootp);
        else if (!ok)
            report_error(builder->report, mark_of(event.start_mark), NULL,
                         "found a second document, allowed one");
        yaml_event_delete(&event);
        if (ended || !ok)
            return ok;
    }
}

struct node *
yaml_read(struct view text, struct report *report)
{
    struct builder builder = {.report = report, .text = text};
    struct node *root = NULL;

    if (text.len > YAML_BYTES_MAX) {
        report_file_error(report, "found %zu bytes, allowed %zu", text.len,
                          YAML_BYTES_MAX);
        return NULL;
    }
    if (!yaml_parser_initialize(&builder.parser)) {
        report_file_error(report, "there is no memory to read it");
        return NULL;
    }
    yaml_parser_set_input_string(
        &builder.parser, (const unsigned char *)(text.len ? text.data : ""),
        text.len);
    if (!build_document(&builder, &root))
        node_free(&root);
    yaml_parser_delete(&builder.parser);
    return root;
}
