#!/bin/sh
set -e
cd "$(dirname "$0")"
mkdir -p build
exec cc -std=c11 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -O1 -g -o build/kv src/*.c
