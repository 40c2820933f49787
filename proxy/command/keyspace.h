/*
 * command/keyspace.h - how many keys all shards have, in the words of INFO.
 *
 *   db0:keys=3,expires=1,avg_ttl=1000
 *   db0:keys=2,expires=1,avg_ttl=3000   ->  db0:keys=5,expires=2,avg_ttl=2000
 *
 * Pure.
 */
#ifndef COMMAND_KEYSPACE_H
#define COMMAND_KEYSPACE_H

#include "base/buf.h"
#include "base/chain.h"

/* Append a line for each database that has keys, in their order.  What is no
 * such line, and a reply that is an error, counts for nothing. */
void keyspace_merge(const struct chain *replies, uint32_t count,
                    struct buf *out);

#endif
