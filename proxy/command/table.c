/*
 * command/table.c - the rows of commands.def, found by name.
 *
 * An open-addressing table filled once before main().  A slot holds the name
 * as two words of 64 bits in lower case: up to 16 bytes they are the whole
 * name, so that finding a command is a hash of two words and one comparison.
 *
 *   "get"                 a = "gtt" (first, middle, last byte)  b = 0
 *   "expire"              a = "expi" "pire"                     b = 0
 *   "zrangebyscore"       a = "zrangeby"                        b = "ebyscore"
 *
 * A subcommand stands in the same table under the name behind the '|', with
 * the row of its container beside it.
 */
#include "command/learnt.h"

#define TABLE_SLOTS 2048 /* a power of two, about three times the rows */
#define NO_ROW UINT16_MAX
#define WORDS_LEN 16 /* longer names have more than their two words */

#define BYTES(byte) (UINT64_C(0x0101010101010101) * (byte))

/* What is to be looked at more closely than by its one key. */
#define NOT_PLAIN                                                        \
    (COMMAND_MOVABLEKEYS | COMMAND_CONTAINER | COMMAND_PUBSUB |          \
     COMMAND_BLOCKING | COMMAND_MODULE | COMMAND_ONLY_SENTINEL)

struct name_words {
    uint64_t a, b;
};

/* A name that was found, of at most WORDS_LEN bytes; len 0: none. */
struct latest {
    struct name_words typed;
    size_t len;
    const struct command *command;
};

struct slot {
    struct name_words words;
    uint16_t row;    /* NO_ROW: empty */
    uint16_t parent; /* row of the container, NO_ROW for none */
    uint32_t len;
};

static const struct command rows[COMMAND_ID_COUNT] = {
#define COMMAND(ID, name_, arity_, CLASS, SPLIT, first, last, step, flags_, \
                keyspec_, since_, categories_, key_flags_, group_, tips_,   \
                complexity_, summary_)                                      \
    {.id = COMMAND_ID_##ID,                                                 \
     .name = name_,                                                         \
     .name_len = sizeof(name_) - 1,                                         \
     .class = CLASS_##CLASS,                                                \
     .split = SPLIT_##SPLIT,                                                \
     .arity = arity_,                                                       \
     .first_key = first,                                                    \
     .last_key = last,                                                      \
     .key_step = step,                                                      \
     .flags = flags_,                                                       \
     .is_plain = CLASS_##CLASS == CLASS_ROUTE && (first) > 0 &&             \
         (first) == (last) && ((flags_) & NOT_PLAIN) == 0 &&                \
         COMMAND_ID_##ID != COMMAND_ID_MOVE,                                \
     .keyspec = keyspec_,                                                   \
     .since = since_,                                                       \
     .categories = categories_,                                             \
     .key_flags = key_flags_,                                               \
     .group = group_,                                                       \
     .tips = tips_,                                                         \
     .complexity = complexity_,                                             \
     .summary = summary_},
#include "command/commands.def"
#undef COMMAND
};

/* Constant once table_fill() has run, which is before main(). */
static struct slot table[TABLE_SLOTS];

/* Eight letters at once to lower case; other bytes stay. */
static uint64_t
word_lower(uint64_t word)
{
    uint64_t low7 = word & BYTES(0x7f);
    uint64_t from_a = low7 + BYTES(0x80 - 'A');
    uint64_t past_z = low7 + BYTES(0x7f - 'Z');
    uint64_t upper = (from_a ^ past_z) & ~word & BYTES(0x80);

    return word | (upper >> 2);
}

static uint64_t
load8(const char *from)
{
    uint64_t word;

    memcpy(&word, from, sizeof(word));
    return word;
}

static uint64_t
load4(const char *from)
{
    uint32_t word;

    memcpy(&word, from, sizeof(word));
    return word;
}

/* As it was typed.  Always inlined: it is asked for each request. */
static inline struct name_words
typed_words(struct view name)
{
    const char *s = name.data;
    size_t len = name.len;
    struct name_words words = {0, 0};

    if (len >= 8) {
        words.a = load8(s);
        words.b = load8(s + len - 8);
    } else if (len >= 4) {
        words.a = load4(s) | load4(s + len - 4) << 32;
    } else if (len > 0) {
        words.a = (uint64_t)(unsigned char)s[0] |
            (uint64_t)(unsigned char)s[len / 2] << 8 |
            (uint64_t)(unsigned char)s[len - 1] << 16;
    }
    return words;
}

static struct name_words
name_words(struct view name)
{
    struct name_words words = typed_words(name);

    words.a = word_lower(words.a);
    words.b = word_lower(words.b);
    return words;
}

static uint32_t
slot_hash(struct name_words words, size_t len, uint16_t parent)
{
    uint64_t hash = (words.a ^ ((uint64_t)parent << 48) ^ len) *
        UINT64_C(0x9e3779b97f4a7c15);

    hash = (hash ^ words.b ^ hash >> 32) * UINT64_C(0xc2b2ae3d27d4eb4f);
    return (uint32_t)(hash >> 40) & (TABLE_SLOTS - 1);
}

/* What is behind the container's name and '|', or the whole name. */
static struct view
row_own_name(const struct command *row)
{
    const char *bar = memchr(row->name, '|', row->name_len);

    if (bar == NULL)
        return view_of(row->name, row->name_len);
    return view_str(bar + 1);
}

static bool
slot_is(const struct slot *slot, struct name_words words, struct view name,
        uint16_t parent)
{
    if (slot->words.a != words.a || slot->words.b != words.b ||
        slot->len != name.len || slot->parent != parent)
        return false;
    return name.len <= WORDS_LEN ||
        view_equal_nocase(row_own_name(&rows[slot->row]), name);
}

/* The slot that holds this name, or the empty one where it would be. */
static struct slot *
table_probe(struct name_words words, struct view name, uint16_t parent)
{
    uint32_t i = slot_hash(words, name.len, parent);

    while (table[i].row != NO_ROW && !slot_is(&table[i], words, name, parent))
        i = (i + 1) & (TABLE_SLOTS - 1);
    return &table[i];
}

static void
table_add(uint16_t row, uint16_t parent)
{
    struct view name = row_own_name(&rows[row]);
    struct name_words words = name_words(name);
    struct slot *slot = table_probe(words, name, parent);

    ASSERT(slot->row == NO_ROW);
    *slot = (struct slot){.words = words,
                          .row = row,
                          .parent = parent,
                          .len = (uint32_t)name.len};
}

/* The container of a subcommand's row, NO_ROW for others. */
static uint16_t
row_parent(const struct command *row)
{
    const char *bar = memchr(row->name, '|', row->name_len);

    if (bar == NULL)
        return NO_ROW;
    const struct command *parent =
        command_find(view_of(row->name, (size_t)(bar - row->name)));
    ASSERT(parent != NULL);
    return (uint16_t)parent->id;
}

/* Rows are sorted by name, so a container comes before what it contains. */
__attribute__((constructor)) static void
table_fill(void)
{
    for (size_t i = 0; i < TABLE_SLOTS; i++)
        table[i].row = NO_ROW;
    for (unsigned i = 0; i < COMMAND_ID_COUNT; i++)
        table_add((uint16_t)i, row_parent(&rows[i]));
}

const struct command *
command_find(struct view name)
{
    /* What was asked for last is mostly asked for again, in the same letters. */
    static _Thread_local struct latest latest;
    struct name_words typed = typed_words(name);

    if (likely(typed.a == latest.typed.a && typed.b == latest.typed.b &&
               name.len == latest.len))
        return latest.command;
    const struct slot *slot = table_probe(name_words(name), name, NO_ROW);
    const struct command *command =
        slot->row == NO_ROW ? NULL : &rows[slot->row];
    if (command != NULL && name.len <= WORDS_LEN)
        latest = (struct latest){typed, name.len, command};
    return command;
}

const struct command *
command_of_words(const struct command *first, const struct command_args *args)
{
    if (first != NULL && (first->flags & COMMAND_CONTAINER) != 0 &&
        args->argc > 1)
        return command_find_sub(first, command_arg(args, 1));
    return first;
}

const struct command *
command_find_words(const struct command_args *args)
{
    return command_of_words(command_find(command_arg(args, 0)), args);
}

const struct command *
command_find_sub(const struct command *container, struct view sub)
{
    uint16_t parent = (uint16_t)container->id;

    if (unlikely(container->id == COMMAND_ID_LEARNT))
        return learnt_find_sub(container, sub);
    const struct slot *slot = table_probe(name_words(sub), sub, parent);
    return slot->row == NO_ROW ? NULL : &rows[slot->row];
}

const struct command *
command_by_id(enum command_id id)
{
    ASSERT((unsigned)id < COMMAND_ID_COUNT);
    return &rows[id];
}
