/*
 * command/learnt_describe.c - what a server has said of a command, said again.
 *
 * The server may have been asked in the other version of the protocol; what is
 * a set or a map there is known by its place.
 */
#include "command/learnt.h"

#include "base/mem.h"
#include "resp/encode.h"
#include "resp/reply_read.h"

#define DEPTH_MAX 16 /* of arguments in arguments */

/* Where an element is copied from and to. */
struct copying {
    struct view rest;
    int resp;
    struct buf *out;
    unsigned depth;
};

typedef bool (*copy_fn)(struct copying *copying);

static bool
is_aggregate(const struct reply_item *item)
{
    return item->type == RESP_ARRAY || item->type == RESP_SET ||
        item->type == RESP_MAP;
}

static bool
copy_leaf(struct copying *copying, struct view *text)
{
    struct reply_item item;

    if (!reply_next(&copying->rest, &item) ||
        (is_aggregate(&item) && !item.is_null))
        return false;
    if (item.is_null)
        encode_null(copying->out, copying->resp);
    else
        buf_append_view(copying->out, item.raw);
    *text = item.text;
    return true;
}

/* The header of what has elements, and their number. */
static bool
take_header(struct copying *copying, uint64_t *count)
{
    struct reply_item item;

    if (!reply_next(&copying->rest, &item) || item.is_null ||
        !is_aggregate(&item))
        return false;
    *count = item.count;
    return true;
}

static bool
copy_word(struct copying *copying)
{
    struct view text;

    return copy_leaf(copying, &text);
}

static bool
copy_set(struct copying *copying, copy_fn copy)
{
    uint64_t count;

    if (!take_header(copying, &count))
        return false;
    encode_set(copying->out, copying->resp, count);
    for (uint64_t i = 0; i < count; i++) {
        if (!copy(copying))
            return false;
    }
    return true;
}

static bool
copy_array(struct copying *copying, copy_fn copy)
{
    uint64_t count;

    if (!take_header(copying, &count))
        return false;
    encode_array(copying->out, count);
    for (uint64_t i = 0; i < count; i++) {
        if (!copy(copying))
            return false;
    }
    return true;
}

static bool copy_spec_map(struct copying *copying);

/* What stands behind this name in a key specification. */
static bool
copy_spec_value(struct copying *copying, struct view name)
{
    if (view_equal(name, VIEW("flags")))
        return copy_set(copying, copy_word);
    if (view_equal(name, VIEW("begin_search")) ||
        view_equal(name, VIEW("find_keys")) || view_equal(name, VIEW("spec")))
        return copy_spec_map(copying);
    return copy_word(copying);
}

static bool
copy_spec_map(struct copying *copying)
{
    uint64_t count;
    struct view name;

    if (!take_header(copying, &count))
        return false;
    encode_map(copying->out, copying->resp, count / 2);
    for (uint64_t i = 0; i < count / 2; i++) {
        if (!copy_leaf(copying, &name) || !copy_spec_value(copying, name))
            return false;
    }
    return true;
}

static bool copy_entry(struct copying *copying);

/* As servers have it: a set only if it is empty. */
static bool
copy_subs(struct copying *copying)
{
    struct copying ahead = *copying;
    uint64_t count;

    if (!take_header(&ahead, &count))
        return false;
    if (count == 0)
        return copy_set(copying, copy_word);
    return copy_array(copying, copy_entry);
}

static bool
copy_field(struct copying *copying, uint64_t i)
{
    switch (i) {
    case 2: /* flags, categories, tips */
    case 6:
    case 7:
        return copy_set(copying, copy_word);
    case 8:
        return copy_set(copying, copy_spec_map);
    case 9:
        return copy_subs(copying);
    default:
        return copy_word(copying);
    }
}

static bool
copy_entry(struct copying *copying)
{
    uint64_t count;

    if (!take_header(copying, &count))
        return false;
    encode_array(copying->out, count);
    for (uint64_t i = 0; i < count; i++) {
        if (!copy_field(copying, i))
            return false;
    }
    return true;
}

void
learnt_describe(const struct learnt *learnt, int resp, struct buf *out)
{
    struct copying copying = {view_of(learnt->reply, learnt->reply_len), resp,
                              out, 0};
    size_t start = out->len;
    uint64_t count;

    if (take_header(&copying, &count) && copy_entry(&copying))
        return;
    out->len = start;
    encode_null(out, resp);
}

/* --- COMMAND DOCS -------------------------------------------------------------- */

static bool copy_docs_map(struct copying *copying);

static bool
copy_words(struct copying *copying)
{
    return copy_array(copying, copy_word);
}

/* Name and documents of each. */
static bool
copy_docs_by_name(struct copying *copying)
{
    uint64_t count;

    if (!take_header(copying, &count))
        return false;
    encode_map(copying->out, copying->resp, count / 2);
    for (uint64_t i = 0; i < count / 2; i++) {
        if (!copy_word(copying) || !copy_docs_map(copying))
            return false;
    }
    return true;
}

/* What stands behind this name in the documents of a command or an argument. */
static bool
copy_docs_value(struct copying *copying, struct view name)
{
    if (view_equal(name, VIEW("doc_flags")) || view_equal(name, VIEW("flags")))
        return copy_set(copying, copy_word);
    if (view_equal(name, VIEW("history")))
        return copy_set(copying, copy_words);
    if (view_equal(name, VIEW("arguments")))
        return copy_array(copying, copy_docs_map);
    if (view_equal(name, VIEW("subcommands")))
        return copy_docs_by_name(copying);
    return copy_word(copying);
}

static bool
copy_docs_map(struct copying *copying)
{
    uint64_t count;
    struct view name;

    if (copying->depth >= DEPTH_MAX || !take_header(copying, &count))
        return false;
    copying->depth++;
    encode_map(copying->out, copying->resp, count / 2);
    for (uint64_t i = 0; i < count / 2; i++) {
        if (!copy_leaf(copying, &name) || !copy_docs_value(copying, name))
            return false;
    }
    copying->depth--;
    return true;
}

/* Its name and its documents, if that is all there is. */
static bool
copy_docs(struct view reply, int resp, struct buf *out)
{
    struct copying copying = {reply, resp, out, 0};
    uint64_t count;

    return take_header(&copying, &count) && count == 2 && copy_word(&copying) &&
        copy_docs_map(&copying) && copying.rest.len == 0;
}

bool
learnt_take_docs(struct learnt *learnt, struct view reply)
{
    struct buf probe = {0};
    bool is_good = copy_docs(reply, 3, &probe);

    buf_fini(&probe);
    if (!is_good)
        return false;
    mem_free(learnt->docs);
    learnt->docs = mem_view_dup(reply);
    learnt->docs_len = reply.len;
    return true;
}

void
learnt_describe_docs(const struct learnt *learnt, int resp, struct buf *out)
{
    bool is_good =
        copy_docs(view_of(learnt->docs, learnt->docs_len), resp, out);

    ASSERT(is_good); /* it was when it came */
}
