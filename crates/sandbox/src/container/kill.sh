# sh -c THIS sh tree PID MARK: kills the session of PID with all descendants, and every process that
#   carries MARK in its environment (for those that left the tree; only where there is `grep`).
# sh -c THIS sh foreground PID: kills what runs in the foreground of the terminal whose shell is PID,
#   with all descendants, but never that shell.
# Prints how many were killed. Needs nothing but /proc and builtins of the shell: a container at its
# limit of processes can't fork any more.
mode=$1 root=$2 mark=$3 killed=0

# Reads state, parent, group, session, terminal and foreground group of a process into $fields. The
# name before them is in parentheses and may hold anything; no field after it holds one.
look() {
  fields=
  { while IFS= read -r line || [ -n "$line" ]; do fields="$fields$line "; done <"/proc/$1/stat"; } \
    2>/dev/null
  fields=${fields##*") "}
  [ -n "$fields" ]
}

wanted() {
  case $1 in Z | X) return 1 ;; esac
  case $found in *" $2 "*) return 0 ;; esac
  case $mode in
    tree) [ "$4" = "$root" ] ;;
    *) [ "$3" = "$group" ] ;;
  esac
}

if [ "$mode" = foreground ]; then
  look "$root" || { echo 0; exit 0; }
  set -- $fields
  group=$6
  [ "$3" = "$group" ] && group=none
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

echo $killed
if [ "$mode" = tree ]; then
  for entry in $(grep -las -- "$mark" /proc/[0-9]*/environ); do
    entry=${entry#/proc/}
    kill -9 "${entry%/environ}"
  done 2>/dev/null
fi
exit 0
