/* Groups of three bytes and of four characters. */
#ifndef CODEC_H
#define CODEC_H

#include <stddef.h>

/* Writes four characters for one to three bytes. */
void encode_group(const char *bytes, size_t count, char out[4]);

/* The value of a character of the alphabet, -1 for others. */
int value_of(char character);

/* Writes up to three bytes for four characters, of which the last two may be `=`. Returns how many, or -1. */
int decode_group(const char group[4], char out[3]);

#endif
