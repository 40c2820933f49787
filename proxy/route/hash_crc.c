/*
 * route/hash_crc.c - cyclic redundancy checks.
 *
 * A CRC is linear: the table entry of a byte is the XOR of the entries of its
 * bits.  So a table of 256 is told by the eight entries of the single bits,
 * which the preprocessor multiplies out.
 */
#include "route/hash.h"

#define ENTRY(i, b0, b1, b2, b3, b4, b5, b6, b7)                \
    (((i)&1 ? b0 : 0) ^ ((i)&2 ? b1 : 0) ^ ((i)&4 ? b2 : 0) ^   \
     ((i)&8 ? b3 : 0) ^ ((i)&16 ? b4 : 0) ^ ((i)&32 ? b5 : 0) ^ \
     ((i)&64 ? b6 : 0) ^ ((i)&128 ? b7 : 0))
#define ENTRIES_4(i, ...)                               \
    ENTRY(i, __VA_ARGS__), ENTRY((i) + 1, __VA_ARGS__), \
        ENTRY((i) + 2, __VA_ARGS__), ENTRY((i) + 3, __VA_ARGS__)
#define ENTRIES_16(i, ...)                                      \
    ENTRIES_4(i, __VA_ARGS__), ENTRIES_4((i) + 4, __VA_ARGS__), \
        ENTRIES_4((i) + 8, __VA_ARGS__), ENTRIES_4((i) + 12, __VA_ARGS__)
#define ENTRIES_64(i, ...)                                         \
    ENTRIES_16(i, __VA_ARGS__), ENTRIES_16((i) + 16, __VA_ARGS__), \
        ENTRIES_16((i) + 32, __VA_ARGS__), ENTRIES_16((i) + 48, __VA_ARGS__)
#define TABLE(...)                                                     \
    {                                                                  \
        ENTRIES_64(0, __VA_ARGS__), ENTRIES_64(64, __VA_ARGS__),       \
            ENTRIES_64(128, __VA_ARGS__), ENTRIES_64(192, __VA_ARGS__) \
    }

/*
 * CCITT/XMODEM, polynomial 0x1021.  Table n is for a byte with n more bytes
 * behind it, so that four bytes need one step instead of four that wait for
 * each other.
 */
static const uint16_t crc16_tables[4][256] = {
    TABLE(0x1021, 0x2042, 0x4084, 0x8108, 0x1231, 0x2462, 0x48c4, 0x9188),
    TABLE(0x3331, 0x6662, 0xccc4, 0x89a9, 0x0373, 0x06e6, 0x0dcc, 0x1b98),
    TABLE(0x3730, 0x6e60, 0xdcc0, 0xa9a1, 0x4363, 0x86c6, 0x1dad, 0x3b5a),
    TABLE(0x76b4, 0xed68, 0xcaf1, 0x85c3, 0x1ba7, 0x374e, 0x6e9c, 0xdd38),
};

/* Reflected, polynomial 0xedb88320. */
static const uint32_t crc32_table[256] =
    TABLE(0x77073096u, 0xee0e612cu, 0x076dc419u, 0x0edb8832u, 0x1db71064u,
          0x3b6e20c8u, 0x76dc4190u, 0xedb88320u);

uint32_t
hash_crc16_redis(struct view key, bool unsigned_chars UNUSED)
{
    const uint8_t *bytes = (const uint8_t *)key.data;
    size_t left = key.len;
    uint32_t crc = 0;

    for (; left >= 4; left -= 4, bytes += 4) {
        crc = crc16_tables[3][bytes[0] ^ crc >> 8] ^
            crc16_tables[2][bytes[1] ^ (crc & 0xff)] ^
            crc16_tables[1][bytes[2]] ^ crc16_tables[0][bytes[3]];
    }
    for (; left > 0; left--, bytes++)
        crc = (crc << 8 & 0xff00) ^ crc16_tables[0][*bytes ^ crc >> 8];
    return crc;
}

/*
 * twemproxy's register has 32 bits and is never masked: the lower half is the
 * CRC, the upper half what was shifted out of it.
 */
uint32_t
hash_crc16(struct view key, bool unsigned_chars UNUSED)
{
    const uint8_t *bytes = (const uint8_t *)key.data;
    uint32_t crc = 0;

    for (size_t i = 0; i < key.len; i++)
        crc = crc << 8 ^ crc16_tables[0][(bytes[i] ^ crc >> 8) & 0xff];
    return crc;
}

uint32_t
hash_crc32a(struct view key, bool unsigned_chars UNUSED)
{
    const uint8_t *bytes = (const uint8_t *)key.data;
    uint32_t crc = UINT32_MAX;

    for (size_t i = 0; i < key.len; i++)
        crc = crc >> 8 ^ crc32_table[(crc ^ bytes[i]) & 0xff];
    return ~crc;
}

uint32_t
hash_crc32(struct view key, bool unsigned_chars)
{
    return hash_crc32a(key, unsigned_chars) >> 16 & 0x7fff;
}
