/*
 * admin/json.h - twemproxy's statistics, so that its exporters go on working.
 *
 * One object on one line: service, source, version, uptime, timestamp,
 * total_connections, curr_connections, then an object for each pool, with one
 * for each server by its node name.
 */
#ifndef ADMIN_JSON_H
#define ADMIN_JSON_H

#include "admin/source.h"
#include "base/buf.h"

void json_render(const struct admin_source *source, struct buf *out);

#endif
