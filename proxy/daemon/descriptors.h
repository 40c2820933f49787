/*
 * daemon/descriptors.h - the three that everybody has, and how many clients
 * there are others for.
 */
#ifndef DAEMON_DESCRIPTORS_H
#define DAEMON_DESCRIPTORS_H

#include "config/settings.h"

/* Standard input, output and error are there from now on, if only as /dev/null:
 * what is written to them must not reach what was opened in their place. */
void descriptors_fill_standard(void);

/* Ask the system for all the descriptors that it gives us, and lower maxclients
 * to what they suffice for; the log says so. */
void descriptors_bound_clients(struct settings *settings);

#endif
