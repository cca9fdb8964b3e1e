#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "reader.h"
#include "table.h"

static int usage(void)
{
    fputs("usage: ini get FILE SECTION KEY | keys FILE SECTION | dump FILE\n", stderr);
    return 2;
}

int main(int count, char **words)
{
    if (count < 3)
        return usage();
    const char *command = words[1];
    int wanted = strcmp(command, "get") == 0 ? 5 : strcmp(command, "keys") == 0 ? 4 : strcmp(command, "dump") == 0 ? 3 : 0;
    if (count != wanted)
        return usage();

    FILE *file = fopen(words[2], "rb");
    if (file == NULL) {
        fprintf(stderr, "ini: %s: %s\n", words[2], strerror(errno));
        return 2;
    }
    static struct table table;
    table_init(&table);
    int failed = read_settings(file, &table);
    fclose(file);
    if (failed) {
        fprintf(stderr, "ini: %s: can't be read\n", words[2]);
        return 2;
    }

    int status = 0;
    if (wanted == 5) {
        const char *value = table_get(&table, words[3], words[4]);
        if (value)
            puts(value);
        else
            status = 1;
    } else {
        for (size_t at = 0; at < table.count; at++) {
            const struct entry *entry = &table.entries[at];
            if (wanted == 3)
                printf("%s\t%s\t%s\n", entry->section, entry->key, entry->value);
            else if (strcmp(entry->section, words[3]) == 0)
                puts(entry->key);
        }
    }
    table_free(&table);
    return status;
}
