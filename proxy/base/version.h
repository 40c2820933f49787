/*
 * base/version.h - which program this is, and which server it stands for.
 */
#ifndef BASE_VERSION_H
#define BASE_VERSION_H

/* Our own version, as configure has it. */
#define POINTSMAN_VERSION PACKAGE_VERSION

/*
 * What INFO and HELLO give as the version of the server.  Client libraries
 * choose by it which commands they may send, so it is the version whose
 * behaviour the tables of commands were measured on: nothing newer is promised.
 */
#define SERVER_VERSION "7.0.15"

#endif
