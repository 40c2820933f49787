/*
 * session/order.h - what has to wait until everything before it is answered.
 */
#ifndef SESSION_ORDER_H
#define SESSION_ORDER_H

#include "session/incoming.h"

/* Then it is offered again when nothing of its session is in flight. */
bool order_must_wait(const struct incoming *in) MUST_CHECK;

#endif
