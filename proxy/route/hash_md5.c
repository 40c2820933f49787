/*
 * route/hash_md5.c - MD5 by OpenSSL, for the ring and as a hash of keys.
 *
 * Looking the algorithm up costs more than a short digest, so it is done once
 * for the process.  It is asked for as "not for security" (-fips), which it is
 * not: where keys live was decided long ago, by MD5.
 */
#include "route/hash.h"

#include <openssl/evp.h>
#include <pthread.h>

static pthread_once_t md5_once = PTHREAD_ONCE_INIT;
static EVP_MD *md5; /* written by md5_once alone, never freed */

static void
md5_fetch(void)
{
    md5 = EVP_MD_fetch(NULL, "MD5", "-fips");
}

bool
md5_is_available(void)
{
    pthread_once(&md5_once, md5_fetch);
    return md5 != NULL;
}

void
md5_digest(struct view text, uint8_t digest[MD5_SIZE])
{
    ASSERT(md5_is_available());
    int done = EVP_Digest(text.data, text.len, digest, NULL, md5, NULL);
    ASSERT(done == 1);
}

uint32_t
hash_md5(struct view key, bool unsigned_chars UNUSED)
{
    uint8_t digest[MD5_SIZE];

    md5_digest(key, digest);
    return load_le32(digest);
}
