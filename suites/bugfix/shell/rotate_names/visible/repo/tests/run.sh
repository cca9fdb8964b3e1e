#!/usr/bin/env bash
# Rotates backups in a folder of its own.
cd "$(dirname "$0")/.." || exit 1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
status=0
expect() { # NAME EXPECTED FOUND
    if [[ $2 == "$3" ]]; then echo "ok   $1"; else echo "FAIL $1: $3"; status=1; fi
}
for day in 01 02 03 04; do touch "$folder/web-202401$day.tar"; done
touch "$folder/db-20240101.tar" "$folder/notes.txt"
expect dry "would remove $folder/web-20240101.tar" "$(bin/rotate -n -k 3 "$folder")"
expect removed "removed $folder/web-20240101.tar
removed $folder/web-20240102.tar" "$(bin/rotate -k 2 "$folder")"
expect left "db-20240101.tar notes.txt web-20240103.tar web-20240104.tar" "$(echo $(ls "$folder"))"
bin/rotate "$folder/missing" 2>/dev/null
expect missing 2 $?
exit $status
