/*
 * command/learnt.c - reading COMMAND INFO.
 */
#include "command/learnt.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "command/describe_priv.h"
#include "resp/reply_read.h"

#define PLACE_MAX 1000 /* of keys, from the front or the end */

/* One key specification as it comes, by the servers' names. */
struct told_spec {
    struct view begin, find; /* types of begin_search and find_keys */
    struct view keyword;
    int64_t index, startfrom;             /* begin_search */
    int64_t lastkey, keystep, limit;      /* find_keys: range */
    int64_t keynumidx, firstkey;          /* find_keys: keynum */
    bool not_key, incomplete;
};

/* --- elements ------------------------------------------------------------------ */

static bool
is_text(const struct reply_item *item)
{
    return !item->is_null &&
        (item->type == RESP_BULK || item->type == RESP_SIMPLE);
}

static bool
read_text(struct view *rest, struct view *text)
{
    struct reply_item item;

    if (!reply_next(rest, &item) || !is_text(&item))
        return false;
    *text = item.text;
    return true;
}

static bool
read_number(struct view *rest, int64_t *number)
{
    struct reply_item item;

    if (!reply_next(rest, &item) || item.type != RESP_INTEGER)
        return false;
    *number = item.number;
    return true;
}

/* The header of an array or a set; of a map the count is twice its pairs. */
static bool
read_count(struct view *rest, uint64_t *count)
{
    struct reply_item item;

    if (!reply_next(rest, &item) || item.is_null ||
        (item.type != RESP_ARRAY && item.type != RESP_SET &&
         item.type != RESP_MAP))
        return false;
    *count = item.count;
    return true;
}

static bool
skip_some(struct view *rest, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (!reply_skip(rest))
            return false;
    return true;
}

typedef void (*word_fn)(struct view word, void *arg);

/* Do something with each word of an array or a set. */
static bool
each_word(struct view *rest, word_fn fn, void *arg)
{
    struct view word;
    uint64_t count;

    if (!read_count(rest, &count))
        return false;
    for (uint64_t i = 0; i < count; i++) {
        if (!read_text(rest, &word))
            return false;
        fn(word, arg);
    }
    return true;
}

/* --- key specifications -------------------------------------------------------- */

static const struct {
    const char *name;
    size_t offset;
} numbers[] = {
    {"index", offsetof(struct told_spec, index)},
    {"startfrom", offsetof(struct told_spec, startfrom)},
    {"lastkey", offsetof(struct told_spec, lastkey)},
    {"keystep", offsetof(struct told_spec, keystep)},
    {"limit", offsetof(struct told_spec, limit)},
    {"keynumidx", offsetof(struct told_spec, keynumidx)},
    {"firstkey", offsetof(struct told_spec, firstkey)},
};

static void
set_number(struct told_spec *told, struct view name, int64_t number)
{
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
        if (view_equal(name, view_str(numbers[i].name)))
            memcpy((char *)told + numbers[i].offset, &number, sizeof(number));
}

/* The map behind "spec": numbers, and a keyword. */
static bool
read_values(struct view *rest, struct told_spec *told)
{
    struct view name;
    struct reply_item item;
    uint64_t count;

    if (!read_count(rest, &count))
        return false;
    for (uint64_t i = 0; i + 1 < count; i += 2) {
        if (!read_text(rest, &name) || !reply_next(rest, &item))
            return false;
        if (item.type == RESP_INTEGER)
            set_number(told, name, item.number);
        else if (is_text(&item) && view_equal(name, VIEW("keyword")))
            told->keyword = item.text;
        else if (item.count > 0 && !skip_some(rest, item.count))
            return false;
    }
    return true;
}

/* begin_search or find_keys. */
static bool
read_search(struct view *rest, struct told_spec *told, struct view *type)
{
    struct view name;
    uint64_t count;

    if (!read_count(rest, &count))
        return false;
    for (uint64_t i = 0; i + 1 < count; i += 2) {
        if (!read_text(rest, &name))
            return false;
        bool is_read = view_equal(name, VIEW("type")) ? read_text(rest, type)
            : view_equal(name, VIEW("spec"))          ? read_values(rest, told)
                                                      : reply_skip(rest);
        if (!is_read)
            return false;
    }
    return true;
}

static void
note_spec_flag(struct view word, void *arg)
{
    struct told_spec *told = arg;

    told->not_key |= view_equal(word, VIEW("not_key"));
    told->incomplete |= view_equal(word, VIEW("incomplete"));
}

static bool
read_told_spec(struct view *rest, struct told_spec *told)
{
    struct view name;
    uint64_t count;

    if (!read_count(rest, &count))
        return false;
    for (uint64_t i = 0; i + 1 < count; i += 2) {
        bool is_read;
        if (!read_text(rest, &name))
            return false;
        if (view_equal(name, VIEW("flags")))
            is_read = each_word(rest, note_spec_flag, told);
        else if (view_equal(name, VIEW("begin_search")))
            is_read = read_search(rest, told, &told->begin);
        else if (view_equal(name, VIEW("find_keys")))
            is_read = read_search(rest, told, &told->find);
        else
            is_read = reply_skip(rest);
        if (!is_read)
            return false;
    }
    return true;
}

static bool
is_place(int64_t place)
{
    return place >= -PLACE_MAX && place <= PLACE_MAX;
}

/* A range of the request; false where the plan has no words for it. */
static bool
make_range(struct key_spec *spec, int64_t first, int64_t last, int64_t step)
{
    if (first < 1 || !is_place(first) || !is_place(last) || step < 1 ||
        step > PLACE_MAX)
        return false;
    spec->kind = KEY_RANGE;
    spec->first = (int32_t)first;
    spec->last = (int32_t)last;
    spec->step = (int32_t)step;
    return true;
}

static bool
make_counted(struct key_spec *spec, const struct told_spec *told)
{
    int64_t count_at = told->index + told->keynumidx;

    if (!is_place(told->index) || !is_place(told->keynumidx) || count_at < 1 ||
        !make_range(spec, told->index + told->firstkey, -1, told->keystep))
        return false;
    spec->kind = KEY_COUNTED;
    spec->count_at = (uint32_t)count_at;
    return true;
}

/* The words behind an option.  One that is looked for from the end is the last
 * of its name. */
static bool
make_option(struct key_spec *spec, const struct told_spec *told)
{
    if (told->keyword.len == 0 || !is_place(told->startfrom) ||
        (told->lastkey != 0 && told->lastkey != -1) || told->limit < 0 ||
        told->limit > PLACE_MAX ||
        !make_range(spec, 1, told->lastkey == 0 ? 1 : -1, told->keystep))
        return false;
    spec->kind = KEY_OPTION;
    spec->words[0] = told->keyword;
    spec->word_count = 1;
    spec->last_wins = told->startfrom < 0;
    spec->from = told->startfrom < 0 ? 1 : (uint32_t)told->startfrom;
    spec->share = told->limit > 1 ? (uint32_t)told->limit : 0;
    return true;
}

static bool
make_spec(struct key_spec *spec, const struct told_spec *told)
{
    bool is_range = view_equal(told->find, VIEW("range"));

    *spec = (struct key_spec){.not_key = told->not_key};
    if (told->incomplete)
        return false;
    if (view_equal(told->begin, VIEW("keyword")))
        return is_range && make_option(spec, told);
    if (!view_equal(told->begin, VIEW("index")))
        return false;
    if (view_equal(told->find, VIEW("keynum")))
        return make_counted(spec, told);
    if (!is_range || told->limit > 1)
        return false;
    int64_t last = told->lastkey < 0 ? told->lastkey
                                     : told->index + told->lastkey;
    return make_range(spec, told->index, last, told->keystep);
}

/* All of them, or none if one cannot be made. */
static bool
read_specs(struct view *rest, struct key_plan *plan)
{
    bool usable = true;
    uint64_t count;

    if (!read_count(rest, &count))
        return false;
    for (uint64_t i = 0; i < count; i++) {
        struct told_spec told = {0};
        if (!read_told_spec(rest, &told))
            return false;
        usable = usable && i < PLAN_MAX_SPECS &&
            make_spec(&plan->specs[i], &told);
    }
    plan->count = usable ? (uint32_t)count : 0;
    return true;
}

/* --- an entry ------------------------------------------------------------------ */

static void
note_flag(struct view word, void *arg)
{
    uint32_t *flags = arg;

    *flags |= describe_flag(word);
}

static void
note_category(struct view word, void *arg)
{
    struct buf *words = arg;

    if (words->len > 0)
        buf_append_char(words, ' ');
    buf_append_view(words, word);
}

static bool read_entry(struct view *rest, struct learnt *learnt, bool is_sub);

static bool
read_subs(struct view *rest, struct learnt *learnt)
{
    uint64_t count;

    if (!read_count(rest, &count))
        return false;
    for (uint64_t i = 0; i < count; i++) {
        struct learnt *sub = MEM_NEW(struct learnt);
        sub->next = learnt->subs;
        learnt->subs = sub;
        if (!read_entry(rest, sub, true))
            return false;
    }
    if (count > 0)
        learnt->command.flags |= COMMAND_CONTAINER;
    return true;
}

/* First, last, step: where the keys are if nothing better is told. */
static bool
read_triple(struct view *rest, int64_t triple[3])
{
    return read_number(rest, &triple[0]) && read_number(rest, &triple[1]) &&
        read_number(rest, &triple[2]);
}

/* Servers give commands of modules no categories, but rules such as -@write mean
 * them as well. */
static void
add_categories(uint32_t flags, struct buf *words)
{
    if (words->len > 0)
        return;
    buf_append_str(words, flags & COMMAND_FAST ? "@fast" : "@slow");
    if (flags & COMMAND_WRITE)
        buf_append_str(words, " @write");
    if (flags & COMMAND_READONLY)
        buf_append_str(words, " @read");
    if (flags & COMMAND_ADMIN)
        buf_append_str(words, " @admin @dangerous");
}

/* What later versions put behind the first six fields, as far as it is there. */
static bool
read_rest(struct view *rest, struct learnt *learnt, uint64_t fields,
          bool is_sub)
{
    struct buf categories = {0};
    bool is_read = fields < 7 || each_word(rest, note_category, &categories);

    add_categories(learnt->command.flags, &categories);
    learnt->categories = mem_view_dup(buf_view(&categories));
    buf_fini(&categories);
    return is_read && (fields < 8 || reply_skip(rest)) &&
        (fields < 9 || read_specs(rest, &learnt->plan)) &&
        (fields < 10 ||
         (is_sub ? reply_skip(rest) : read_subs(rest, learnt))) &&
        (fields < 11 || skip_some(rest, fields - 10));
}

static uint8_t
class_of(const struct learnt *learnt)
{
    uint32_t flags = learnt->command.flags;

    if (flags & COMMAND_PUBSUB)
        return CLASS_REFUSE;
    if (learnt->plan.count > 0)
        return flags & COMMAND_BLOCKING ? CLASS_ROUTE_PIN : CLASS_ROUTE;
    return flags & COMMAND_MODULE && !(flags & COMMAND_BLOCKING) ? CLASS_ANY
                                                                 : CLASS_REFUSE;
}

/* One key that is there in any case is routed without looking further. */
static void
place_key(struct learnt *learnt)
{
    struct command *command = &learnt->command;
    const struct key_spec *spec = &learnt->plan.specs[0];
    bool is_one = learnt->plan.count == 1 && spec->kind == KEY_RANGE &&
        spec->first == spec->last && !spec->not_key;

    if (is_one && abs(command->arity) > spec->first)
        command->first_key = command->last_key = (int16_t)spec->first;
    else
        command->flags |= COMMAND_MOVABLEKEYS;
    command->key_step = 1;
}

static bool
finish_entry(struct learnt *learnt, struct view name, int64_t arity,
             const int64_t triple[3])
{
    struct command *command = &learnt->command;

    if (arity < INT16_MIN || arity > INT16_MAX || name.len > UINT8_MAX)
        return false;
    if (learnt->plan.count == 0 && !(command->flags & COMMAND_MOVABLEKEYS) &&
        make_range(&learnt->plan.specs[0], triple[0], triple[1], triple[2]))
        learnt->plan.count = 1;
    learnt->name = mem_view_dup(name);
    command->id = COMMAND_ID_LEARNT;
    command->name = learnt->name;
    command->name_len = (uint8_t)name.len;
    command->arity = (int16_t)arity;
    command->categories = learnt->categories;
    command->group = "module";
    command->keyspec = command->since = command->key_flags = "";
    command->tips = command->complexity = command->summary = "";
    command->class = class_of(learnt);
    place_key(learnt);
    return true;
}

static bool
read_entry(struct view *rest, struct learnt *learnt, bool is_sub)
{
    struct view name;
    uint64_t fields;
    int64_t arity, triple[3];

    return read_count(rest, &fields) && fields >= 6 &&
        read_text(rest, &name) && read_number(rest, &arity) &&
        each_word(rest, note_flag, &learnt->command.flags) &&
        read_triple(rest, triple) && read_rest(rest, learnt, fields, is_sub) &&
        finish_entry(learnt, name, arity, triple);
}

/* --- the reply ----------------------------------------------------------------- */

/* One entry, which may be null. */
static bool
read_header(struct view *rest, bool *is_null)
{
    struct reply_item item;
    uint64_t count;

    if (!read_count(rest, &count) || count != 1)
        return false;
    struct view ahead = *rest;
    if (!reply_next(&ahead, &item))
        return false;
    *is_null = item.is_null;
    return true;
}

enum learnt_result
learnt_read(struct view reply, const struct command **row,
            struct learnt **learnt)
{
    struct learnt *found = MEM_NEW(struct learnt);
    bool is_null = false;

    found->reply = mem_view_dup(reply);
    found->reply_len = reply.len;
    struct view rest = view_of(found->reply, reply.len);
    enum learnt_result result = LEARNT_BAD;
    if (read_header(&rest, &is_null) && is_null)
        result = LEARNT_UNKNOWN;
    else if (!is_null && read_entry(&rest, found, false))
        result = LEARNT_NEW;
    if (result == LEARNT_NEW) {
        *row = command_find(view_str(found->name));
        if (*row == NULL) {
            *learnt = found;
            return LEARNT_NEW;
        }
        result = LEARNT_RENAMED;
    }
    learnt_free(&found);
    return result;
}

void
learnt_free(struct learnt **learntp)
{
    struct learnt *learnt = *learntp;

    *learntp = NULL;
    while (learnt->subs != NULL) {
        struct learnt *sub = learnt->subs;
        learnt->subs = sub->next;
        learnt_free(&sub);
    }
    mem_free(learnt->name);
    mem_free(learnt->categories);
    mem_free(learnt->reply);
    mem_free(learnt->docs);
    mem_free(learnt);
}

bool
learnt_is_of(const struct learnt *learnt, struct view reply)
{
    return view_equal(view_of(learnt->reply, learnt->reply_len), reply);
}

static const struct learnt *
learnt_of(const struct command *command)
{
    ASSERT(command->id == COMMAND_ID_LEARNT);
    /* It begins with its row. */
    return (const struct learnt *)(const void *)command;
}

const struct key_plan *
learnt_plan(const struct command *command)
{
    return &learnt_of(command)->plan;
}

const struct command *
learnt_find_sub(const struct command *container, struct view sub)
{
    const struct learnt *learnt = learnt_of(container)->subs;

    for (; learnt != NULL; learnt = learnt->next) {
        const char *bar = strchr(learnt->name, '|');
        if (bar != NULL && view_equal_nocase(view_str(bar + 1), sub))
            return &learnt->command;
    }
    return NULL;
}
