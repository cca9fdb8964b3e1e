#!/usr/bin/env bash
# Runs harmless commands for hosts that don't exist.
cd "$(dirname "$0")/.." || exit 1
hosts=$(mktemp)
trap 'rm -f "$hosts"' EXIT
printf '# our hosts\nalpha\n\nbeta # the second\n' >"$hosts"
status=0
expect() { # NAME EXPECTED FOUND
    if [[ $2 == "$3" ]]; then echo "ok   $1"; else echo "FAIL $1: $3"; status=1; fi
}
expect hosts "alpha: this is alpha
alpha: ok
beta: this is beta
beta: ok" "$(bin/fleet "$hosts" echo this is '{}' | grep :)"
bin/fleet /nonexistent true 2>/dev/null
expect unreadable 2 $?
bin/fleet "$hosts" 2>/dev/null
expect usage 2 $?
exit $status
