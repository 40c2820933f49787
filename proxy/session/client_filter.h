/*
 * session/client_filter.h - which clients CLIENT LIST and CLIENT KILL mean.
 *
 * All conditions that are given must hold.  A filter travels to the workers as
 * lines of text, "addr 10.0.0.1:4711\n".
 */
#ifndef SESSION_CLIENT_FILTER_H
#define SESSION_CLIENT_FILTER_H

#include "base/buf.h"
#include "base/view.h"

struct session;

enum client_type {
    CLIENT_ANY,
    CLIENT_NORMAL,
    CLIENT_PUBSUB,
    CLIENT_REPLICA, /* of these two there are none here */
    CLIENT_PRIMARY
};

struct client_filter {
    enum client_type type;
    uint64_t id;        /* 0: any */
    uint64_t max_age_s; /* connected for at least so long */
    struct view addr;   /* empty: any; borrowed */
    struct view laddr;
    struct view user;
    bool skip_me;       /* spare who asks */
    bool is_impossible; /* what is asked for no client can have */
};

void client_filter_init(struct client_filter *filter);

/* By the name that commands have for it; false if there is none such. */
bool client_type_read(struct view name, enum client_type *type) MUST_CHECK;

/* To lines of text, and from them. */
void client_filter_write(const struct client_filter *filter, struct buf *out);
void client_filter_read(struct client_filter *filter, struct view lines);

bool client_filter_matches(const struct client_filter *filter,
                           const struct session *session) MUST_CHECK;

#endif
