/*
 * admin/command_totals.h - what became of the requests of a pool, by command.
 *
 * The accounts of all workers (session/command_stats.h), added up.  Owner: the
 * caller.
 */
#ifndef ADMIN_COMMAND_TOTALS_H
#define ADMIN_COMMAND_TOTALS_H

#include "admin/source.h"

struct command_total {
    const char *name; /* of the account's; good until control turns on */
    struct command_stats stats;
};

/* By name; those that nothing has been counted for are left out. */
struct command_totals {
    struct command_total *all;
    size_t count;
};

enum command_period { SINCE_START, SINCE_RESETSTAT };

struct command_totals command_totals_read(const struct admin_source *source,
                                          size_t pool,
                                          enum command_period period);
void command_totals_fini(struct command_totals *totals);

/* Errors that clients of the pool have been answered, by code. */
struct error_total {
    char code[ERROR_CODE_MAX];
    uint64_t count;
};

struct error_totals {
    struct error_total *all;
    size_t count;
};

struct error_totals error_totals_read(const struct admin_source *source,
                                      size_t pool, enum command_period period);
void error_totals_fini(struct error_totals *totals);

#endif
