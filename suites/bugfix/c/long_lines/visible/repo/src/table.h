/* Entries in the order in which they were first seen. */
#ifndef TABLE_H
#define TABLE_H

#include <stddef.h>

#define NAME_SIZE 32
#define VALUE_SIZE 128
#define MAX_ENTRIES 64

struct entry {
    char section[NAME_SIZE];
    char key[NAME_SIZE];
    char value[VALUE_SIZE];
};

struct table {
    struct entry entries[MAX_ENTRIES];
    size_t count;
};

void table_init(struct table *table);
void table_set(struct table *table, const char *section, const char *key, const char *value);
const char *table_get(const struct table *table, const char *section, const char *key);
void table_free(struct table *table);

#endif
