#!/bin/bash
# Counts the files whose mode is right. Runs nothing that the agent left behind.
read -r nonce
exec </dev/null

right=0
wrong=
judge() { # expected(+ or -) path
    local found=-
    if [[ -n $(find "bin/$2" -maxdepth 0 -type f -perm /111) ]]; then found=+; fi
    if [[ $1 == + && -z $(find "bin/$2" -maxdepth 0 -type f -perm -100) ]]; then found=-; fi
    if [[ -f bin/$2 && $found == "$1" ]]; then right=$((right + 1)); else wrong+=" $2"; fi
}
judge + deploy
judge + 'tools/roll back'
judge - README
judge - late.sh
judge - empty
judge - report.py

score=0
reason="wrong:$wrong"
sum=$(cat bin/deploy 'bin/tools/roll back' bin/README bin/late.sh bin/empty bin/report.py | cksum)
if [[ $sum != '3935942419 139' ]]; then
    reason='the content of a file was changed'
elif [[ $right == 6 ]]; then
    score=1
    reason='all six modes are right'
fi
printf '{"nonce":"%s","score":%s,"reason":"%s"}\n' "$nonce" "$score" "$reason" >&3
