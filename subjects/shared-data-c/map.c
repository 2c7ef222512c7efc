/* A hash table with open addressing. Keys are never taken out, so there are no graves. */
#include "shared.h"

#include <stdlib.h>
#include <stdio.h>
#include <string.h>

enum { PLACES = 256 }; /* a power of two, twice as many as keys */

struct map {
    struct {
        char key[KEY_BYTES]; /* empty: nobody's */
        uint64_t value;
    } place[PLACES];
};

const char *map_key(unsigned index)
{
    static char keys[KEYS][KEY_BYTES];
    if (keys[index][0] == '\0')
        snprintf(keys[index], KEY_BYTES, "key %u", index);
    return keys[index];
}

static unsigned hash(const char *key)
{
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (; *key; key++)
        hash = (hash ^ (unsigned char)*key) * 16777619u;
    return hash;
}

static uint64_t *place_of(struct map *map, const char *key, bool taken)
{
    for (unsigned at = hash(key) % PLACES;; at = (at + 1) % PLACES) {
        if (strcmp(map->place[at].key, key) == 0)
            return &map->place[at].value;
        if (map->place[at].key[0] == '\0') {
            if (!taken)
                return NULL;
            snprintf(map->place[at].key, KEY_BYTES, "%s", key);
            return &map->place[at].value;
        }
    }
}

uint64_t *map_find(struct map *map, const char *key)
{
    return place_of(map, key, false);
}

struct map *map_new(void)
{
    struct map *map = calloc(1, sizeof *map);
    if (!map)
        fail("no storage for the cache");
    for (unsigned i = 0; i < KEYS; i++)
        *place_of(map, map_key(i), true) = 0;
    return map;
}

struct map *map_copy(const struct map *map)
{
    struct map *copy = malloc(sizeof *copy);
    if (!copy)
        fail("no storage for a copy of the cache");
    *copy = *map;
    return copy;
}

void map_free(struct map *map)
{
    free(map);
}

uint64_t map_sum(const struct map *map)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < PLACES; i++)
        sum += map->place[i].value;
    return sum;
}
