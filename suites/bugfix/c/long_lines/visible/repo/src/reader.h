/* From a file to a table. */
#ifndef READER_H
#define READER_H

#include <stdio.h>

#include "table.h"

/* 0, or -1 when the file could not be read to its end. */
int read_settings(FILE *file, struct table *table);

#endif
