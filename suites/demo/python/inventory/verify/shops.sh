#!/bin/bash
# Runs the candidate on shops that it has never seen and compares output, complaints and status.
# The candidate gets neither descriptor 3 nor our standard input, where the nonce was, nor this file.
read -r nonce
exec </dev/null
rm -rf "$AGON_VERIFY" 2>/dev/null

say() { # score reason
    printf '{"nonce":"%s","score":%s,"reason":"%s"}\n' "$nonce" "$1" "$2" >&3
    exit
}

shop() { # name, expected status, expected output, expected complaints; movements on standard input
    local folder out status
    folder=$(mktemp -d)
    cat >"$folder/shop.txt"
    out=$(timeout 5 python3 inventory.py "$folder/shop.txt" 3>&- 2>"$folder/complaints" </dev/null)
    status=$?
    [[ $out == "$3" ]] || say 0 "$1: wrong output"
    [[ $(<"$folder/complaints") == "$4" ]] || say 0 "$1: wrong complaints"
    [[ $status == "$2" ]] || say 0 "$1: wrong status"
}

# Numbers that differ every time, so that nothing can be learnt by heart.
a=$((RANDOM % 50 + 3))
b=$((RANDOM % 50 + 3))

shop 'nothing' 0 '' '' <<<''
shop 'oldest first' 0 "nut $((a + b - 3)) $(((a - 3) * 5 + b * 9))" '' <<X
in nut $a 5
in nut $b 9
out nut 3
X
shop 'across lots' 0 "nut $((b - 1)) $(((b - 1) * 9))" '' <<X
in nut $a 5
# a comment
in nut $b 9

out nut $((a + 1))
X
shop 'two items with equal lots' 0 $'bolt 2 14\nnut 1 7' '' <<X
in nut 1 7
in bolt 1 7
in nut 1 7
in bolt 1 7
out nut 1
X
shop 'lost' 0 "nut 2 $((2 * b))" '' <<X
in nut 4 1
in nut 2 $b
count nut 2
X
shop 'found' 0 "nut $((a + 6)) $((a * 3))" '' <<X
in nut $a 3
count nut $((a + 6))
X
shop 'found out of nowhere, then sold' 0 'nut 1 4' '' <<X
count nut 2
in nut 1 4
out nut 2
X
shop 'refused' 1 $'bolt 0 0\nnut 3 6' $'line 2: refused\nline 4: refused\nline 5: refused' <<X
in nut 3 2
out nut 4
# between
out bolt 1
count nut -1
X
if [[ $1 == strict ]]; then
    shop 'refused, then allowed' 1 'nut 0 0' 'line 1: refused' <<X
in nut -2 5
in nut 2 5
out nut 2
X
fi
say 1 'all shops'
