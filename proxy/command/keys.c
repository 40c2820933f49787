/*
 * command/keys.c - finding the keys of a request.
 *
 * A command's key plan (command/keyspec.h) is a few specs, each of which adds
 * positions to the list.  No text is parsed here but the numbers of keys.
 */
#include "command/keys.h"

#include "base/mem.h"
#include "command/keyspec.h"

void
key_list_init(struct key_list *list)
{
    list->count = 0;
    list->cap = KEYS_INLINE;
    list->at = list->few;
}

void
key_list_fini(struct key_list *list)
{
    if (list->at != list->few)
        mem_free(list->at);
    key_list_init(list);
}

static void
key_list_reserve(struct key_list *list, size_t more)
{
    size_t need = list->count + more;

    if (need <= list->cap)
        return;
    uint32_t *old = list->at == list->few ? NULL : list->at;
    list->at = mem_realloc(old, need * sizeof(*list->at));
    if (old == NULL)
        memcpy(list->at, list->few, list->count * sizeof(*list->at));
    list->cap = (uint32_t)need;
}

/* Every `step`th position from first to last, both included. */
static void
key_list_add(struct key_list *list, uint32_t first, uint32_t last,
             uint32_t step)
{
    if (first > last)
        return;
    key_list_reserve(list, (last - first) / step + 1);
    for (uint64_t at = first; at <= last; at += step)
        list->at[list->count++] = (uint32_t)at;
}

/* The last word of a range in a request of argc words, which may lie before
 * its first; never beyond the request. */
static int64_t
range_last(const struct key_spec *spec, uint32_t argc)
{
    int64_t last = spec->last;

    if (last < 0)
        last += argc;
    return MIN(last, (int64_t)argc - 1);
}

static enum keys_result
add_range(const struct key_spec *spec, const struct command_args *args,
          struct key_list *list)
{
    int64_t last = range_last(spec, args->argc);

    if (last < spec->first)
        return KEYS_OK;
    if (spec->unless_empty && command_arg(args, (uint32_t)spec->first).len == 0)
        return KEYS_OK;
    key_list_add(list, (uint32_t)spec->first, (uint32_t)last,
                 (uint32_t)spec->step);
    return KEYS_OK;
}

/* A number as servers read it: no plus sign, no space, no leading zero. */
static bool
is_count(struct view text, uint64_t *count)
{
    if (text.len > 1 && text.data[0] == '0')
        return false;
    return view_to_u64(text, count);
}

static enum keys_result
add_counted(const struct key_spec *spec, const struct command_args *args,
            struct key_list *list)
{
    uint32_t first = (uint32_t)spec->first, step = (uint32_t)spec->step;
    uint64_t count;

    if (spec->count_at >= args->argc ||
        !is_count(command_arg(args, spec->count_at), &count))
        return KEYS_MALFORMED;
    uint32_t room = args->argc > first ? (args->argc - first) / step : 0;
    if (count > room)
        return KEYS_MALFORMED;
    if (count > 0)
        key_list_add(list, first, first + ((uint32_t)count - 1) * step, step);
    return KEYS_OK;
}

static bool
is_option(const struct key_spec *spec, struct view word)
{
    for (uint32_t i = 0; i < spec->word_count; i++)
        if (view_equal_nocase(spec->words[i], word))
            return true;
    return false;
}

/* How many arguments of an uninteresting option follow this word. */
static uint32_t
option_skip(const struct key_spec *spec, struct view word)
{
    for (uint32_t i = 0; i < spec->skip_count; i++)
        if (view_equal_nocase(spec->skips[i].word, word))
            return spec->skips[i].args;
    return 0;
}

/* Where the option stands, 0 when it is not there or has no argument. */
static uint32_t
find_option(const struct key_spec *spec, const struct command_args *args)
{
    uint32_t found = 0;

    for (uint64_t i = spec->from; i + 1 < args->argc; i++) {
        struct view word = command_arg(args, (uint32_t)i);
        if (!is_option(spec, word)) {
            i += option_skip(spec, word);
            continue;
        }
        found = (uint32_t)i;
        if (!spec->last_wins)
            break;
        i++; /* Its argument is no option, whatever it is called. */
    }
    return found;
}

static enum keys_result
add_option(const struct key_spec *spec, const struct command_args *args,
           struct key_list *list)
{
    uint32_t at = find_option(spec, args);
    uint32_t first = at + (uint32_t)spec->first;
    uint32_t last = spec->last < 0 ? args->argc - 1 : first;

    if (at == 0)
        return spec->share > 0 ? KEYS_MALFORMED : KEYS_OK;
    if (spec->share > 0) {
        uint32_t count = (last - first + 1) / spec->share;
        if (count == 0)
            return KEYS_MALFORMED;
        last = first + count - 1;
    }
    key_list_add(list, first, last, (uint32_t)spec->step);
    return KEYS_OK;
}

enum keys_result
key_spec_keys(const struct key_spec *spec, const struct command_args *args,
              struct key_list *list)
{
    switch (spec->kind) {
    case KEY_RANGE:
        return add_range(spec, args, list);
    case KEY_COUNTED:
        return add_counted(spec, args, list);
    case KEY_OPTION:
        return add_option(spec, args, list);
    }
    return KEYS_MALFORMED;
}

enum keys_result
command_keys(const struct command *command, const struct command_args *args,
             struct key_list *list)
{
    const struct key_plan *plan = key_plan_of(command);

    list->count = 0;
    for (uint32_t i = 0; i < plan->count; i++) {
        if (key_spec_keys(&plan->specs[i], args, list) == KEYS_MALFORMED) {
            list->count = 0;
            return KEYS_MALFORMED;
        }
    }
    return KEYS_OK;
}

bool
command_routes_early(const struct command *command, uint32_t argc,
                     uint32_t seen)
{
    const struct key_plan *plan = key_plan_of(command);

    if (command->class != CLASS_ROUTE || plan->count == 0)
        return false;
    for (uint32_t i = 0; i < plan->count; i++) {
        const struct key_spec *spec = &plan->specs[i];
        if (spec->kind != KEY_RANGE || spec->unless_empty ||
            range_last(spec, argc) >= (int64_t)seen)
            return false;
    }
    return true;
}

uint32_t
command_find_block(const struct command_args *args, uint32_t from)
{
    for (uint32_t i = from; i < args->argc; i++) {
        struct view word = command_arg(args, i);
        if (view_equal_nocase(word, VIEW("BLOCK")))
            return i;
        if (view_equal_nocase(word, VIEW("STREAMS")))
            return 0;
        if (view_equal_nocase(word, VIEW("GROUP")))
            i += 2; /* names, whatever they are */
        else if (view_equal_nocase(word, VIEW("COUNT")))
            i++;
    }
    return 0;
}

/* True when the argument at i names keys by a pattern. */
static bool
is_foreign_by(const struct command_args *args, uint32_t i)
{
    struct view pattern = command_arg(args, i);

    return memchr(pattern.data, '*', pattern.len) != NULL;
}

const char *
command_pattern_option(const struct command *command,
                       const struct command_args *args)
{
    if (command->id != COMMAND_ID_SORT && command->id != COMMAND_ID_SORT_RO)
        return NULL;
    for (uint32_t i = 2; i + 1 < args->argc; i++) {
        struct view word = command_arg(args, i);
        if (view_equal_nocase(word, VIEW("LIMIT"))) {
            i += 2;
        } else if (view_equal_nocase(word, VIEW("STORE"))) {
            i++;
        } else if (view_equal_nocase(word, VIEW("BY"))) {
            if (is_foreign_by(args, ++i))
                return "BY";
        } else if (view_equal_nocase(word, VIEW("GET"))) {
            if (!view_equal(command_arg(args, ++i), VIEW("#")))
                return "GET";
        }
    }
    return NULL;
}
