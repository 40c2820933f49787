/*
 * admin/page.h - the status page for people: plain HTML, no scripts.
 */
#ifndef ADMIN_PAGE_H
#define ADMIN_PAGE_H

#include "admin/source.h"
#include "base/buf.h"

void page_render(const struct admin_source *source, struct buf *out);

#endif
