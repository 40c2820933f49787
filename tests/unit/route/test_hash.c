/*
 * The values are those of twemproxy's own functions on x86-64, and published
 * ones for the hashes that it does not have.
 */
#include "route_test.h"

struct golden {
    const char *hash;
    uint32_t values[8];
};

static const struct view golden_keys[] = {
    VIEW("a"),
    VIEW("foo"),
    VIEW("apple"),
    VIEW("user:1000"),
    VIEW("hello world!"),
    VIEW("caf\xc3\xa9"),
    VIEW("\xff\xfe\xfd"),
    VIEW("abcdefghijklm"),
};

static const struct golden signed_values[] = {
    {"one_at_a_time",
     {3392050242, 596015325, 2297466611, 3043211087, 2614696403, 3650908318,
      1196771768, 1838806748}},
    {"md5",
     {3111502092, 3675831724, 3195025439, 781738503, 2398699516, 3833532679,
      3259918217, 3518869026}},
    {"crc16",
     {31879, 205303702, 3662830516, 3781445233, 104552315, 4129724007,
      504217887, 1924633911}},
    {"crc32", {26807, 3187, 10542, 8052, 948, 6317, 2282, 24052}},
    {"crc32a",
     {3904355907, 2356372769, 2838417488, 2675185635, 62177901, 2561491637,
      149598061, 3723783842}},
    {"fnv1_64",
     {2248259518, 1805727027, 473199127, 3550362913, 3111880380, 2315714289,
      2481844359, 1039263394}},
    {"fnv1a_64",
     {2248273036, 4275688823, 1488911807, 2927313545, 3445237362, 3472276361,
      2400096983, 965460744}},
    {"fnv1_32",
     {84696446, 1083137555, 67176023, 2796551329, 2315368860, 3598905713,
      2437714183, 3851007266}},
    {"fnv1a_32",
     {3826002220, 2851307223, 280767167, 1350311305, 2956263410, 1970454601,
      3211609367, 998463208}},
    {"hsieh",
     {2472816263, 1993659431, 3738850110, 3723237737, 326258531, 3728705621,
      3649655134, 1892570132}},
    {"murmur",
     {1262581116, 3303027599, 4142305122, 2384768711, 2139946157, 3658586143,
      3269769215, 696768699}},
    {"jenkins",
     {3768813200, 2583187353, 1442444624, 76303748, 465987074, 3412207021,
      573299006, 3055675487}},
};

/* For the two keys with bytes from 0x80 up; elsewhere nothing changes. */
static const struct {
    const char *hash;
    uint32_t cafe, high;
} unsigned_values[] = {
    {"one_at_a_time", 2425794034, 613764097},
    {"fnv1_64", 2315665649, 1776819591},
    {"fnv1a_64", 3483635081, 3833053655},
    {"fnv1_32", 1719915377, 2962151431},
    {"fnv1a_32", 2821410889, 2371999255},
    {"hsieh", 3728705621, 2568680506},
};

static enum hash_kind
kind_of(const char *name)
{
    int kind = hash_parse(view_str(name));

    ck_assert_msg(kind >= 0, "no hash named %s", name);
    return (enum hash_kind)kind;
}

START_TEST(hashes_are_those_of_twemproxy)
{
    for (size_t i = 0; i < ARRAY_LEN(signed_values); i++) {
        const struct golden *golden = &signed_values[i];
        for (size_t j = 0; j < ARRAY_LEN(golden_keys); j++) {
            uint32_t value =
                hash_bytes(kind_of(golden->hash), false, golden_keys[j]);
            ck_assert_msg(value == golden->values[j], "%s of key %zu: %u",
                          golden->hash, j, value);
        }
    }
}
END_TEST

/* What a hash with unsigned chars must give: changed for two keys at most. */
static uint32_t
unsigned_value(const struct golden *golden, size_t key)
{
    for (size_t i = 0; i < ARRAY_LEN(unsigned_values); i++) {
        if (strcmp(unsigned_values[i].hash, golden->hash) != 0)
            continue;
        if (key == 5)
            return unsigned_values[i].cafe;
        if (key == 6)
            return unsigned_values[i].high;
    }
    return golden->values[key];
}

START_TEST(unsigned_chars_change_only_the_marked_hashes)
{
    for (size_t i = 0; i < ARRAY_LEN(signed_values); i++) {
        const struct golden *golden = &signed_values[i];
        for (size_t j = 0; j < ARRAY_LEN(golden_keys); j++) {
            uint32_t value =
                hash_bytes(kind_of(golden->hash), true, golden_keys[j]);
            ck_assert_msg(value == unsigned_value(golden, j),
                          "%s of key %zu: %u", golden->hash, j, value);
        }
    }
}
END_TEST

START_TEST(hashes_for_new_pools_give_published_values)
{
    struct view fox = VIEW("The quick brown fox jumps over the lazy dog");
    enum hash_kind murmur3 = HASH_MURMUR3;

    ck_assert_uint_eq(hash_bytes(murmur3, false, VIEW("hello")), 0x248bfa47);
    ck_assert_uint_eq(hash_bytes(murmur3, false, VIEW("hello, world")),
                      0x149bbb7f);
    ck_assert_uint_eq(hash_bytes(murmur3, false, fox), 0x2e4ff723);
    ck_assert_uint_eq(hash_bytes(HASH_XXH3, false, VIEW("abc")), 0x892f3950);
    ck_assert_uint_eq(hash_bytes(HASH_XXH3, false, fox), 0x418fb365);
    ck_assert_uint_eq(hash_bytes(HASH_CRC16_REDIS, false, VIEW("123456789")),
                      0x31c3);
    ck_assert_uint_eq(hash_bytes(HASH_CRC32A, false, VIEW("123456789")),
                      0xcbf43926);
}
END_TEST

/* The definition, bit by bit, without tables. */
static uint32_t
slow_crc16(struct view key)
{
    uint32_t crc = 0;

    for (size_t i = 0; i < key.len; i++) {
        crc ^= (uint32_t)(unsigned char)key.data[i] << 8;
        for (int bit = 0; bit < 8; bit++)
            crc = (crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1) & 0xffff;
    }
    return crc;
}

static uint32_t
slow_crc32(struct view key)
{
    uint32_t crc = UINT32_MAX;

    for (size_t i = 0; i < key.len; i++) {
        crc ^= (unsigned char)key.data[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
    }
    return ~crc;
}

static void
fill_random(char *bytes, size_t len, uint64_t *state)
{
    for (size_t i = 0; i < len; i++) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        bytes[i] = (char)(*state >> 56);
    }
}

START_TEST(crc_tables_agree_with_their_polynomials)
{
    char bytes[64];
    uint64_t state = 1;

    for (int round = 0; round < 5000; round++) {
        struct view key = view_of(bytes, 1 + (size_t)round % sizeof(bytes));
        fill_random(bytes, key.len, &state);
        uint32_t crc16 = slow_crc16(key), crc32 = slow_crc32(key);
        ck_assert_uint_eq(hash_bytes(HASH_CRC16_REDIS, false, key), crc16);
        ck_assert_uint_eq(hash_bytes(HASH_CRC16, false, key) & 0xffff, crc16);
        ck_assert_uint_eq(hash_bytes(HASH_CRC32A, false, key), crc32);
        ck_assert_uint_eq(hash_bytes(HASH_CRC32, false, key),
                          crc32 >> 16 & 0x7fff);
    }
}
END_TEST

START_TEST(no_bytes_hash_to_zero)
{
    for (int kind = 0; kind < HASH_COUNT; kind++) {
        ck_assert_uint_eq(hash_bytes((enum hash_kind)kind, false, VIEW("")), 0);
        ck_assert_uint_eq(hash_bytes((enum hash_kind)kind, true,
                                     view_of(NULL, 0)),
                          0);
    }
}
END_TEST

/* Also with every alignment, since the end is fixed and the length is not. */
START_TEST(hashes_read_the_key_and_nothing_else)
{
    char *end = guarded_end();
    char bytes[80];
    uint64_t state = 3;

    fill_random(bytes, sizeof(bytes), &state);
    for (size_t len = 0; len <= sizeof(bytes); len++) {
        struct view key = view_of(bytes, len);
        struct view copy = guarded(end, key);
        for (int kind = 0; kind < HASH_COUNT; kind++) {
            for (int chars = 0; chars < 2; chars++)
                ck_assert_uint_eq(hash_bytes((enum hash_kind)kind, chars, copy),
                                  hash_bytes((enum hash_kind)kind, chars, key));
        }
    }
}
END_TEST

START_TEST(every_byte_of_a_key_counts)
{
    char bytes[40];
    uint64_t state = 5;

    fill_random(bytes, sizeof(bytes), &state);
    for (size_t i = 0; i < sizeof(bytes); i++) {
        for (int kind = 0; kind < HASH_COUNT; kind++) {
            struct view key = view_of(bytes, sizeof(bytes));
            /* 15 bits of a checksum change, if maybe not all of them. */
            uint32_t before = hash_bytes((enum hash_kind)kind, false, key);
            bytes[i] ^= 0x55;
            uint32_t after = hash_bytes((enum hash_kind)kind, false, key);
            bytes[i] ^= 0x55;
            ck_assert_msg(before != after, "%s ignores byte %zu",
                          hash_name((enum hash_kind)kind), i);
        }
    }
}
END_TEST

START_TEST(names_are_matched_exactly)
{
    for (int kind = 0; kind < HASH_COUNT; kind++) {
        const char *name = hash_name((enum hash_kind)kind);
        ck_assert_int_eq(hash_parse(view_str(name)), kind);
    }
    ck_assert_int_eq(hash_parse(VIEW("crc16")), HASH_CRC16);
    ck_assert_int_eq(hash_parse(VIEW("MD5")), -1);
    ck_assert_int_eq(hash_parse(VIEW("md")), -1);
    ck_assert_int_eq(hash_parse(VIEW("md5 ")), -1);
    ck_assert_int_eq(hash_parse(VIEW("")), -1);
}
END_TEST

int
main(void)
{
    const TTest *const tests[] = {
        hashes_are_those_of_twemproxy,
        unsigned_chars_change_only_the_marked_hashes,
        hashes_for_new_pools_give_published_values,
        crc_tables_agree_with_their_polynomials,
        no_bytes_hash_to_zero,
        hashes_read_the_key_and_nothing_else,
        every_byte_of_a_key_counts,
        names_are_matched_exactly,
    };

    return run_tests("hash", tests, ARRAY_LEN(tests));
}
