#!/bin/sh
# Builds the program and asks for some settings.
cd "$(dirname "$0")/.." && sh build.sh || exit 1
file=$(mktemp)
trap 'rm -f "$file"' EXIT
printf 'top = 1\n; comment\n[mail]\r\nhost = mx.example.org\r\nname = "  spaced  "\nurl = a?b=c\nhost = mx2\n' >"$file"
status=0
expect() { # NAME EXPECTED FOUND
    if [ "$2" = "$3" ]; then echo "ok   $1"; else echo "FAIL $1: $3"; status=1; fi
}
expect top 1 "$(build/ini get "$file" '' top)"
expect last mx2 "$(build/ini get "$file" mail host)"
expect quotes '  spaced  ' "$(build/ini get "$file" mail name)"
expect equals 'a?b=c' "$(build/ini get "$file" mail url)"
expect keys 'host name url' "$(echo $(build/ini keys "$file" mail))"
exit $status
