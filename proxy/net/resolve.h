/*
 * net/resolve.h - what are the addresses of this name?
 *
 *   resolver_ask --> the hosts file, else name servers, A and AAAA --> fn
 *
 * c-ares on our loop: nothing blocks.  Where names are looked up, in which
 * order, and the domains that are tried for short ones are as the system's files
 * say; they are read once, when the resolver is made, but the hosts file at
 * each question.
 *
 * net/resolve.c is the only file that sees c-ares.  One thread.
 */
#ifndef NET_RESOLVE_H
#define NET_RESOLVE_H

#include "base/error.h"
#include "net/address_list.h"
#include "net/loop.h"

struct resolver;

enum resolve_result {
    RESOLVE_FOUND,
    RESOLVE_NO_NAME,    /* there is no such name */
    RESOLVE_NO_ADDRESS, /* there is, but it has no address */
    RESOLVE_FAILED,     /* a name server answered with an error */
    RESOLVE_TIMEOUT,    /* none answered */
    RESOLVE_RESULT_COUNT
};

struct resolve_answer {
    enum resolve_result result;
    const char *detail;         /* c-ares' words for it */
    struct address_list *found; /* borrowed, without ports; or NULL */
    uint32_t ttl_s;             /* of the address that has least of it */
};

typedef void (*resolve_fn)(void *arg, const struct resolve_answer *answer);

/* "127.0.0.1:5353,[::1]:53", or NULL for those of the system.  Each is given
 * timeout_ms for an answer, twice, longer the second time.  NULL and a sentence
 * on failure. */
struct resolver *resolver_new(struct loop *loop, const char *servers,
                              int64_t timeout_ms,
                              struct error *error) MUST_CHECK;
/* No question is answered any more. */
void resolver_free(struct resolver **resolverp);

/* AF_INET, AF_INET6, or AF_UNSPEC for both: then one kind is found although a
 * name server failed to tell of the other.  fn is called once, maybe from inside;
 * it may ask, but not free. */
void resolver_ask(struct resolver *resolver, const char *host, int family,
                  resolve_fn fn, void *arg);

/* "found", "no_name" ...; for counters. */
const char *resolve_result_name(enum resolve_result result);

#endif
