/*
 * command/describe_keys.c - COMMAND GETKEYS and COMMAND GETKEYSANDFLAGS.
 *
 * Answers for every command of the table, served or not.
 */
#include "command/describe_priv.h"
#include "command/keyspec.h"
#include "resp/encode.h"

static bool
has_keys(const struct key_plan *plan)
{
    return plan->count > 0 && !plan->specs[0].not_key;
}

/* Take the flags of one keyspec off a list of them. */
static struct view
next_flags(struct view *list)
{
    struct view word, flags = view_of(list->data, 0);

    while (next_word(list, &word) && !view_equal(word, VIEW(";")))
        flags.len = (size_t)(word.data + word.len - flags.data);
    return flags;
}

static bool
word_is(const struct command_args *inner, uint32_t i, const char *word)
{
    return view_equal_nocase(command_arg(inner, i), view_str(word));
}

/* SET reads when it is told to GET. */
static struct view
flags_of_set(const struct command_args *inner)
{
    for (uint32_t i = 3; i < inner->argc; i++) {
        if (word_is(inner, i, "GET"))
            return VIEW("RW access update");
    }
    return VIEW("OW update");
}

/* BITFIELD writes unless all that it does is GET. */
static struct view
flags_of_bitfield(const struct command_args *inner)
{
    for (uint32_t i = 2; i < inner->argc; i++) {
        uint32_t left = inner->argc - i - 1;
        if (left >= 2 && word_is(inner, i, "GET"))
            i += 2;
        else if (left >= 1 && word_is(inner, i, "OVERFLOW"))
            i++;
        else
            return VIEW("RW access update");
    }
    return VIEW("RO access");
}

/* Of the keys of this request, where the row's are those of any. */
static struct view
flags_of(const struct command *row, const struct command_args *inner,
         struct view flags)
{
    switch ((int)row->id) {
    case COMMAND_ID_SET:
        return flags_of_set(inner);
    case COMMAND_ID_BITFIELD:
        return flags_of_bitfield(inner);
    default:
        return flags;
    }
}

static void
encode_key(const struct command_args *inner, uint32_t at,
           const struct view *flags, int resp, struct buf *out)
{
    if (flags == NULL) {
        encode_bulk(out, command_arg(inner, at));
        return;
    }
    encode_array(out, 2);
    encode_bulk(out, command_arg(inner, at));
    describe_words(out, resp, *flags, false);
}

/* Append the keys of all specs and count them; false if that cannot be. */
static bool
encode_keys(const struct command *row, const struct command_args *inner,
            bool with_flags, int resp, struct buf *out, size_t *count)
{
    const struct key_plan *plan = key_plan_of(row);
    struct view all_flags = view_str(row->key_flags);
    struct key_list list;
    bool ok = true;

    key_list_init(&list);
    for (uint32_t i = 0; ok && i < plan->count; i++) {
        struct view flags = flags_of(row, inner, next_flags(&all_flags));
        list.count = 0;
        ok = key_spec_keys(&plan->specs[i], inner, &list) == KEYS_OK;
        for (uint32_t j = 0; ok && j < list.count; j++)
            encode_key(inner, list.at[j], with_flags ? &flags : NULL, resp,
                       out);
        *count += ok ? list.count : 0;
    }
    key_list_fini(&list);
    return ok;
}

static void
keys_reply(const struct command *row, const struct command_args *inner,
           bool with_flags, int resp, struct buf *out)
{
    struct buf keys = {0};
    size_t count = 0;
    bool ok = encode_keys(row, inner, with_flags, resp, &keys, &count);

    if (ok && count > 0) {
        encode_array(out, count);
        buf_append_view(out, buf_view(&keys));
    } else if (row->flags & COMMAND_NO_MANDATORY_KEYS) {
        encode_array(out, 0);
    } else {
        encode_error(out, VIEW("ERR Invalid arguments specified for command"));
    }
    buf_fini(&keys);
}

void
describe_keys(const struct command_args *args, bool with_flags, int resp,
              struct buf *out)
{
    const struct command_args inner = {args->data, args->args + 2,
                                       args->argc - 2};
    const struct command *row = command_find_words(&inner);

    if (row == NULL)
        encode_error(out, VIEW("ERR Invalid command specified"));
    else if (!has_keys(key_plan_of(row)))
        encode_error(out, VIEW("ERR The command has no key arguments"));
    else if (!command_arity_ok(row, inner.argc))
        encode_error(out,
                     VIEW("ERR Invalid number of arguments specified for "
                          "command"));
    else
        keys_reply(row, &inner, with_flags, resp, out);
}
