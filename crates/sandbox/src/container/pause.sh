# sh -c THIS sh stop: makes every process stand still but the session of the first process (it and the
#   display) and this one, and prints those that it stopped, as PID:START.
# sh -c THIS sh go PID:START...: lets these go on.
# Needs nothing but /proc and builtins of the shell, as `kill.sh` does.

# Reads state, parent, group, session and so on (the start is the 20th) from a `stat` into $fields. The
# name before them is in parentheses and may hold anything; no field after it holds one.
look() {
  fields=
  { while IFS= read -r line || [ -n "$line" ]; do fields="$fields$line "; done <"$1/stat"; } \
    2>/dev/null
  fields=${fields##*") "}
  [ -n "$fields" ]
}

# Whether no thread of a process runs. One in the kernel that can't be interrupted has been told, and
# stops before it comes back to its own code.
stands() {
  for thread in "$1"/task/*; do
    look "$thread" || continue
    case $fields in [TtDZX]*) ;; *) return 1 ;; esac
  done
}

go() {
  while [ $# -gt 0 ]; do
    pid=${1%:*} start=${1#*:}
    shift
    look "/proc/$pid" || continue
    started $fields
    [ "$begun" = "$start" ] && kill -CONT "$pid" 2>/dev/null
  done
}

started() {
  session=$4
  shift 19
  begun=$1
}

if [ "$1" = go ]; then
  shift
  go "$@"
  echo gone
  exit 0
fi

# In the order of numbers, which is that of age unless they began anew: a shell that still runs would
# take its stopped children for suspended jobs.
stopped= round=0 running=1
while [ $running = 1 ] && [ $round -lt 100 ]; do
  running=0 round=$((round + 1))
  for entry in /proc/[0-9] /proc/[0-9][0-9] /proc/[0-9][0-9][0-9] /proc/[0-9][0-9][0-9][0-9] \
    /proc/[0-9][0-9][0-9][0-9][0-9] /proc/[0-9][0-9][0-9][0-9][0-9][0-9] \
    /proc/[0-9][0-9][0-9][0-9][0-9][0-9][0-9]; do
    pid=${entry#/proc/}
    [ "$pid" = $$ ] && continue
    look "$entry" || continue
    case $fields in [ZX]*) continue ;; esac
    started $fields
    [ "$session" = 1 ] && continue
    stands "$entry" && continue
    running=1
    kill -STOP "$pid" 2>/dev/null || continue
    # The last to be stopped is the first to go on.
    case " $stopped" in *" $pid:$begun "*) ;; *) stopped="$pid:$begun $stopped" ;; esac
    tries=0
    until stands "$entry" || [ $tries -gt 50 ]; do tries=$((tries + 1)); done
  done
done
if [ $running = 1 ]; then
  go $stopped
  echo "some programs do not stand still" >&2
  exit 1
fi
echo "stopped $stopped"
