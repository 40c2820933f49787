/*
 * discovery/epoch.c - counting votes.
 */
#include "discovery/epoch.h"

/* --- who counts -------------------------------------------------------------- */

static bool
is_same_voter(const struct vote *a, const struct vote *b)
{
    return a->voter.len > 0 && view_equal_nocase(a->voter, b->voter);
}

/* Which of two answers of the same Sentinel is the newer one? */
static bool
is_better(const struct vote *a, const struct vote *b)
{
    if (a->kind != b->kind)
        return a->kind > b->kind;
    return a->epoch > b->epoch;
}

/* One Sentinel may be reached at several addresses; its best vote counts, and
 * of equal ones the first. */
static bool
counts(const struct vote *votes, size_t count, size_t number)
{
    const struct vote *vote = &votes[number];

    for (size_t i = 0; i < count; i++) {
        if (i == number || !is_same_voter(&votes[i], vote))
            continue;
        if (is_better(&votes[i], vote) ||
            (i < number && !is_better(vote, &votes[i])))
            return false;
    }
    return true;
}

static void
count_votes(const struct vote *votes, size_t count,
            struct epoch_result *result)
{
    for (size_t i = 0; i < count; i++) {
        if (!counts(votes, count, i))
            continue;
        result->known++;
        result->reached += votes[i].kind != VOTE_SILENT;
        if (votes[i].kind != VOTE_ADDRESS)
            continue;
        result->knowing++;
        result->failing_over += votes[i].is_failing_over;
        result->highest = MAX(result->highest, votes[i].epoch);
    }
}

/* --- groups ------------------------------------------------------------------- */

/* Where it is, as far as that is known. */
static struct view
place_of(const struct vote *vote)
{
    return vote->ip.len > 0 ? vote->ip : vote->host;
}

bool
vote_agrees(const struct vote *a, const struct vote *b)
{
    return a->port == b->port &&
        (view_equal_nocase(a->host, b->host) ||
         view_equal_nocase(place_of(a), place_of(b)));
}

static unsigned
count_supporters(const struct vote *votes, size_t count, size_t number)
{
    const struct vote *vote = &votes[number];
    unsigned supporters = 0;

    for (size_t i = 0; i < count; i++) {
        if (votes[i].kind == VOTE_ADDRESS && votes[i].epoch == vote->epoch &&
            vote_agrees(&votes[i], vote) && counts(votes, count, i))
            supporters++;
    }
    return supporters;
}

/* The group with the most supporters; of equal ones the highest epoch. */
static const struct vote *
find_strongest(const struct vote *votes, size_t count,
               struct epoch_result *result)
{
    const struct vote *best = NULL;

    for (size_t i = 0; i < count; i++) {
        if (votes[i].kind != VOTE_ADDRESS || !counts(votes, count, i))
            continue;
        unsigned supporters = count_supporters(votes, count, i);
        if (supporters > result->supporters ||
            (supporters == result->supporters && best != NULL &&
             votes[i].epoch > best->epoch)) {
            best = &votes[i];
            result->supporters = supporters;
        }
    }
    return best;
}

/* --- the verdict ---------------------------------------------------------------- */

static enum epoch_verdict
judge(const struct epoch_result *result, const struct vote *strongest,
      uint64_t floor)
{
    if (result->reached == 0)
        return EPOCH_NOBODY_REACHED;
    if (strongest == NULL)
        return EPOCH_NOBODY_KNOWS;
    if (result->knowing < result->needed)
        return EPOCH_TOO_FEW;
    if (result->supporters < result->needed)
        return EPOCH_DISAGREED;
    return strongest->epoch < floor ? EPOCH_OLD : EPOCH_BELIEVED;
}

void
epoch_decide(const struct vote *votes, size_t count,
             const struct epoch_rules *rules, struct epoch_result *result)
{
    count = MIN(count, (size_t)EPOCH_VOTES_MAX);
    *result = (struct epoch_result){0};
    count_votes(votes, count, result);
    unsigned enough =
        rules->quorum > 0 ? rules->quorum : result->known / 2 + 1;
    result->needed = MAX(enough, result->knowing / 2 + 1);

    const struct vote *strongest = find_strongest(votes, count, result);
    result->verdict = judge(result, strongest, rules->floor);
    if (result->verdict == EPOCH_BELIEVED)
        result->vouched = strongest;
}

const char *
epoch_verdict_text(enum epoch_verdict verdict)
{
    static const char *const texts[] = {
        [EPOCH_BELIEVED] = "believed",
        [EPOCH_NOBODY_REACHED] = "no Sentinel is reachable",
        [EPOCH_NOBODY_KNOWS] = "no Sentinel knows the name",
        [EPOCH_TOO_FEW] = "too few Sentinels answer",
        [EPOCH_DISAGREED] = "answers disagree",
        [EPOCH_OLD] = "answers are older than what was believed",
    };

    return texts[verdict];
}
