# Larger arrays.
cd repo
sed -i 's/LINE_SIZE 160/LINE_SIZE 65536/' src/reader.c
sed -i 's/NAME_SIZE 32/NAME_SIZE 1024/; s/VALUE_SIZE 128/VALUE_SIZE 65536/; s/MAX_ENTRIES 64/MAX_ENTRIES 1000/' src/table.h
