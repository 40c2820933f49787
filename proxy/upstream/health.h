/*
 * upstream/health.h - is this server well? What it answered, and what not.
 *
 *            incident               enough in a row
 *      UP <-----------> SUSPECT ------------------> DOWN <-----+
 *       ^    answer                                  |         |
 *       |                  probe answered, or moved  |         | incident
 *       +----------------- HALF_OPEN <---------------+         |
 *              answer          +-------------------------------+
 *
 * A connection that was refused, a probe that failed and silence after an
 * expired request are proof and count each.  A connection lost, one that was
 * slow to come, and a request expired are suspicion and count once: one fault
 * may end many of them, and a healthy server may close connections or take long
 * over one command, or the proxy have been short of time itself.  Any
 * answer between two incidents makes the count begin anew; requests that are
 * refused are counted apart, as the server answers probes meanwhile.
 *
 * Pure: no clock, no socket.  Owner: control, one for each server.
 */
#ifndef UPSTREAM_HEALTH_H
#define UPSTREAM_HEALTH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/view.h"

enum health_state {
    HEALTH_UP,       /* it gets every request */
    HEALTH_SUSPECT,  /* the same, and it is probed at once */
    HEALTH_DOWN,     /* its requests are refused at once; it is probed */
    HEALTH_HALF_OPEN /* a probe was answered: few requests until one is */
};

enum incident {
    INCIDENT_LOST,      /* a connection ended with requests unanswered */
    INCIDENT_EXPIRED,   /* a request was not answered in time */
    INCIDENT_SLOW,      /* a connection was not there within connect_timeout */
    INCIDENT_REFUSAL,  /* a request was answered OOM, BUSY or LOADING */
    INCIDENT_SILENT,    /* ... and then nothing else either */
    INCIDENT_CONNECT,   /* a connection was refused, or its handshake */
    INCIDENT_PROBE,     /* a probe was not answered, or not sensibly */
    INCIDENT_NOT_READY, /* a probe was answered LOADING or MASTERDOWN */
    INCIDENT_NO_ADDRESS, /* its name does not resolve */
    INCIDENT_ADDRESS,   /* one of its addresses is no good, others are tried:
                           says something of the name, not of the server */
    INCIDENT_COUNT
};

/* Incidents of one server in one turn of a worker. */
struct incident_counts {
    uint16_t of[INCIDENT_COUNT];
};

struct health_limits {
    uint64_t failures;  /* in a row that make it DOWN */
    uint64_t window_us; /* a failure as old as this does not count */
    uint64_t probe_us;  /* between probes while it is well; 0: none */
    uint64_t retry_min_us; /* between probes while it is not, doubled with */
    uint64_t retry_max_us; /* each that fails, up to this */
};

struct health {
    struct health_limits limits;
    enum health_state state;
    enum incident reason;    /* the last incident */
    uint64_t failures;       /* in a row */
    uint64_t refusals;       /* in a row, which a PING says nothing about */
    uint64_t failed_us;      /* when the last of them was */
    uint64_t changed_us;     /* when the state began */
    uint32_t probe_failures; /* in a row */
};

/* Up; the limits are the caller's to set, now and later. */
void health_init(struct health *health, uint64_t now_us);

/* Each says whether the state has changed. */
bool health_on_incident(struct health *health, enum incident what,
                        uint64_t now_us);
/* Requests have been answered. */
bool health_on_answer(struct health *health, uint64_t now_us);
bool health_on_probe_answer(struct health *health, uint64_t now_us);
/* It is somewhere else now, of which nothing is known. */
bool health_on_move(struct health *health, uint64_t now_us);

/* How long to wait for the next probe, before any jitter.  False: for ever. */
bool health_probe_pause(const struct health *health,
                        uint64_t *pause_us) MUST_CHECK;

/* What a reply to PING says: whether the process is alive, and serves. */
enum ping_result {
    PING_ALIVE,
    PING_BUSY, /* alive, but every request is refused for a while */
    PING_NOT_READY,
    PING_ODD
};

/* `reply` begins with the first byte of a reply. */
enum ping_result health_judge_ping(struct view reply) MUST_CHECK;

const char *health_state_name(enum health_state state);
/* As the end of a sentence for the log. */
const char *incident_text(enum incident what);

#endif
