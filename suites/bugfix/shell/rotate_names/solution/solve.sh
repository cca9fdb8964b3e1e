cd repo && git apply --whitespace=nowarn <<'PATCH'
diff --git a/bin/rotate b/bin/rotate
index 765d491..92bf944 100755
--- a/bin/rotate
+++ b/bin/rotate
@@ -1,6 +1,7 @@
 #!/usr/bin/env bash
 # Throws away old backups; see README.md.
-here=$(cd "$(dirname "$0")/.." && pwd)
+export LC_ALL=C
+here=$(cd -- "$(dirname -- "$0")/.." && pwd)
 . "$here/lib/names.sh"
 
 usage() {
@@ -22,23 +23,32 @@ shift $((OPTIND - 1))
 case $keep in
     *[!0-9]* | '') usage ;;
 esac
+# Not octal.
+keep=$((10#$keep))
 folder=$1
-if [ ! -d $folder ]; then
-    echo "rotate: $folder is no folder" >&2
+if [[ ! -d $folder ]]; then
+    printf 'rotate: %s is no folder\n' "$folder" >&2
     exit 2
 fi
 
+list_backups "$folder"
 status=0
-cd $folder || exit 2
-for name in $(backup_names); do
-    for file in $(backups_of $name | head -n -$keep); do
-        if [ $dry ]; then
-            echo "would remove $folder/$file"
-        elif rm $file; then
-            echo "removed $folder/$file"
+at=0
+while ((at < ${#backups[@]})); do
+    end=$at
+    while ((end < ${#backups[@]})) && [[ ${names[end]} == "${names[at]}" ]]; do
+        ((end++))
+    done
+    for ((; at < end - keep; at++)); do
+        path=$folder/${backups[at]}
+        if [[ $dry ]]; then
+            printf 'would remove %s\n' "$path"
+        elif rm -f -- "$path"; then
+            printf 'removed %s\n' "$path"
         else
             status=1
         fi
     done
+    at=$end
 done
 exit $status
diff --git a/lib/names.sh b/lib/names.sh
index f39c411..a193365 100644
--- a/lib/names.sh
+++ b/lib/names.sh
@@ -1,11 +1,23 @@
-# What is a backup, and of what. Works in the current folder.
+# What is a backup, and of what.
 
-# Every NAME of which there is a backup, once.
-backup_names() {
-    ls | grep -E -- '-[0-9]{8}\.tar(\.gz)?$' | sed -E 's/-[0-9]{8}\.tar(\.gz)?$//' | sort -u
-}
-
-# The backups of the name, oldest first.
-backups_of() {
-    ls $1-* | grep -E -- '-[0-9]{8}\.tar(\.gz)?$' | sort
+# Fills `backups` with the names of all backups in the folder and `names` with the NAME of each, ordered by NAME and
+# then from the oldest to the newest.
+list_backups() {
+    local file path name
+    backups=() names=()
+    shopt -s nullglob
+    # NAME, date and ending are separated by NUL-free slashes, which no file name has: sorted field by field.
+    while IFS= read -r -d '' file; do
+        name=${file%%/*}
+        names+=("$name")
+        file=${file#*/}
+        backups+=("$name-${file%%/*}${file#*/}")
+    done < <(
+        # The glob has `./` or the folder before every name, so that none looks like an option.
+        for path in "$1"/*; do
+            file=${path##*/}
+            [[ -f $path && ! -L $path && $file =~ ^(.*)-([0-9]{8})(\.tar(\.gz)?)$ ]] || continue
+            printf '%s/%s/%s\0' "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}" "${BASH_REMATCH[3]}"
+        done | sort -z -t / -k 1,1 -k 2,2 -k 3,3
+    )
 }
PATCH
