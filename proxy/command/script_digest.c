/*
 * command/script_digest.c - SHA1 by OpenSSL, and its digits.
 *
 * Looking the algorithm up costs more than a short digest, so it is done once
 * for the process.
 */
#include "command/script_digest.h"

#include <openssl/evp.h>
#include <pthread.h>

static pthread_once_t sha1_once = PTHREAD_ONCE_INIT;
static EVP_MD *sha1; /* written by sha1_once alone, never freed */

static void
sha1_fetch(void)
{
    sha1 = EVP_MD_fetch(NULL, "SHA1", NULL);
}

bool
script_digest_of(struct view body, struct script_digest *digest)
{
    pthread_once(&sha1_once, sha1_fetch);
    return sha1 != NULL &&
        EVP_Digest(body.data, body.len, digest->bytes, NULL, sha1, NULL) == 1;
}

/* -1: it is no digit. */
static int
value_of(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    if (digit >= 'a' && digit <= 'f')
        return digit - 'a' + 10;
    if (digit >= 'A' && digit <= 'F')
        return digit - 'A' + 10;
    return -1;
}

bool
script_digest_parse(struct view hex, struct script_digest *digest)
{
    if (hex.len != SCRIPT_DIGEST_HEX)
        return false;
    for (int i = 0; i < SCRIPT_DIGEST_SIZE; i++) {
        int high = value_of(hex.data[2 * i]);
        int low = value_of(hex.data[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        digest->bytes[i] = (uint8_t)(high * 16 + low);
    }
    return true;
}

void
script_digest_write(const struct script_digest *digest,
                    char hex[SCRIPT_DIGEST_HEX])
{
    static const char digits[] = "0123456789abcdef";

    for (int i = 0; i < SCRIPT_DIGEST_SIZE; i++) {
        hex[2 * i] = digits[digest->bytes[i] >> 4];
        hex[2 * i + 1] = digits[digest->bytes[i] & 15];
    }
}
