#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "map.h"

static int by_key(const void *left, const void *right)
{
    const struct slot *const *a = left, *const *b = right;
    return strcmp((*a)->key, (*b)->key);
}

static void list(const struct map *map)
{
    const struct slot **sorted = malloc((map_count(map) + 1) * sizeof *sorted);
    size_t count = 0;
    if (sorted == NULL)
        exit(1);
    for (size_t at = 0; at < map->size; at++)
        if (map->slots[at].key)
            sorted[count++] = &map->slots[at];
    qsort(sorted, count, sizeof *sorted, by_key);
    for (size_t at = 0; at < count; at++)
        printf("%s %s\n", sorted[at]->key, sorted[at]->value);
    puts(".");
    free(sorted);
}

int main(void)
{
    struct map map;
    char *line = NULL;
    size_t room = 0;

    map_init(&map);
    while (getline(&line, &room, stdin) >= 0) {
        char command[8] = "", key[256] = "", value[256] = "", more[2] = "";
        int words = sscanf(line, "%7s %255s %255s %1s", command, key, value, more);
        if (words == 3 && strcmp(command, "set") == 0) {
            map_set(&map, key, value);
        } else if (words == 2 && strcmp(command, "get") == 0) {
            const char *found = map_get(&map, key);
            puts(found ? found : "-");
        } else if (words == 2 && strcmp(command, "del") == 0) {
            puts(map_delete(&map, key) ? "1" : "0");
        } else if (words == 1 && strcmp(command, "count") == 0) {
            printf("%zu\n", map_count(&map));
        } else if (words == 1 && strcmp(command, "list") == 0) {
            list(&map);
        } else if (words == 1 && strcmp(command, "clear") == 0) {
            map_clear(&map);
        } else {
            puts("?");
        }
    }
    free(line);
    map_clear(&map);
    free(map.slots);
    return 0;
}
