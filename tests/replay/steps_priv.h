/*
 * tests/replay/steps_priv.h - steps that stand in a file of their own.
 */
#ifndef TESTS_REPLAY_STEPS_PRIV_H
#define TESTS_REPLAY_STEPS_PRIV_H

#include "world.h"

#define ARGS_MAX 4

/* What stood in the places of a pattern. */
struct args {
    struct view at[ARGS_MAX];
};

/* steps_pool.c: pools, their servers, and what is known of them */
void step_pool(struct world *world, const struct args *args);
void step_masters(struct world *world, const struct args *args);
void step_sentinels_say(struct world *world, const struct args *args);
void step_cluster(struct world *world, const struct args *args);
void step_map(struct world *world, const struct args *args);
void step_expect_hint(struct world *world, const struct args *args);
void step_expect_hints(struct world *world, const struct args *args);
void step_take_hints(struct world *world, const struct args *args);
void step_yaml(struct world *world, const struct args *args);
void step_addresses(struct world *world, const struct args *args);
void step_expect_asked(struct world *world, const struct args *args);

/* steps_questions.c: what a session asks of all workers */
void step_answer_question(struct world *world, const struct args *args);
void step_ask_workers(struct world *world, const struct args *args);
void step_expect_question(struct world *world, const struct args *args);

#endif
