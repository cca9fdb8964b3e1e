# sh -c THIS sh tree PID MARK: kills the session of PID with all descendants, and every process that
#   carries MARK in its environment (for those that left the tree; only where there is `grep`).
# sh -c THIS sh command PID SIGNAL TICK LAST: holds the shell PID still, sends it SIGNAL, and kills
#   what runs in the foreground of its terminal, and every child of it or of the first process that
#   was born after process LAST at TICK, with all descendants, but never that shell.
# Prints how many were killed. Needs nothing but /proc and builtins of the shell: a container at its
# limit of processes can't fork any more.
mode=$1 root=$2 mark=$3 tick=$4 last=$5 killed=0

# Reads state, parent, group, session, terminal, foreground group and so on (the start is the 20th)
# of a process into $fields. The name before them is in parentheses and may hold anything; no field
# after it holds one.
look() {
  fields=
  { while IFS= read -r line || [ -n "$line" ]; do fields="$fields$line "; done <"/proc/$1/stat"; } \
    2>/dev/null
  fields=${fields##*") "}
  [ -n "$fields" ]
}

wanted() {
  case $1 in Z | X) return 1 ;; esac
  [ "$mode$pid" = "command$root" ] && return 1
  case $found in *" $2 "*) return 0 ;; esac
  [ "$mode" = tree ] && { [ "$4" = "$root" ]; return; }
  [ "$3" = "$group" ] && return
  case $2 in 1 | $root) ;; *) return 1 ;; esac
  [ "${20}" -gt "$tick" ] || { [ "${20}" -eq "$tick" ] && [ "$pid" -gt "$last" ]; }
}

if [ "$mode" = command ]; then
  [ "$root" -gt 1 ] && look "$root" || { echo 0; exit 0; }
  set -- $fields
  group=$6
  [ "$3" = "$group" ] && group=none
  # Still, it can neither go on before it has the signal nor start anybody while we look.
  kill -STOP "$root"
  kill -"$mark" "$root"
fi

# Walks until it finds no more, then kills all at once; again while any are left, for they may have
# forked in between.
round=0
while [ $round -lt 20 ]; do
  round=$((round + 1)) found=' ' more=1
  while [ $more = 1 ]; do
    more=0
    for entry in /proc/[0-9]*; do
      pid=${entry#/proc/}
      case $pid in 1 | $$) continue ;; esac
      case $found in *" $pid "*) continue ;; esac
      look "$pid" || continue
      set -- $fields
      wanted "$@" || continue
      found="$found$pid " more=1
    done
  done
  [ "$found" = ' ' ] && break
  for pid in $found; do kill -9 "$pid" 2>/dev/null && killed=$((killed + 1)); done
done

[ "$mode" = command ] && kill -CONT "$root" 2>/dev/null
echo $killed
if [ "$mode" = tree ]; then
  for entry in $(grep -las -- "$mark" /proc/[0-9]*/environ); do
    entry=${entry#/proc/}
    kill -9 "${entry%/environ}"
  done 2>/dev/null
fi
exit 0
