/*
 * session/stale.h - hints to control that a map may be out of date.
 */
#ifndef SESSION_STALE_H
#define SESSION_STALE_H

#include "session/env.h"

/* A session has met something that a newer map may explain; control hears of it
 * at most once in STALE_PAUSE_MS. */
void env_tell_stale(struct session_pool *pool, enum stale_cause cause);

#endif
