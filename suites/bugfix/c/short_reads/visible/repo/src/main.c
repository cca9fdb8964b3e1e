#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stream.h"

static int usage(void)
{
    fputs("usage: b64 [-w COLUMNS] | b64 -d\n", stderr);
    return 2;
}

int main(int count, char **words)
{
    if (count == 2 && strcmp(words[1], "-d") == 0)
        return decode_stream(STDIN_FILENO, STDOUT_FILENO) ? 1 : 0;
    int columns = 76;
    if (count == 3 && strcmp(words[1], "-w") == 0) {
        char *end;
        errno = 0;
        long value = strtol(words[2], &end, 10);
        if (errno || *words[2] == '\0' || *end || value < 0 || value > 1000000)
            return usage();
        columns = (int)value;
    } else if (count != 1) {
        return usage();
    }
    return encode_stream(STDIN_FILENO, STDOUT_FILENO, columns) ? 1 : 0;
}
