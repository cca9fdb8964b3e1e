#include "stream.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "codec.h"

#define CHUNK 3072

static int complain(const char *what)
{
    fprintf(stderr, "b64: %s\n", what);
    return -1;
}

static int write_all(int out, const char *bytes, size_t count)
{
    if (write(out, bytes, count) < 0)
        return complain(strerror(errno));
    return 0;
}

int encode_stream(int in, int out, int columns)
{
    char bytes[CHUNK];
    char text[2 * (CHUNK / 3 * 4)];
    int column = 0;
    ssize_t count;

    while ((count = read(in, bytes, sizeof bytes)) > 0) {
        size_t length = 0;
        for (ssize_t at = 0; at < count; at += 3) {
            char group[4];
            encode_group(bytes + at, count - at < 3 ? (size_t)(count - at) : 3, group);
            for (int each = 0; each < 4; each++) {
                if (columns && column == columns) {
                    text[length++] = '\n';
                    column = 0;
                }
                text[length++] = group[each];
                column++;
            }
        }
        if (write_all(out, text, length))
            return -1;
    }
    if (count < 0)
        return complain(strerror(errno));
    if (columns && column)
        return write_all(out, "\n", 1);
    return 0;
}

int decode_stream(int in, int out)
{
    char text[CHUNK];
    char bytes[CHUNK];
    ssize_t count;

    while ((count = read(in, text, sizeof text)) > 0) {
        char group[4];
        int filled = 0;
        size_t length = 0;
        for (ssize_t at = 0; at < count; at++) {
            if (isspace(text[at]))
                continue;
            group[filled++] = text[at];
            if (filled < 4)
                continue;
            filled = 0;
            int made = decode_group(group, bytes + length);
            if (made < 0)
                return complain("this is no base64");
            length += (size_t)made;
        }
        if (write_all(out, bytes, length))
            return -1;
    }
    return count < 0 ? complain(strerror(errno)) : 0;
}
