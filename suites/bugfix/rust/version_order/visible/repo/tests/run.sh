#!/bin/sh
# A few comparisons and lists.
cd "$(dirname "$0")/.." && sh build.sh || exit 1
status=0
expect() { # NAME EXPECTED FOUND
    if [ "$2" = "$3" ]; then echo "ok   $1"; else echo "FAIL $1: $3"; status=1; fi
}
expect minor '<' "$(build/vers compare 1.2.3 1.10.0)"
expect pre '<' "$(build/vers compare 1.0.0-rc.1 1.0.0)"
expect same '=' "$(build/vers compare 1.0.0 1.0.0)"
expect sort '0.9.0 1.0.0-alpha 1.0.0' "$(printf '1.0.0\n0.9.0\n1.0.0-alpha\n' | build/vers sort | tr '\n' ' ' | sed 's/ $//')"
expect stable 1.0.0 "$(printf '1.1.0-rc.1\n1.0.0\n' | build/vers max --stable)"
exit $status
