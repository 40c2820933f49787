/*
 * base/dice.h - numbers by chance: to choose by, and so that many do not do a thing
 * in step.
 *
 * SplitMix64, public domain (Sebastiano Vigna).  Any state will do as a start, 0
 * included.  Not for secrets.
 */
#ifndef BASE_DICE_H
#define BASE_DICE_H

#include <stdint.h>

static inline uint64_t
dice_roll(uint64_t *dice)
{
    uint64_t x = *dice += 0x9e3779b97f4a7c15u;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* Below `bound`, which is not 0. */
static inline uint64_t
dice_below(uint64_t *dice, uint64_t bound)
{
    return dice_roll(dice) % bound;
}

#endif
