/*
 * config/resolver.h - the name servers that are asked.
 */
#ifndef CONFIG_RESOLVER_H
#define CONFIG_RESOLVER_H

#include "config/section.h"

#define RESOLVERS_MAX 8

/* `resolver:` of the process, one address or a list of them. */
word_fn process_read_resolver;

#endif
