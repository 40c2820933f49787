/*
 * admin/http.h - HTTP on connections that were accepted elsewhere.
 *
 * The door to libmicrohttpd, which parses requests, keeps connections alive
 * and bounds both; it runs on our loop.  Owner: struct admin.
 */
#ifndef ADMIN_HTTP_H
#define ADMIN_HTTP_H

#include "admin/answer.h"
#include "net/loop.h"

struct http;

/* Fill in *answer, zeroed before; its body is freed by http. */
typedef void (*http_answer_fn)(void *arg, const struct answer_request *request,
                               struct answer *answer);

/* NULL when the library cannot start. */
struct http *http_new(struct loop *loop, unsigned connections, unsigned idle_s,
                      http_answer_fn answer, void *arg) MUST_CHECK;
/* Closes all connections. */
void http_free(struct http **httpp);

/* Take over a connected, non-blocking descriptor; bytes may have arrived. */
void http_take(struct http *http, int fd);

/* Connections at this moment. */
unsigned http_count(const struct http *http);

#endif
