/*
 * admin/process.c - reading /proc/self and friends.
 */
#include "admin/process.h"

#include <inttypes.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/mem.h"

#define US_PER_S 1e6

static void
read_sizes(struct process_facts *facts)
{
    FILE *statm = fopen("/proc/self/statm", "re");
    uint64_t pages = 0, resident = 0;

    if (statm == NULL)
        return;
    if (fscanf(statm, "%" SCNu64 " %" SCNu64, &pages, &resident) == 2) {
        uint64_t page_size = (uint64_t)sysconf(_SC_PAGESIZE);
        facts->virtual_bytes = pages * page_size;
        facts->resident_bytes = resident * page_size;
    }
    fclose(statm);
}

static void
read_allocator(struct process_facts *facts)
{
    size_t allocated, held;

    mem_stats(&allocated, &held);
    facts->allocated_bytes = allocated;
    facts->held_bytes = held;
}

/* Newer kernels give the number of descriptors as the folder's size; listing
 * the folder instead could take long with very many clients. */
static void
read_fds(struct process_facts *facts)
{
    struct stat status;
    struct rlimit limit;

    if (stat("/proc/self/fd", &status) == 0)
        facts->open_fds = (uint64_t)status.st_size;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
        facts->max_fds = (uint64_t)limit.rlim_cur;
}

static double
timeval_s(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / US_PER_S;
}

static void
read_cpu(struct process_facts *facts)
{
    struct rusage usage;

    if (getrusage(RUSAGE_SELF, &usage) < 0)
        return;
    facts->cpu_user_s = timeval_s(usage.ru_utime);
    facts->cpu_system_s = timeval_s(usage.ru_stime);
}

struct process_facts
process_facts_read(void)
{
    struct process_facts facts = {0};

    read_sizes(&facts);
    read_allocator(&facts);
    read_fds(&facts);
    read_cpu(&facts);
    return facts;
}

const char *
process_host(char name[PROCESS_HOST_MAX])
{
    if (gethostname(name, PROCESS_HOST_MAX) < 0)
        snprintf(name, PROCESS_HOST_MAX, "?");
    name[PROCESS_HOST_MAX - 1] = '\0';
    return name;
}
