//! The shell code that runs inside of a container: its first process, and the killing of trees.

/// First process of a container. It waits for a child that waits for input that never comes, which
/// makes it collect every orphan that ends in the meantime. The child is a copy of this shell, so
/// that no program of the image, which the agent could have replaced, starts when the agent is cut
/// off. [`END_ALL`] makes it end everybody else.
pub(super) const FIRST: &str = "trap 'kill -9 -1' USR1; exec 3<&0; \
    while :; do (read -r _ <&3) & wait $!; done";

/// First process of a container with a display, whose start is the first argument. One line of
/// input, which is given when the container starts and not when it is started again for grading,
/// lets the start run: by then its programs may be the agent's. The line is taken before the agent
/// comes, and once it is, none is awaited any more.
pub(super) const FIRST_WITH_DISPLAY: &str = "trap 'kill -9 -1' USR1; exec 3<&0; \
    (read -r _ <&3 && exec 3<&- && eval \"$1\") </dev/null >/dev/null 2>&1 & wait $!; \
    while :; do (read -r _ <&3) & wait $!; done";

/// The line that it waits for.
pub(super) const GO: &str = "\n";

/// The signal that ends everybody but the first process.
pub(super) const END_ALL: &str = "USR1";

/// Kills a process tree; its arguments are described in it.
pub(super) const KILL: &str = include_str!("kill.sh");

/// Runs a program as told, and says first, as a line on standard error, which pid it has.
pub(super) const PIPED: &str = r#"echo $$ >&2; cd -- "$1" || exit 126; shift; exec "$@""#;

/// The same with descriptor 3 on what is standard output outside; the program's own goes with its
/// standard error.
pub(super) const WITH_VERDICT: &str =
    r#"echo $$ >&2; cd -- "$1" || exit 126; shift; exec 3>&1 1>&2; exec "$@""#;

/// Runs a program on the terminal it finds itself on. Images without `stty` mostly have something else that
/// keeps the terminal from repeating what is typed.
pub(super) const ON_TERMINAL: &str = r#"stty -echo -onlcr rows 50 cols 200 2>/dev/null ||
    busybox stty -echo -onlcr rows 50 cols 200 2>/dev/null ||
    perl -MPOSIX -e '$t = POSIX::Termios->new; $t->getattr(0); $t->setlflag($t->getlflag & ~ECHO);
        $t->setoflag($t->getoflag & ~OPOST); $t->setattr(0)' 2>/dev/null ||
    python3 -Ic 'import termios as t; a = t.tcgetattr(0); a[3] &= ~t.ECHO; a[1] &= ~t.OPOST
t.tcsetattr(0, t.TCSANOW, a)' 2>/dev/null
    cd -- "$1" || exit 126; shift; exec "$@""#;
