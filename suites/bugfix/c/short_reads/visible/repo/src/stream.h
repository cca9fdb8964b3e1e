/* From one descriptor to another. */
#ifndef STREAM_H
#define STREAM_H

/* Both return 0, or -1 after a message on standard error. */
int encode_stream(int in, int out, int columns);
int decode_stream(int in, int out);

#endif
