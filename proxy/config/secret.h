/*
 * config/secret.h - a password, from the file itself or from elsewhere.
 *
 *   redis_auth: s3cret
 *   redis_auth: {file: /run/secrets/redis}
 *   redis_auth: {env: REDIS_PASSWORD}
 *
 * No message ever holds a byte of a secret.
 */
#ifndef CONFIG_SECRET_H
#define CONFIG_SECRET_H

#include "config/node.h"
#include "config/report.h"

#define SECRET_BYTES_MAX 65536

/* Replace *secret, or report and leave it.  One newline at the end of a file
 * or variable is cut off. */
void secret_read(struct report *report, const struct node *node,
                 const char *key, char **secret);

#endif
