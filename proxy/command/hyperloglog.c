/*
 * command/hyperloglog.c - registers, their two forms, and the estimate.
 */
#include "command/hyperloglog.h"

#include <math.h>

#define MAGIC "HYLL"
#define HEADER 16
#define FORM_DENSE 0
#define FORM_SPARSE 1
#define REGISTER_BITS 6
#define REGISTER_MAX 63
#define DENSE_SIZE (HEADER + HYPERLOGLOG_REGISTERS * REGISTER_BITS / 8)
#define COUNT_IS_STALE 0x80 /* in the last byte of the count */
#define HASH_BITS 50        /* of 64, those that do not choose the register */
#define ALPHA 0.721347520444481703680

/* --- forms ----------------------------------------------------------------- */

static void
raise_run(struct hyperloglog *into, uint32_t first, uint32_t len, uint8_t value)
{
    for (uint32_t i = first; i < first + len; i++)
        into->registers[i] = MAX(into->registers[i], value);
}

static void
merge_dense(struct hyperloglog *into, const uint8_t *bits)
{
    for (uint32_t i = 0; i < HYPERLOGLOG_REGISTERS; i++) {
        uint32_t at = i * REGISTER_BITS / 8, shift = i * REGISTER_BITS % 8;
        uint32_t word = bits[at];
        if (shift > 8 - REGISTER_BITS)
            word |= (uint32_t)bits[at + 1] << 8;
        raise_run(into, i, 1, (uint8_t)(word >> shift & REGISTER_MAX));
    }
}

/* One run: 00 and its length; 01 and a longer one; 1, a value and its length. */
struct run {
    uint32_t len;
    uint8_t value;
};

static bool
take_run(struct view *rest, struct run *run)
{
    uint8_t byte = (uint8_t)rest->data[0];
    size_t size = (byte & 0xc0) == 0x40 ? 2 : 1;

    if (rest->len < size)
        return false;
    if ((byte & 0x80) != 0)
        *run = (struct run){(byte & 3) + 1u, (byte >> 2 & 31) + 1};
    else if (size == 1)
        *run = (struct run){(byte & 63) + 1u, 0};
    else
        *run =
            (struct run){((byte & 63u) << 8 | (uint8_t)rest->data[1]) + 1, 0};
    *rest = view_of(rest->data + size, rest->len - size);
    return true;
}

/* With `into` NULL it is only looked at. */
static bool
merge_sparse(struct hyperloglog *into, struct view rest)
{
    uint32_t at = 0;
    struct run run;

    while (rest.len > 0) {
        if (!take_run(&rest, &run) || run.len > HYPERLOGLOG_REGISTERS - at)
            return false;
        if (into != NULL)
            raise_run(into, at, run.len, run.value);
        at += run.len;
    }
    return at == HYPERLOGLOG_REGISTERS;
}

enum hyperloglog_result
hyperloglog_merge(struct hyperloglog *into, struct view bytes)
{
    if (bytes.len < HEADER || memcmp(bytes.data, MAGIC, 4) != 0)
        return HYPERLOGLOG_OTHER;
    struct view registers = view_of(bytes.data + HEADER, bytes.len - HEADER);
    uint8_t form = (uint8_t)bytes.data[4];
    if (form == FORM_DENSE && bytes.len == DENSE_SIZE) {
        merge_dense(into, (const uint8_t *)registers.data);
        return HYPERLOGLOG_OK;
    }
    if (form != FORM_SPARSE)
        return HYPERLOGLOG_OTHER;
    if (!merge_sparse(NULL, registers))
        return HYPERLOGLOG_CORRUPT;
    return merge_sparse(into, registers) ? HYPERLOGLOG_OK : HYPERLOGLOG_CORRUPT;
}

void
hyperloglog_write(const struct hyperloglog *from, struct buf *out)
{
    uint8_t *bytes = (uint8_t *)buf_reserve(out, DENSE_SIZE);

    memset(bytes, 0, DENSE_SIZE);
    memcpy(bytes, MAGIC, 4);
    bytes[4] = FORM_DENSE;
    bytes[HEADER - 1] = COUNT_IS_STALE;
    for (uint32_t i = 0; i < HYPERLOGLOG_REGISTERS; i++) {
        uint32_t at = i * REGISTER_BITS / 8, shift = i * REGISTER_BITS % 8;
        uint32_t word = (uint32_t)from->registers[i] << shift;
        bytes[HEADER + at] |= (uint8_t)word;
        if (word > UINT8_MAX)
            bytes[HEADER + at + 1] |= (uint8_t)(word >> 8);
    }
    out->len += DENSE_SIZE;
}

/* --- counting ---------------------------------------------------------------- */

/* The two series of the estimate, from "New cardinality estimation algorithms for
 * HyperLogLog sketches" by Otmar Ertl; computed as servers do it, to the last bit. */

static double
sigma(double x)
{
    double y = 1, z = x, before;

    if (x >= 1)
        return INFINITY;
    do {
        x *= x;
        before = z;
        z += x * y;
        y += y;
    } while (before < z);
    return z;
}

static double
tau(double x)
{
    double y = 1, z = 1 - x, before;

    if (x <= 0 || x >= 1)
        return 0;
    do {
        x = sqrt(x);
        before = z;
        y *= 0.5;
        z -= pow(1 - x, 2) * y;
    } while (z < before);
    return z / 3;
}

uint64_t
hyperloglog_count(const struct hyperloglog *of)
{
    const double m = HYPERLOGLOG_REGISTERS;
    uint32_t having[REGISTER_MAX + 1] = {0};

    for (uint32_t i = 0; i < HYPERLOGLOG_REGISTERS; i++)
        having[of->registers[i]]++;
    double z = m * tau((m - having[HASH_BITS + 1]) / m);
    for (int value = HASH_BITS; value >= 1; value--) {
        z += having[value];
        z *= 0.5;
    }
    z += m * sigma(having[0] / m);
    return (uint64_t)llroundl((long double)(ALPHA * m * m / z));
}
