/*
 * session/news.h - what servers say of changed keys.
 *
 *   >2 invalidate *2 k l     these keys were changed
 *   >2 invalidate _          all were
 */
#ifndef SESSION_NEWS_H
#define SESSION_NEWS_H

#include "base/chain.h"

#define NEWS_MAX 16777216 /* a longer one is taken for "all" */

/* The list of keys in this frame, whose chunk is borrowed; without a chunk: all.
 * False: it is another push, or a reply. */
bool news_read(struct extent frame, struct extent *keys) MUST_CHECK;

#endif
