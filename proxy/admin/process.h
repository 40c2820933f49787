/*
 * admin/process.h - what the system says about our process.
 *
 * Read from /proc/self and getrusage() at the moment of asking; a number that
 * the system does not tell is 0.
 */
#ifndef ADMIN_PROCESS_H
#define ADMIN_PROCESS_H

#include "base/base.h"

struct process_facts {
    uint64_t resident_bytes; /* of the whole process */
    uint64_t virtual_bytes;
    uint64_t allocated_bytes; /* asked for and not given back */
    uint64_t held_bytes;      /* that the allocator holds from the system */
    uint64_t open_fds;
    uint64_t max_fds;
    double cpu_user_s;
    double cpu_system_s;
};

struct process_facts process_facts_read(void);

/* Name of this host, "?" when it has none; returns name. */
#define PROCESS_HOST_MAX 256
const char *process_host(char name[PROCESS_HOST_MAX]);

#endif
