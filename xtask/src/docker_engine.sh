# Runs one Docker Engine for as long as standard input stays open, that is: for as long as the
# process that started this lives, however it ends. Then stops the engine and cleans up.
# Arguments: STATE (kept: images, log, lock), RUN (removed: sockets), GROUP (may connect)
set -u
state=$1 run=$2 group=$3

exec 8<&0 9>"$state/lock"
if ! flock --nonblock 9; then
    echo "another command uses the test engine: waiting for its end" >&2
    flock --timeout 1800 9 || exit 75
fi

dockerd \
    --data-root "$state/data" --exec-root "$run/e" --pidfile "$run/d.pid" \
    --host "unix://$run/d.sock" --group "$group" \
    --bridge none --iptables=false --ip6tables=false --shutdown-timeout 5 \
    >"$state/log" 2>&1 8<&- 9>&- &
engine=$!
echo started

# Whichever ends first: the owner's end of the pipe, or the engine by itself.
cat <&8 >/dev/null 9>&- &
owner=$!
wait -n "$owner" "$engine"

kill -TERM "$engine" 2>/dev/null
{
    timeout 20 tail --pid="$engine" -s 0.1 -f /dev/null || kill -KILL "$engine"
} >/dev/null 2>&1 9>&- &
wait "$engine"
kill "$owner" 2>/dev/null
wait

# Only an engine that had to be killed leaves these behind.
containerd=$(cat "$run/e/containerd/containerd.pid" 2>/dev/null)
if [ -n "$containerd" ] && [ "$(cat "/proc/$containerd/comm" 2>/dev/null)" = containerd ]; then
    kill -KILL "$containerd"
fi
awk -v state="$state/" -v run="$run/" \
    'index($5, state) == 1 || index($5, run) == 1 { print $5 }' /proc/self/mountinfo |
    sort --reverse | while read -r mount; do umount --lazy "$mount"; done
rm -rf "$run"
