cd repo && git apply --whitespace=nowarn <<'PATCH'
diff --git a/bin/fleet b/bin/fleet
index 0767cfe..0551dde 100755
--- a/bin/fleet
+++ b/bin/fleet
@@ -1,7 +1,6 @@
 #!/usr/bin/env bash
 # Runs one command for many hosts; see README.md.
-set -e
-here=$(cd "$(dirname "$0")/.." && pwd)
+here=$(cd -- "$(dirname -- "$0")/.." && pwd)
 . "$here/lib/run.sh"
 
 usage() {
@@ -22,26 +21,31 @@ shift $((OPTIND - 1))
 [ $# -ge 2 ] || usage
 hosts=$1
 shift
-if [ ! -r "$hosts" ]; then
+if [ ! -r "$hosts" ] || [ -d "$hosts" ]; then
     echo "fleet: $hosts can't be read" >&2
     exit 2
 fi
 if [ "$logs" ]; then
-    mkdir -p "$logs"
+    mkdir -p -- "$logs" || exit 2
 fi
 
 total=0
 failed=0
-sed 's/#.*//' "$hosts" | while read host; do
-    [ "$host" ] || continue
+# Over a descriptor of its own and in this shell, so that the counts survive.
+while read -r -u 9 host || [[ $host ]]; do
+    host=${host%%#*}
+    host=${host%"${host##*[![:space:]]}"}
+    [[ $host ]] || continue
     total=$((total + 1))
-    if run_on "$host" "$@"; then
-        echo "$host: ok"
+    run_on "$host" "$@" 9<&-
+    status=$?
+    if ((status == 0)); then
+        printf '%s: ok\n' "$host"
     else
-        echo "$host: failed ($?)"
+        printf '%s: failed (%s)\n' "$host" "$status"
         failed=$((failed + 1))
-        [ $keep_going ] || break
+        [[ $keep_going ]] || break
     fi
-done
+done 9<"$hosts"
 echo "$total hosts, $((total - failed)) ok, $failed failed"
-[ $failed = 0 ]
+((failed == 0))
diff --git a/lib/run.sh b/lib/run.sh
index 12b951c..e2f4a0d 100644
--- a/lib/run.sh
+++ b/lib/run.sh
@@ -2,12 +2,31 @@
 
 # run_on HOST WORD...: prints every line of output after the host's name; the status is the command's.
 run_on() {
-    local host=$1 words
+    local host=$1 word
+    local -a words=() ended
     shift
-    words=${*//\{\}/$host}
-    if [ "$logs" ]; then
-        $words 2>&1 | tee -a "$logs/$host.log" | sed "s/^/$host: /"
+    for word in "$@"; do
+        # Quoted, because newer versions of bash give `&` a meaning in what is put in.
+        words+=("${word//'{}'/"$host"}")
+    done
+    # Without standard input: the command must not read the list of hosts.
+    "${words[@]}" </dev/null 2>&1 | keep_log "$host" | with_name "$host"
+    ended=("${PIPESTATUS[@]}")
+    return "${ended[0]}"
+}
+
+# Passes everything on.
+keep_log() {
+    if [[ $logs ]]; then
+        tee -a -- "$logs/$1.log"
     else
-        $words 2>&1 | sed "s/^/$host: /"
+        cat
     fi
 }
+
+with_name() {
+    local line
+    while IFS= read -r line || [[ $line ]]; do
+        printf '%s: %s\n' "$1" "$line"
+    done
+}
PATCH
