#include "codec.h"

static const char ALPHABET[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void encode_group(const char *bytes, size_t count, char out[4])
{
    unsigned long bits = 0;
    for (size_t at = 0; at < 3; at++)
        bits = bits << 8 | (at < count ? bytes[at] : 0);
    for (size_t at = 0; at < 4; at++)
        out[at] = at <= count ? ALPHABET[bits >> (18 - 6 * at) & 63] : '=';
}

int value_of(char character)
{
    for (int at = 0; at < 64; at++)
        if (ALPHABET[at] == character)
            return at;
    return -1;
}

int decode_group(const char group[4], char out[3])
{
    unsigned long bits = 0;
    int count = 3;
    for (int at = 0; at < 4; at++) {
        int value = value_of(group[at]);
        if (group[at] == '=') {
            count--;
            value = 0;
        }
        if (value < 0)
            return -1;
        bits = bits << 6 | (unsigned long)value;
    }
    for (int at = 0; at < count; at++)
        out[at] = (char)(bits >> (16 - 8 * at) & 255);
    return count;
}
