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

struct request;

struct view request_text_unreachable(const struct request *request,
                                     uint32_t shard);
struct view request_text_lost(const struct request *request, uint32_t shard,
                              bool sent);
struct view request_text_late(const struct request *request, uint32_t shard,
                              bool sent);

#endif
