#!/bin/sh
# Every tests/cases/*.in, at a width of 20, must give the .out beside it.
cd "$(dirname "$0")/.." && sh build.sh || exit 1
status=0
for input in tests/cases/*.in; do
    if build/rewrap -w 20 <"$input" | cmp - "${input%.in}.out"; then
        echo "ok   $input"
    else
        echo "FAIL $input"
        status=1
    fi
done
exit $status
