/*
 * session/stale.c - telling control, but not too often.
 */
#include "session/stale.h"

#define STALE_PAUSE_US 50000

void
env_tell_stale(struct session_pool *pool, enum stale_cause cause)
{
    struct session_env *env = pool->env;
    uint64_t now_us = loop_now_us(env->loop);

    if (env->on_stale == NULL ||
        (pool->stale_told_us > 0 &&
         now_us < pool->stale_told_us + STALE_PAUSE_US))
        return;
    pool->stale_told_us = now_us;
    env->on_stale(env, pool->id, cause);
}
