# sh -c THIS sh SHELL TEXT: runs TEXT by SHELL and ends with its status; after a success not before the
#   lists that it left in the background, as in `a && b && setsid app >/dev/null 2>&1 & sleep 2`, have
#   come to their last command or let go of its output.
# Such a list is run by a copy of the shell, which has the shell's command line until it becomes the last
# command (dash, ash) or until that ends (bash). Needs nothing but /proc and `sleep`.
"$1" -c "$2"
status=$?
[ $status = 0 ] || exit $status
line_break='
'
copy="$1-c${2%%"$line_break"*}"

# Whether the shell $1 has a child that leads a session of its own: what `setsid` started.
launched() {
  for other in /proc/[0-9]*; do
    fields=
    { IFS= read -r fields <"$other/stat"; } 2>/dev/null
    fields=${fields##*") "}
    # State, parent, group, session.
    case "$fields" in "${fields%% *} $1 "*) ;; *) continue ;; esac
    fields=${fields#* * * }
    [ "${fields%% *}" = "${other#/proc/}" ] && return 0
  done
  return 1
}

holds() {
  [ "/proc/$1/fd/$2" -ef "/proc/$$/fd/$2" ]
}

working() {
  for entry in /proc/[0-9]*; do
    line=
    # Without the zero bytes between the words.
    { IFS= read -r line <"$entry/cmdline"; } 2>/dev/null
    [ "$line" = "$copy" ] || continue
    pid=${entry#/proc/}
    { holds "$pid" 1 || holds "$pid" 2; } && ! launched "$pid" && return 0
  done
  return 1
}

while working; do
  sleep 0.1 2>/dev/null || sleep 1
done
