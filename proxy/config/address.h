/*
 * config/address.h - taking the text of an address apart.
 *
 * A host is not resolved here, and not normalised: it is part of a server's
 * name, and so of the ring.
 */
#ifndef CONFIG_ADDRESS_H
#define CONFIG_ADDRESS_H

#include "base/base.h"
#include "base/view.h"
#include "config/settings.h"

/* What fits a struct sockaddr_un, and a DNS name with room to spare. */
#define ADDRESS_PATH_MAX 107
#define ADDRESS_HOST_MAX 255

enum address_use {
    ADDRESS_LISTEN, /* host:port or "/path [octal mode]" */
    ADDRESS_STATS,  /* host:port */
    ADDRESS_SERVER, /* host:port or /path, no "*" for a host, no port 0 */
};

/*
 * NULL when `address` is filled (free it with address_text_fini()), else what
 * would have been allowed, for a message; `address` is then untouched.
 */
const char *address_text_parse(struct view text, enum address_use use,
                               struct address_text *address) MUST_CHECK;

/* The same for parts that were taken apart already (a host with or without
 * brackets); `text` is kept as written.  A mode without data is none. */
const char *address_text_parse_host(struct view host, struct view port,
                                    enum address_use use, struct view text,
                                    struct address_text *address) MUST_CHECK;
const char *address_text_parse_path(struct view path, struct view mode,
                                    struct view text,
                                    struct address_text *address) MUST_CHECK;
void address_text_fini(struct address_text *address);

/* Would listening to both fail?  Port 0 never does. */
bool address_text_collides(const struct address_text *a,
                           const struct address_text *b) MUST_CHECK;

#endif
