# Runs in a container's own `sh`, as root, before any agent: starts an X server and a window manager
# and stays while both live. Needs from the lines before it: screen (such as 1280x800x24), glx (+ or
# -), authority (a file) and cookie (what is to be in it, as escapes of `printf %b`). What went wrong
# is told in the file agon-error beside the socket.
sockets=/tmp/.X11-unix
# Some images keep the server in a folder of its own.
PATH=$PATH:/usr/local/bin:/usr/bin:/bin:/usr/X11R6/bin

fail() {
  printf '%s\n' "$1" >"$sockets/.agon-error"
  mv "$sockets/.agon-error" "$sockets/agon-error"
  exit 1
}

command -v Xvfb >/dev/null || fail "the image has no X server: it needs the program Xvfb"
for manager in openbox xfwm4 fluxbox icewm matchbox-window-manager metacity twm none; do
  command -v $manager >/dev/null && break
done
[ $manager = none ] && fail "the image has no window manager: it needs openbox (or xfwm4, fluxbox, \
icewm, matchbox-window-manager, metacity, twm)"
case $manager in
  openbox)
    printf '%s' "$openbox" >/tmp/.agon-openbox.xml
    options='--sm-disable --config-file /tmp/.agon-openbox.xml'
    ;;
  xfwm4) options=--compositor=off ;;
  metacity) options='--sm-disable --no-composite' ;;
  *) options= ;;
esac

umask 077
printf %b "$cookie" >"$authority" || fail "cannot write $authority"
umask 022
export DISPLAY=:0 XAUTHORITY="$authority"

# A server that runs as root takes the folder for itself; whoever it belongs to outside has to be able
# to remove what is in it. Root needs no help, and two programs fewer.
[ -O "$sockets" ] && owner= || owner=$(stat -c %u:%g "$sockets")
words=/tmp/.agon-display
# The server says its number when it is ready, and nothing when it ends before that.
Xvfb :0 -screen 0 "$screen" -noreset -nolisten tcp -auth "$authority" -s 0 ${glx}extension GLX \
  -displayfd 4 4>&1 >/dev/null 2>"$words" | {
  early=
  if [ $manager = openbox ]; then
    # It loads while the server does, which has a socket by then, and waits there to be served.
    $manager $options >/dev/null 2>&1 </dev/null &
    early=$!
  fi
  read -r number || fail "Xvfb ended: $(head -c 1000 "$words" | tr -s '\n' ' ')"
  [ -n "$owner" ] && chown "$owner" "$sockets"
  # News for who watches the folder: the socket was there before the server listened on it.
  : >"$sockets/agon-ready"
  if [ -n "$early" ]; then
    wait $early
    # Openbox ends with 1 when it finds no display: it was too early.
    [ $? = 1 ] || exit 0
  fi
  exec $manager $options >/dev/null 2>&1
}
