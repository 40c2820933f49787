/*
 * config/hint.h - which key may have been meant?
 */
#ifndef CONFIG_HINT_H
#define CONFIG_HINT_H

#include "base/base.h"
#include "base/view.h"

struct hint {
    struct view wrong;
    const char *nearest; /* NULL: nothing is near enough */
    unsigned distance;
};

/* Look for keys near `wrong`. */
struct hint hint_start(struct view wrong);
/* Offer a key that exists. */
void hint_offer(struct hint *hint, const char *key);

/* Letters to insert, delete, change or swap with their neighbour to make one
 * word of the other; texts over HINT_WORD_MAX are infinitely far away. */
#define HINT_WORD_MAX 40
unsigned hint_distance(struct view a, struct view b) MUST_CHECK;

#endif
