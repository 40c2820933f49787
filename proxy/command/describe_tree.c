/*
 * command/describe_tree.c - the trees of documents.def as replies.
 */
#include "command/describe_priv.h"
#include "resp/encode.h"

static const struct document documents[COMMAND_ID_COUNT] = {
#define DOCUMENT(id, key_specs, pairs, rest) \
    [COMMAND_ID_##id] = {key_specs, pairs, rest},
#include "command/documents.def"
#undef DOCUMENT
};

struct document
document_of(const struct command *row)
{
    struct document document = documents[row->id];

    if (document.rest == NULL)
        document = (struct document){"", 0, ""};
    return document;
}

static void
encode_node(struct buf *out, int resp, struct view line)
{
    struct view text = view_of(line.data + 1, line.len - 1);
    uint64_t count = 0;

    switch (line.data[0]) {
    case '$':
        encode_bulk(out, text);
        return;
    case '+':
    case ':':
        buf_append_view(out, line);
        buf_append_str(out, "\r\n");
        return;
    default:
        (void)!view_to_u64(text, &count);
    }
    if (line.data[0] == '%')
        encode_map(out, resp, count);
    else if (line.data[0] == '~')
        encode_set(out, resp, count);
    else
        encode_array(out, count);
}

void
describe_tree(struct buf *out, int resp, const char *tree)
{
    struct view rest = view_str(tree);

    while (rest.len > 0)
        encode_node(out, resp, view_take(&rest, '\n'));
}
