/*
 * command/dump.c - lengths, scores and the checksum of dumped values.
 */
#include "command/dump.h"

#define TYPE_SET 2
#define TYPE_SORTED_SET 5 /* with its scores as eight bytes each */
#define FORM_VERSION 8    /* the first that has it */

/* Of CRC-64 with the polynomial of Jones, half a byte at a time. */
static const uint64_t crc_table[16] = {
    0x0000000000000000u, 0x7d08ff3b88be6f81u, 0xfa11fe77117cdf02u,
    0x8719014c99c2b083u, 0xdf7adabd7a6e2d6fu, 0xa2722586f2d042eeu,
    0x256b24ca6b12f26du, 0x5863dbf1e3ac9decu, 0x95ac9329ac4bc9b5u,
    0xe8a46c1224f5a634u, 0x6fbd6d5ebd3716b7u, 0x12b5926535897936u,
    0x4ad64994d625e4dau, 0x37deb6af5e9b8b5bu, 0xb0c7b7e3c7593bd8u,
    0xcdcf48d84fe75459u,
};

static uint64_t
checksum(struct view bytes)
{
    uint64_t crc = 0;

    for (size_t i = 0; i < bytes.len; i++) {
        uint8_t byte = (uint8_t)bytes.data[i];
        crc = crc_table[(crc ^ byte) & 15] ^ (crc >> 4);
        crc = crc_table[(crc ^ (byte >> 4)) & 15] ^ (crc >> 4);
    }
    return crc;
}

static void
append_little(struct buf *out, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        buf_append_char(out, (char)(value >> (8 * i) & 0xff));
}

static void
append_big(struct buf *out, uint64_t value, unsigned bytes)
{
    for (unsigned i = bytes; i > 0; i--)
        buf_append_char(out, (char)(value >> (8 * (i - 1)) & 0xff));
}

/* The first bits say how long the number is. */
static void
append_length(struct buf *out, uint64_t length)
{
    if (length < 1u << 6) {
        append_big(out, length, 1);
    } else if (length < 1u << 14) {
        append_big(out, length | 1u << 14, 2);
    } else if (length <= UINT32_MAX) {
        append_big(out, 0x80, 1);
        append_big(out, length, 4);
    } else {
        append_big(out, 0x81, 1);
        append_big(out, length, 8);
    }
}

void
dump_begin_set(struct buf *out, uint64_t members)
{
    append_big(out, TYPE_SET, 1);
    append_length(out, members);
}

void
dump_begin_sorted_set(struct buf *out, uint64_t members)
{
    append_big(out, TYPE_SORTED_SET, 1);
    append_length(out, members);
}

void
dump_string(struct buf *out, struct view bytes)
{
    append_length(out, bytes.len);
    buf_append_view(out, bytes);
}

void
dump_score(struct buf *out, double score)
{
    uint64_t bits;

    memcpy(&bits, &score, sizeof(bits));
    append_little(out, bits, sizeof(bits));
}

void
dump_end(struct buf *out)
{
    append_little(out, FORM_VERSION, 2);
    append_little(out, checksum(buf_view(out)), 8);
}
