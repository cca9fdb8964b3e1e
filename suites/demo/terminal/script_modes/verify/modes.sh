#!/bin/bash
# Usage: modes.sh FOLDER. Counts the files whose mode is right; runs nothing that the agent left.
read -r nonce
exec </dev/null

say() { # score reason
    printf '{"nonce":"%s","score":%s,"reason":"%s"}\n' "$nonce" "$1" "$2" >&3
    exit
}

cd "$1" || say 0 'the folder is gone'
right=0
wrong=
judge() { # expected(+ or -) path
    local found=-
    if [[ -n $(find "$2" -maxdepth 0 -type f -perm /111) ]]; then found=+; fi
    if [[ $1 == + && -z $(find "$2" -maxdepth 0 -type f -perm -100) ]]; then found=-; fi
    if [[ -f $2 && $found == "$1" ]]; then right=$((right + 1)); else wrong+=" $2"; fi
}
judge + deploy
judge + 'tools/roll back'
judge - README
judge - late.sh
judge - empty
judge - report.py

sum=$(cat deploy 'tools/roll back' README late.sh empty report.py | cksum)
[[ $sum == '3935942419 139' ]] || say 0 'the content of a file was changed'
[[ $right == 6 ]] || say 0 "wrong:$wrong"
say 1 'all six modes are right'
