/*
 * upstream/health.c - counting incidents and answers.
 */
#include "upstream/health.h"

#define MAX_DOUBLINGS 16

static bool
health_set_state(struct health *health, enum health_state state,
                 uint64_t now_us)
{
    if (health->state == state)
        return false;
    /* Down is left by a probe, or a move, and only so the half-open state begins. */
    ASSERT(health->state != HEALTH_DOWN || state == HEALTH_HALF_OPEN);
    ASSERT(state != HEALTH_HALF_OPEN || health->state == HEALTH_DOWN);
    health->state = state;
    health->changed_us = now_us;
    return true;
}

void
health_init(struct health *health, uint64_t now_us)
{
    *health = (struct health){
        .state = HEALTH_UP,
        .changed_us = now_us,
    };
}

static bool
is_proof(enum incident what)
{
    return what != INCIDENT_LOST && what != INCIDENT_EXPIRED &&
        what != INCIDENT_SLOW;
}

static bool
is_of_probe(enum incident what)
{
    return what == INCIDENT_PROBE || what == INCIDENT_NOT_READY ||
        what == INCIDENT_NO_ADDRESS;
}

static void
health_count(struct health *health, enum incident what, uint64_t now_us)
{
    if (now_us - health->failed_us > health->limits.window_us)
        health->failures = health->refusals = 0;
    if (what == INCIDENT_REFUSAL)
        health->refusals++;
    else if (is_proof(what) || health->failures == 0)
        health->failures++;
    if (is_of_probe(what))
        health->probe_failures++;
    health->failed_us = now_us;
}

bool
health_on_incident(struct health *health, enum incident what, uint64_t now_us)
{
    health_count(health, what, now_us);
    if (health->state == HEALTH_DOWN)
        return false;
    health->reason = what;
    if (health->state == HEALTH_HALF_OPEN ||
        health->failures >= health->limits.failures ||
        health->refusals >= health->limits.failures)
        return health_set_state(health, HEALTH_DOWN, now_us);
    if (what == INCIDENT_REFUSAL)
        return false; /* that it answers is known */
    return health_set_state(health, HEALTH_SUSPECT, now_us);
}

bool
health_on_answer(struct health *health, uint64_t now_us)
{
    /* Late answers of a server that is down are what its probes are for. */
    if (health->state == HEALTH_DOWN)
        return false;
    health->failures = 0;
    health->refusals = 0;
    health->probe_failures = 0;
    return health_set_state(health, HEALTH_UP, now_us);
}

bool
health_on_probe_answer(struct health *health, uint64_t now_us)
{
    health->failures = 0;
    if (health->state == HEALTH_DOWN)
        health->refusals = 0;
    health->probe_failures = 0;
    return health_set_state(health,
                            health->state == HEALTH_DOWN ? HEALTH_HALF_OPEN
                                                         : HEALTH_UP,
                            now_us);
}

bool
health_on_move(struct health *health, uint64_t now_us)
{
    health->failures = 0;
    health->refusals = 0;
    health->probe_failures = 0;
    return health->state == HEALTH_DOWN &&
        health_set_state(health, HEALTH_HALF_OPEN, now_us);
}

bool
health_probe_pause(const struct health *health, uint64_t *pause_us)
{
    const struct health_limits *limits = &health->limits;
    unsigned doublings = MIN(health->probe_failures, MAX_DOUBLINGS);

    switch (health->state) {
    case HEALTH_UP:
        *pause_us = limits->probe_us;
        return limits->probe_us > 0;
    case HEALTH_SUSPECT:
        if (health->probe_failures == 0) {
            *pause_us = 0;
            return true;
        }
        break;
    case HEALTH_DOWN:
        break;
    case HEALTH_HALF_OPEN:
        *pause_us = limits->retry_max_us;
        return true;
    }
    *pause_us = MIN(limits->retry_min_us << doublings, limits->retry_max_us);
    return true;
}

enum ping_result
health_judge_ping(struct view reply)
{
    static const struct {
        const char *word;
        enum ping_result result;
    } answers[] = {
        {"+PONG", PING_ALIVE},          {"-MISCONF ", PING_ALIVE},
        {"-BUSY ", PING_BUSY},          {"-NOAUTH ", PING_ALIVE},
        {"-NOPERM ", PING_ALIVE},       {"-LOADING ", PING_NOT_READY},
        {"-MASTERDOWN ", PING_NOT_READY},
    };

    for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
        if (view_begins(reply, view_str(answers[i].word)))
            return answers[i].result;
    }
    return PING_ODD;
}

const char *
health_state_name(enum health_state state)
{
    switch (state) {
    case HEALTH_UP:
        return "up";
    case HEALTH_SUSPECT:
        return "suspect";
    case HEALTH_DOWN:
        return "down";
    case HEALTH_HALF_OPEN:
        return "half open";
    }
    return "?";
}

const char *
incident_text(enum incident what)
{
    switch (what) {
    case INCIDENT_LOST:
        return "a connection was lost with requests unanswered";
    case INCIDENT_EXPIRED:
        return "a request was not answered in time";
    case INCIDENT_SLOW:
        return "connecting took longer than connect_timeout";
    case INCIDENT_REFUSAL:
        return "it answered OOM, BUSY or LOADING";
    case INCIDENT_SILENT:
        return "it stayed silent after a request had expired";
    case INCIDENT_CONNECT:
        return "it refused a connection";
    case INCIDENT_PROBE:
        return "a probe failed";
    case INCIDENT_NOT_READY:
        return "it is not ready yet";
    case INCIDENT_NO_ADDRESS:
        return "its name does not resolve";
    case INCIDENT_ADDRESS:
        return "one of its addresses cannot be connected to";
    case INCIDENT_COUNT:
        break;
    }
    return "?";
}
