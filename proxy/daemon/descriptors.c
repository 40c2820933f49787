/*
 * daemon/descriptors.c - room for clients, servers and ourselves.
 */
#include "daemon/descriptors.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#define OWN_DESCRIPTORS 32 /* listeners, logs, wake-ups */

void
descriptors_fill_standard(void)
{
    int fd;

    /* Each gets the lowest number that is free. */
    do {
        fd = open("/dev/null", O_RDWR);
    } while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

/* As many descriptors as the system lets us have; 0 when it does not say. */
static uint64_t
raise_descriptor_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return 0;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
    return getrlimit(RLIMIT_NOFILE, &limit) < 0 ? 0 : limit.rlim_cur;
}

/* Descriptors that clients must leave for servers and for ourselves: a quarter
 * of all at most. */
static uint64_t
reserved_descriptors(const struct settings *settings, uint64_t all)
{
    uint64_t wanted = OWN_DESCRIPTORS;

    for (size_t i = 0; i < settings->pool_count; i++)
        wanted += MAX(settings->pools[i].server_count,
                      settings->pools[i].seed_count) *
            settings->pools[i].connections_per_server;
    return MIN(wanted, all / 4);
}

/* Clients that take the last descriptor would cut all others off from the
 * servers. */
void
descriptors_bound_clients(struct settings *settings)
{
    uint64_t all = raise_descriptor_limit();
    uint64_t most = MAX(all - reserved_descriptors(settings, all), 1u);

    if (all == 0 || settings->maxclients <= most)
        return;
    log_warn("maxclients lowered, the system allows too few descriptors",
             "descriptors=%llu maxclients=%llu lowered_to=%llu",
             (unsigned long long)all,
             (unsigned long long)settings->maxclients,
             (unsigned long long)most);
    settings->maxclients = most;
}
