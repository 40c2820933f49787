/*
 * daemon/tools.h - what the binary does besides serving.
 */
#ifndef DAEMON_TOOLS_H
#define DAEMON_TOOLS_H

/* pointsman -t -c FILE: check the file; the exit status of the process. */
int tool_check(const char *path);

/* pointsman route -c FILE POOL KEY...: where each key goes, and why. */
int tool_route(const char *path, int argc, char **argv);

#endif
