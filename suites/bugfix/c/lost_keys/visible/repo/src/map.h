/* Keys and values: a hash table with open addressing and linear probing. */
#ifndef MAP_H
#define MAP_H

#include <stdbool.h>
#include <stddef.h>

struct slot {
    char *key; /* NULL: free */
    char *value;
};

struct map {
    struct slot *slots;
    size_t size; /* a power of two */
    size_t used;
};

void map_init(struct map *map);
void map_set(struct map *map, const char *key, const char *value);
/* NULL if there is none. */
const char *map_get(const struct map *map, const char *key);
bool map_delete(struct map *map, const char *key);
size_t map_count(const struct map *map);
void map_clear(struct map *map);

#endif
