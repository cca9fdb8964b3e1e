#!/bin/sh
# Builds the program and encodes files; a file always gives as much as is asked for.
cd "$(dirname "$0")/.." && sh build.sh || exit 1
file=$(mktemp)
trap 'rm -f "$file"' EXIT
status=0
expect() { # NAME EXPECTED FOUND
    if [ "$2" = "$3" ]; then echo "ok   $1"; else echo "FAIL $1: $3"; status=1; fi
}
printf 'Many hands make light work.' >"$file"
expect encode TWFueSBoYW5kcyBtYWtlIGxpZ2h0IHdvcmsu "$(build/b64 <"$file")"
printf 'light wo' >"$file"
expect padding bGlnaHQgd28= "$(build/b64 <"$file")"
printf 'bGlnaHQgd28=\n' >"$file"
expect decode 'light wo' "$(build/b64 -d <"$file")"
head -c 3000 /dev/zero | tr '\0' x >"$file"
expect columns 76 "$(build/b64 <"$file" | head -n 1 | tr -d '\n' | wc -c | tr -d ' ')"
exit $status
