/*
 * command/script_digest.h - the name that servers give to a script: its SHA1.
 */
#ifndef COMMAND_SCRIPT_DIGEST_H
#define COMMAND_SCRIPT_DIGEST_H

#include "base/view.h"

#define SCRIPT_DIGEST_SIZE 20
#define SCRIPT_DIGEST_HEX 40

struct script_digest {
    uint8_t bytes[SCRIPT_DIGEST_SIZE];
};

static inline bool
script_digest_equal(const struct script_digest *a,
                    const struct script_digest *b)
{
    return memcmp(a->bytes, b->bytes, SCRIPT_DIGEST_SIZE) == 0;
}

/* False where the system's OpenSSL has no SHA1. */
bool script_digest_of(struct view body,
                      struct script_digest *digest) MUST_CHECK;
/* As clients write it, in either case.  False: it is none. */
bool script_digest_parse(struct view hex,
                         struct script_digest *digest) MUST_CHECK;
/* In lower case, without a NUL. */
void script_digest_write(const struct script_digest *digest,
                         char hex[SCRIPT_DIGEST_HEX]);

#endif
