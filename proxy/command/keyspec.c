/*
 * command/keyspec.c - parsing the keyspecs of commands.def.
 *
 * The grammar is that of the head of commands.def.  The texts are our own, so
 * anything else in them is a bug and stops the program at its start.
 */
#include "command/keyspec.h"

#include "command/learnt.h"

#define MAX_PLANS 64 /* different texts; there are about thirty */

static struct key_plan plans[MAX_PLANS];
static uint32_t plan_count;
static uint8_t plan_of_row[COMMAND_ID_COUNT];

/* Step over `literal` if it comes next. */
static bool
try_take(struct view *text, const char *literal)
{
    size_t len = strlen(literal);

    if (text->len < len || memcmp(text->data, literal, len) != 0)
        return false;
    text->data += len;
    text->len -= len;
    return true;
}

static void
take(struct view *text, const char *literal)
{
    bool taken = try_take(text, literal);

    ASSERT(taken);
}

static int32_t
take_number(struct view *text)
{
    int32_t sign = try_take(text, "-") ? -1 : 1;
    int32_t value = 0;

    ASSERT(text->len > 0 && text->data[0] >= '0' && text->data[0] <= '9');
    while (text->len > 0 && text->data[0] >= '0' && text->data[0] <= '9') {
        value = value * 10 + (text->data[0] - '0');
        text->data++;
        text->len--;
    }
    return sign * value;
}

static bool
is_word_char(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static struct view
take_word(struct view *text)
{
    struct view word = view_of(text->data, 0);

    while (word.len < text->len && is_word_char(word.data[word.len]))
        word.len++;
    ASSERT(word.len > 0);
    text->data += word.len;
    text->len -= word.len;
    return word;
}

/* "1..-1/2", the plus signs of an option's range having been taken. */
static void
parse_range(struct view *text, struct key_spec *spec)
{
    spec->first = take_number(text);
    spec->last = try_take(text, "..") ? take_number(text) : spec->first;
    spec->step = try_take(text, "/") ? take_number(text) : 1;
}

static void
parse_fixed(struct view *text, struct key_spec *spec)
{
    spec->kind = KEY_RANGE;
    parse_range(text, spec);
    spec->unless_empty = try_take(text, " unless empty");
    if (try_take(text, " (")) {
        while (!try_take(text, ", not a key)"))
            *text = view_of(text->data + 1, text->len - 1);
        spec->not_key = true;
    }
}

static void
parse_counted(struct view *text, struct key_spec *spec)
{
    spec->kind = KEY_COUNTED;
    spec->count_at = (uint32_t)take_number(text);
    take(text, " keys@");
    spec->first = take_number(text);
    spec->step = try_take(text, "/") ? take_number(text) : 1;
}

static void
parse_skips(struct view *text, struct key_spec *spec)
{
    while (try_take(text, " ")) {
        ASSERT(spec->skip_count < SPEC_MAX_SKIPS);
        struct key_skip *skip = &spec->skips[spec->skip_count++];
        skip->word = take_word(text);
        take(text, " ");
        skip->args = (uint32_t)take_number(text);
    }
}

static void
parse_option(struct view *text, struct key_spec *spec)
{
    spec->kind = KEY_OPTION;
    do {
        ASSERT(spec->word_count < SPEC_MAX_WORDS);
        spec->words[spec->word_count++] = take_word(text);
    } while (try_take(text, "|"));
    take(text, "(from ");
    spec->from = (uint32_t)take_number(text);
    if (try_take(text, ", skip"))
        parse_skips(text, spec);
    spec->last_wins = try_take(text, ", last");
    take(text, ") +");
    parse_range(text, spec);
    if (try_take(text, " first 1/"))
        spec->share = (uint32_t)take_number(text);
}

static void
parse_spec(struct view *text, struct key_spec *spec)
{
    if (try_take(text, "kw "))
        parse_option(text, spec);
    else if (try_take(text, "numkeys@"))
        parse_counted(text, spec);
    else
        parse_fixed(text, spec);
    ASSERT(spec->first > 0 && spec->step > 0);
}

static void
parse_plan(struct key_plan *plan, const char *keyspec)
{
    struct view text = view_str(keyspec);

    plan->text = keyspec;
    if (text.len == 0)
        return;
    do {
        ASSERT(plan->count < PLAN_MAX_SPECS);
        parse_spec(&text, &plan->specs[plan->count++]);
    } while (try_take(&text, " ; "));
    ASSERT(text.len == 0);
}

/* The number of the plan for this text, made if it is a new one. */
static uint8_t
plan_for(const char *keyspec)
{
    uint32_t i = 0;

    while (i < plan_count && strcmp(plans[i].text, keyspec) != 0)
        i++;
    ASSERT(i < MAX_PLANS);
    if (i == plan_count)
        parse_plan(&plans[plan_count++], keyspec);
    return (uint8_t)i;
}

__attribute__((constructor)) static void
plans_fill(void)
{
    for (int i = 0; i < COMMAND_ID_COUNT; i++)
        plan_of_row[i] = plan_for(command_by_id((enum command_id)i)->keyspec);
}

const struct key_plan *
key_plan_of(const struct command *command)
{
    if (unlikely(command->id == COMMAND_ID_LEARNT))
        return learnt_plan(command);
    return &plans[plan_of_row[command->id]];
}

/* The servers join ranges only while each begins right behind the last one
 * and has step 1 (RENAME: 1 2 1); -1 counts as the furthest end. */
void
key_plan_triple(const struct key_plan *plan, int triple[3])
{
    int first = 0, last = 0, step = 0;

    for (uint32_t i = 0; i < plan->count; i++) {
        const struct key_spec *spec = &plan->specs[i];
        if (spec->kind != KEY_RANGE)
            continue;
        if (first == 0) {
            first = spec->first;
            last = spec->last;
            step = spec->step;
        } else if (step == 1 && spec->first == last + 1) {
            last = spec->last;
        }
    }
    triple[0] = first;
    triple[1] = last;
    triple[2] = step;
}
