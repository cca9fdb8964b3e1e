//! What the programs of a sandbox are doing, as the kernel counts it from outside: for how long they have run since the
//! last look, and whether one of them waits to run. Knows nothing of what the programs are.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::Pid;

use crate::limits;

/// More threads than this are not looked at: each costs a few microseconds.
const MOST_THREADS: usize = 2_000;

/// The programs of one sandbox.
#[derive(Debug)]
pub struct Activity {
    members: Members,
    /// How long each thread had run when it was last looked at, in nanoseconds.
    threads: HashMap<u32, u64>,
}

#[derive(Debug)]
enum Members {
    /// All that this process has started, directly or not. It collects orphans.
    DescendantsOf(u32),
    /// The list of processes of a control group.
    Group(PathBuf),
}

/// What a look has found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Work {
    /// How long programs have run since the last look, on all processors together.
    pub ran: Duration,
    /// A program runs now, or waits for a processor or a disk.
    pub runnable: bool,
}

impl Activity {
    /// Of all that a process has started, directly or not; it collects orphans.
    pub fn of_descendants(of: Pid) -> Self {
        Self::new(Members::DescendantsOf(
            of.as_raw_nonzero().get().unsigned_abs(),
        ))
    }

    /// Of the control group that a process is in; `None` where it can't be found.
    pub(crate) fn of_group(of: Pid) -> Option<Self> {
        let list = limits::group_of(of)?.join("cgroup.procs");
        list.is_file().then(|| Self::new(Members::Group(list)))
    }

    fn new(members: Members) -> Self {
        Self {
            members,
            threads: HashMap::new(),
        }
    }

    /// Looks at every thread. One that has come counts from its start.
    pub fn look(&mut self) -> Work {
        let mut work = Work::default();
        let mut threads = HashMap::with_capacity(self.threads.len());
        self.members.for_each_thread(&mut |thread, folder| {
            let ran = run_time(folder).unwrap_or_default();
            let before = self.threads.get(&thread).copied().unwrap_or_default();
            work.ran += Duration::from_nanos(ran.saturating_sub(before));
            work.runnable |= is_runnable(folder);
            threads.insert(thread, ran);
            threads.len() < MOST_THREADS
        });
        self.threads = threads;
        work
    }
}

/// Takes a thread and its folder, and says whether to go on.
type Each<'a> = dyn FnMut(u32, &Path) -> bool + 'a;

impl Members {
    fn for_each_thread(&self, each: &mut Each<'_>) {
        match self {
            Self::Group(list) => {
                let list = fs::read_to_string(list).unwrap_or_default();
                for process in numbers(&list) {
                    if !threads(process, each) {
                        return;
                    }
                }
            }
            Self::DescendantsOf(top) => {
                let mut parents = vec![*top];
                while let Some(parent) = parents.pop() {
                    let whole = threads(parent, &mut |thread, folder| {
                        let children = fs::read_to_string(folder.join("children"));
                        parents.extend(numbers(&children.unwrap_or_default()));
                        parent == *top || each(thread, folder)
                    });
                    if !whole {
                        return;
                    }
                }
            }
        }
    }
}

/// Calls `each` with every thread of a process, until it says no.
fn threads(process: u32, each: &mut Each<'_>) -> bool {
    let Ok(folders) = fs::read_dir(format!("/proc/{process}/task")) else {
        // It has ended meanwhile.
        return true;
    };
    folders.flatten().all(|folder| {
        let number = folder.file_name().to_str().and_then(|it| it.parse().ok());
        number.is_none_or(|number| each(number, &folder.path()))
    })
}

fn numbers(text: &str) -> impl Iterator<Item = u32> {
    text.split_ascii_whitespace()
        .filter_map(|it| it.parse().ok())
}

/// In nanoseconds.
fn run_time(thread: &Path) -> io::Result<u64> {
    let text = fs::read_to_string(thread.join("schedstat"))?;
    let first = text.split_ascii_whitespace().next();
    first
        .and_then(|it| it.parse().ok())
        .ok_or_else(|| io::Error::other("schedstat has another form"))
}

fn is_runnable(thread: &Path) -> bool {
    let text = fs::read_to_string(thread.join("stat")).unwrap_or_default();
    // The second field is a name in brackets that may hold anything.
    let state = text
        .rsplit_once(") ")
        .and_then(|(_, rest)| rest.chars().next());
    matches!(state, Some('R' | 'D'))
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt as _;
    use std::process::{Child, Command, Stdio};

    use rustix::process::{Signal, kill_process_group};

    use super::*;

    /// Ended with the test.
    struct Started(Child);

    impl Drop for Started {
        fn drop(&mut self) {
            let group = Pid::from_child(&self.0);
            let _ = kill_process_group(group, Signal::KILL);
            let _ = self.0.wait();
        }
    }

    /// A shell whose child does this.
    fn started(script: &str) -> Started {
        let script = format!("{script} & wait");
        let mut shell = Command::new("bash");
        let shell = shell.args(["-c", &script]).stdout(Stdio::null());
        let shell = shell.process_group(0);
        Started(shell.spawn().unwrap())
    }

    fn activity(of: &Started) -> Activity {
        let activity = Activity::of_descendants(Pid::from_child(&of.0));
        while fs::read_to_string(format!("/proc/{0}/task/{0}/children", of.0.id()))
            .unwrap()
            .is_empty()
        {}
        activity
    }

    #[test]
    fn a_program_that_works_is_told_from_one_that_sleeps() {
        let busy = started("while :; do :; done");
        let mut activity = activity(&busy);
        activity.look();
        while activity.look().ran < Duration::from_millis(1) {}
        assert!(activity.look().runnable);

        let idle = started("sleep 60");
        let mut activity = self::activity(&idle);
        // It is on its way to sleep.
        while activity.look().runnable {}
        assert_eq!(activity.look(), Work::default());
    }

    #[test]
    fn what_has_ended_is_not_busy() {
        let mut activity = Activity::of_descendants(Pid::from_raw(i32::MAX).unwrap());
        assert_eq!(activity.look(), Work::default());
    }
}
