#include "map.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SIZE 16

static void *checked(void *memory)
{
    if (memory == NULL) {
        fputs("kv: no memory\n", stderr);
        exit(1);
    }
    return memory;
}

/* FNV-1a */
static uint32_t hash(const char *key)
{
    uint32_t sum = 2166136261u;
    for (; *key; key++)
        sum = (sum ^ (unsigned char)*key) * 16777619u;
    return sum;
}

void map_init(struct map *map)
{
    map->slots = checked(calloc(FIRST_SIZE, sizeof *map->slots));
    map->size = FIRST_SIZE;
    map->used = 0;
}

/* The slot of the key, or the free one where it belongs. */
static struct slot *find(const struct map *map, const char *key)
{
    size_t at = hash(key) & (map->size - 1);
    while (map->slots[at].key && strcmp(map->slots[at].key, key) != 0)
        at = (at + 1) & (map->size - 1);
    return &map->slots[at];
}

static void grow(struct map *map)
{
    struct map larger = {checked(calloc(2 * map->size, sizeof *map->slots)), 2 * map->size, map->used};
    for (size_t at = 0; at < map->size; at++)
        if (map->slots[at].key)
            *find(&larger, map->slots[at].key) = map->slots[at];
    free(map->slots);
    *map = larger;
}

void map_set(struct map *map, const char *key, const char *value)
{
    struct slot *slot = find(map, key);
    if (slot->key) {
        free(slot->value);
    } else {
        slot->key = checked(strdup(key));
        map->used++;
    }
    slot->value = checked(strdup(value));
    if (4 * map->used > 3 * map->size)
        grow(map);
}

const char *map_get(const struct map *map, const char *key)
{
    return find(map, key)->value;
}

bool map_delete(struct map *map, const char *key)
{
    struct slot *slot = find(map, key);
    if (slot->key == NULL)
        return false;
    free(slot->key);
    free(slot->value);
    slot->key = NULL;
    slot->value = NULL;
    map->used--;
    return true;
}

size_t map_count(const struct map *map)
{
    return map->used;
}

void map_clear(struct map *map)
{
    for (size_t at = 0; at < map->size; at++) {
        free(map->slots[at].key);
        free(map->slots[at].value);
    }
    free(map->slots);
    map_init(map);
}
