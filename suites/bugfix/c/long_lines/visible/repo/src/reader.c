#include "reader.h"

#include <ctype.h>
#include <string.h>

#define LINE_SIZE 160

/* Drops white space at both ends, in place. */
static char *trim(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    size_t length = strlen(text);
    while (length > 0 && isspace((unsigned char)text[length - 1]))
        text[--length] = '\0';
    return text;
}

static char *unquote(char *value)
{
    size_t length = strlen(value);
    if (length >= 2 && value[0] == '"' && value[length - 1] == '"') {
        value[length - 1] = '\0';
        return value + 1;
    }
    return value;
}

int read_settings(FILE *file, struct table *table)
{
    char line[LINE_SIZE];
    char section[NAME_SIZE] = "";

    while (fgets(line, sizeof line, file)) {
        char *text = trim(line);
        if (*text == '\0' || *text == ';' || *text == '#')
            continue;
        size_t length = strlen(text);
        if (text[0] == '[' && text[length - 1] == ']') {
            text[length - 1] = '\0';
            strncpy(section, trim(text + 1), NAME_SIZE - 1);
            continue;
        }
        char *equals = strchr(text, '=');
        if (equals == NULL)
            continue;
        *equals = '\0';
        table_set(table, section, trim(text), unquote(trim(equals + 1)));
    }
    return ferror(file) ? -1 : 0;
}
