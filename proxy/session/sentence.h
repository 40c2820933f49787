/*
 * session/sentence.h - the proxy's own errors about a shard.
 *
 * Each says whether the command may have been executed.  Code and text, without
 * '-' and CRLF; the view stands in env->out until that is used again.
 */
#ifndef SESSION_SENTENCE_H
#define SESSION_SENTENCE_H

#include <stdbool.h>

#include "base/view.h"

struct attempt;
struct request;

struct view request_text_unreachable(const struct request *request,
                                     uint32_t shard);
struct view request_text_lost(const struct request *request, uint32_t shard,
                              bool sent);
struct view request_text_late(const struct request *request, uint32_t shard,
                              bool sent);

/* Its server has refused the client's user or database: in the server's words. */
struct view request_text_refused(const struct request *request,
                                  uint32_t shard);

/* In a pool that is followed: of a held command whose time is up ... */
struct view request_text_unserved(const struct request *request,
                                  const struct attempt *attempt);
/* ... of one for all shards, when this one has not taken it, or nobody knows
 * them ... */
struct view request_text_untaken(const struct request *request, uint32_t shard,
                                 const struct attempt *attempt);
struct view request_text_no_map(const struct request *request);
/* ... of one whose bytes are gone when a node has not taken it ... */
struct view request_text_gone(const struct request *request,
                              const struct attempt *attempt);
/* ... of one that a script or a module has redirected, or a node has, that cannot
 * be asked which ... */
struct view request_text_doubtful(const struct request *request,
                                  const struct attempt *attempt);
/* ... and of one that a later command has overtaken. */
struct view request_text_overtaken(const struct request *request,
                                   const struct attempt *attempt);

/* Of a write that on_no_quorum keeps from a master. */
struct view request_text_barred(const struct request *request,
                                   uint32_t shard);

#endif
