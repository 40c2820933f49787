/*
 * config/process.h - the section `pointsman:`, about the process as a whole.
 */
#ifndef CONFIG_PROCESS_H
#define CONFIG_PROCESS_H

#include "config/node.h"
#include "config/report.h"
#include "config/settings.h"

#define PROCESS_SECTION "pointsman"

void process_settings_init(struct settings *settings);
void process_settings_read(struct report *report, const struct node *map,
                  struct settings *settings);
void process_settings_fini(struct settings *settings);

#endif
