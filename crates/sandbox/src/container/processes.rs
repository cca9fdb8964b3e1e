//! The shell code that runs inside of a container: its first process, and the killing of trees.

use std::fs;
use std::io;

use rustix::process::Pid;

use super::engine::failed;
use super::sandbox::Container;
use crate::activity::Activity;

macro_rules! wait_for_ever {
    () => {
        "while :; do command eval '(read -r _ <&3) & wait $!'; jobs >/dev/null; done"
    };
}

/// First process of a container. It waits for a child that waits for input that never comes, which
/// makes it collect every orphan that ends in the meantime. The child is a copy of this shell, so
/// that no program of the image, which the agent could have replaced, starts when the agent is cut
/// off. [`END_ALL`] makes it end everybody else.
///
/// The agent can use up all processes, so there may be none left for the child. A shell that can't fork ends, and the
/// container with it: `command eval` turns that into an ordinary failure, and `jobs` collects the orphans whose end
/// makes room for the next try.
pub(super) const FIRST: &str = concat!(
    "trap 'kill -9 -1' USR1; exec 3<&0 2>/dev/null; ",
    wait_for_ever!()
);

/// First process of a container with a display, whose start is the first argument. One line of
/// input, which is given when the container starts and not when it is started again for grading,
/// lets the start run: by then its programs may be the agent's. The line is taken before the agent
/// comes, and once it is, none is awaited any more.
pub(super) const FIRST_WITH_DISPLAY: &str = concat!(
    "trap 'kill -9 -1' USR1; exec 3<&0 2>/dev/null; ",
    "(read -r _ <&3 && exec 3<&- && eval \"$1\") </dev/null >/dev/null 2>&1 & wait $!; ",
    wait_for_ever!()
);

/// The line that it waits for.
pub(super) const GO: &str = "\n";

/// The signal that ends everybody but the first process.
pub(super) const END_ALL: &str = "USR1";

/// Its number, as engines report it.
pub(super) const END_ALL_NUMBER: &str = "10";

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

impl Container {
    /// Its first process, as this machine counts. An error where the engine runs elsewhere: it counts differently, and
    /// the number may be any process's here.
    pub(super) async fn first_process(&self) -> io::Result<Pid> {
        let docker = &self.engine.docker;
        let found = docker.inspect_container(&self.name, None).await;
        let found = found
            .map_err(failed("could not look at the container"))
            .map_err(io::Error::other)?;
        first_process(found.state.and_then(|state| state.pid).unwrap_or_default())
    }

    /// What its programs do: also those that the engine starts in it, which are no children of its first process.
    pub(super) async fn activity(&self) -> Option<Activity> {
        let first = self.first_process().await.ok()?;
        Activity::of_group(first)
    }
}

fn first_process(pid: i64) -> io::Result<Pid> {
    let line = fs::read(format!("/proc/{pid}/cmdline"))?;
    let ours = [FIRST, FIRST_WITH_DISPLAY].map(str::as_bytes);
    let is_ours = line
        .split(|byte| *byte == 0)
        .any(|word| ours.contains(&word));
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.filter(|_| is_ours)
        .ok_or_else(|| io::Error::other("its first process is not where the engine says"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_other_process_is_taken_for_the_first() {
        let us = i64::from(std::process::id());
        let error = first_process(us).unwrap_err();
        assert!(error.to_string().contains("first process"), "{error}");
        assert!(first_process(0).is_err());
        assert!(first_process(i64::MAX).is_err());
    }
}
