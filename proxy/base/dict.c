/*
 * base/dict.c - a hash table with chains.
 */
#include "base/dict.h"

#include "base/mem.h"

#define SIZE_FIRST 8

/* --- hashing ---------------------------------------------------------------- */

/* Where things lie differs from process to process, so that nobody can choose
 * names that all meet in one bucket. */
static uint64_t
seed(void)
{
    return (uint64_t)(uintptr_t)&dict_find * 0x9e3779b97f4a7c15u;
}

static uint64_t
mix(uint64_t hash)
{
    hash ^= hash >> 32;
    hash *= 0xd6e8feb86659fd93u;
    return hash ^ (hash >> 32);
}

static uint64_t
hash_of(struct view key)
{
    uint64_t hash = seed() ^ key.len;
    size_t i = 0;

    for (; i + sizeof(uint64_t) <= key.len; i += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, key.data + i, sizeof(word));
        hash = mix(hash ^ word);
    }
    for (; i < key.len; i++)
        hash = (hash ^ (unsigned char)key.data[i]) * 0x100000001b3u;
    return mix(hash);
}

/* --- buckets ---------------------------------------------------------------- */

static struct dict_entry **
bucket_of(const struct dict *dict, uint64_t hash)
{
    return &dict->buckets[hash & (dict->size - 1)];
}

static void
push(struct dict *dict, struct dict_entry *entry)
{
    struct dict_entry **bucket = bucket_of(dict, entry->hash);

    entry->next = *bucket;
    *bucket = entry;
}

static void
grow(struct dict *dict)
{
    struct dict_entry **before = dict->buckets;
    size_t size = dict->size;

    dict->size = size == 0 ? SIZE_FIRST : 2 * size;
    dict->buckets = mem_array(dict->size, sizeof(struct dict_entry *));
    for (size_t i = 0; i < size; i++) {
        while (before[i] != NULL) {
            struct dict_entry *entry = before[i];
            before[i] = entry->next;
            push(dict, entry);
        }
    }
    mem_free(before);
}

/* --- using it --------------------------------------------------------------- */

struct dict_entry *
dict_find(const struct dict *dict, struct view key)
{
    if (dict->count == 0)
        return NULL;
    uint64_t hash = hash_of(key);
    struct dict_entry *entry = *bucket_of(dict, hash);
    while (entry != NULL &&
           (entry->hash != hash || !view_equal(entry->key, key)))
        entry = entry->next;
    return entry;
}

void
dict_add(struct dict *dict, struct dict_entry *entry)
{
    if (dict->count == dict->size)
        grow(dict);
    entry->hash = hash_of(entry->key);
    push(dict, entry);
    dict->count++;
}

void
dict_remove(struct dict *dict, struct dict_entry *entry)
{
    struct dict_entry **at = bucket_of(dict, entry->hash);

    while (*at != entry)
        at = &(*at)->next;
    *at = entry->next;
    if (--dict->count > 0)
        return;
    mem_free(dict->buckets);
    *dict = (struct dict){0};
}

struct dict_entry *
dict_next(const struct dict *dict, const struct dict_entry *entry)
{
    size_t i = 0;

    if (entry != NULL) {
        if (entry->next != NULL)
            return entry->next;
        i = (entry->hash & (dict->size - 1)) + 1;
    }
    while (i < dict->size && dict->buckets[i] == NULL)
        i++;
    return i < dict->size ? dict->buckets[i] : NULL;
}
