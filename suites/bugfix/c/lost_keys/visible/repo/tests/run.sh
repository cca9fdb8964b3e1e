#!/bin/sh
# Builds the program and plays a few commands.
cd "$(dirname "$0")/.." && sh build.sh || exit 1
found=$(build/kv <<'END' | tr '\n' ' '
set apple red
set pear green
get apple
set apple yellow
get apple
get plum
count
del pear
del pear
list
nonsense
clear
count
END
)
expected='red yellow - 2 1 0 apple yellow . ? 0 '
if [ "$found" = "$expected" ]; then
    echo ok
else
    echo "FAIL: $found"
    exit 1
fi
