/*
 * config/hint.c - the distance between two words.
 */
#include "config/hint.h"

#include <limits.h>

/* Beyond this a word is not a slip of the pen but another word. */
#define HINT_DISTANCE_MAX 3

/* Optimal string alignment: three rows of the usual table. */
unsigned
hint_distance(struct view a, struct view b)
{
    unsigned rows[3][HINT_WORD_MAX + 1];
    unsigned *before = rows[0], *above = rows[1], *row = rows[2];

    if (a.len > HINT_WORD_MAX || b.len > HINT_WORD_MAX)
        return UINT_MAX;
    for (unsigned j = 0; j <= b.len; j++)
        row[j] = j;
    for (unsigned i = 1; i <= a.len; i++) {
        unsigned *spare = before;

        before = above;
        above = row;
        row = spare;
        row[0] = i;
        for (unsigned j = 1; j <= b.len; j++) {
            unsigned change = above[j - 1] + (a.data[i - 1] != b.data[j - 1]);

            row[j] = MIN(MIN(above[j], row[j - 1]) + 1, change);
            if (i > 1 && j > 1 && a.data[i - 1] == b.data[j - 2] &&
                a.data[i - 2] == b.data[j - 1])
                row[j] = MIN(row[j], before[j - 2] + 1);
        }
    }
    return row[b.len];
}

struct hint
hint_start(struct view wrong)
{
    unsigned most = HINT_DISTANCE_MAX;

    /* Half of a short word changed is another word already. */
    if (wrong.len / 2 < most)
        most = (unsigned)wrong.len / 2;
    return (struct hint){.wrong = wrong, .distance = most + 1};
}

void
hint_offer(struct hint *hint, const char *key)
{
    unsigned distance = hint_distance(hint->wrong, view_str(key));

    if (distance < hint->distance) {
        hint->distance = distance;
        hint->nearest = key;
    }
}
