/*
 * command/outcome.c - looking error words up in outcome.def.
 *
 * Errors are rare, and there are two dozen words: a walk will do.
 */
#include "command/outcome.h"

enum { MAY_HAVE_RUN, NOT_RUN };

struct outcome_row {
    struct view word;
    bool proves_not_run;
};

static const struct outcome_row outcomes[OUTCOME_COUNT] = {
    [OUTCOME_OTHER] = {{"", 0}, false},
#define OUTCOME(NAME, word_, ran, help) \
    [OUTCOME_##NAME] = {{word_, sizeof(word_) - 1}, (ran) == NOT_RUN},
#include "command/outcome.def"
#undef OUTCOME
};

/* What stands between '-' and the first space or line end. */
static struct view
first_word(struct view line)
{
    struct view word = {line.data, 0};

    if (line.len == 0 || line.data[0] != '-')
        return word;
    word.data++;
    while (word.len + 1 < line.len) {
        char c = word.data[word.len];
        if (c == ' ' || c == '\r' || c == '\n')
            break;
        word.len++;
    }
    return word;
}

enum outcome
outcome_of(struct view line)
{
    struct view word = first_word(line);

    for (int i = OUTCOME_OTHER + 1; i < OUTCOME_COUNT; i++)
        if (view_equal(outcomes[i].word, word))
            return (enum outcome)i;
    return OUTCOME_OTHER;
}

bool
outcome_proves_not_run(enum outcome outcome)
{
    ASSERT((unsigned)outcome < OUTCOME_COUNT);
    return outcomes[outcome].proves_not_run;
}

const char *
outcome_word(enum outcome outcome)
{
    ASSERT((unsigned)outcome < OUTCOME_COUNT);
    return outcomes[outcome].word.data;
}
