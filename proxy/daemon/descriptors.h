/*
 * daemon/descriptors.h - how many clients the system has descriptors for.
 */
#ifndef DAEMON_DESCRIPTORS_H
#define DAEMON_DESCRIPTORS_H

#include "config/settings.h"

/* Ask the system for all the descriptors that it gives us, and lower maxclients
 * to what they suffice for; the log says so. */
void descriptors_bound_clients(struct settings *settings);

#endif
