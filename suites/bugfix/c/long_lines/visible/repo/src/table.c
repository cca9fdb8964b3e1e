#include "table.h"

#include <string.h>

void table_init(struct table *table)
{
    table->count = 0;
}

static struct entry *find(const struct table *table, const char *section, const char *key)
{
    for (size_t at = 0; at < table->count; at++) {
        const struct entry *entry = &table->entries[at];
        if (strcmp(entry->section, section) == 0 && strcmp(entry->key, key) == 0)
            return (struct entry *)entry;
    }
    return NULL;
}

void table_set(struct table *table, const char *section, const char *key, const char *value)
{
    struct entry *entry = find(table, section, key);
    if (entry == NULL) {
        if (table->count == MAX_ENTRIES)
            return;
        entry = &table->entries[table->count++];
        strncpy(entry->section, section, NAME_SIZE);
        strncpy(entry->key, key, NAME_SIZE);
    }
    strncpy(entry->value, value, VALUE_SIZE);
}

const char *table_get(const struct table *table, const char *section, const char *key)
{
    const struct entry *entry = find(table, section, key);
    return entry ? entry->value : NULL;
}

void table_free(struct table *table)
{
    table->count = 0;
}
