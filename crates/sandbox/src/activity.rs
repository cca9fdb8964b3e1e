//! What the programs of a sandbox are doing, as the kernel tells it from outside: for how long they have run since the
//! last look, whether one of them waits to run, and when the next timer goes off that they have set. Knows nothing of what the programs are.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::Pid;

use crate::limits;

/// More threads than this are not looked at: each costs a few microseconds.
const MOST_THREADS: usize = 2_000;

/// Two timers that go off within this time of each other are the same one.
const SAME: Duration = Duration::from_millis(6);

/// The programs of one sandbox.
#[derive(Debug)]
pub struct Activity {
    members: Members,
    /// As they were when they were last looked at.
    threads: HashMap<u32, Thread>,
}

#[derive(Debug)]
enum Members {
    /// All that this process has started, directly or not. It collects orphans.
    DescendantsOf(u32),
    /// The list of processes of a control group.
    Group(PathBuf),
}

#[derive(Debug, Clone, Copy)]
struct Thread {
    /// How long it has run, in nanoseconds.
    ran: u64,
    /// When it had last run, if it was looked at soon after.
    slept_at: Option<Instant>,
    /// When its timer would have gone off, as of the last [`Activity::begin`].
    timer_before: Option<Instant>,
}

/// What programs wait for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Waiting {
    /// A program runs now, or waits for a processor or a disk.
    pub for_processor: bool,
    /// When the next timer goes off that was set since [`Activity::begin`], as far as it is known: of threads that
    /// wait for events and a time.
    pub timer: Option<Instant>,
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

    /// What programs do from here on is told by [`Activity::look`], and timers that they set by
    /// [`Activity::waiting`].
    pub fn begin(&mut self) {
        self.look();
        let before = std::mem::take(&mut self.threads);
        self.members.for_each_thread(&mut |number, folder| {
            if let Some(thread) = before.get(&number) {
                let timer_before = timer(folder, thread.slept_at);
                let thread = Thread {
                    timer_before,
                    ..*thread
                };
                self.threads.insert(number, thread);
            }
            true
        });
    }

    /// How long programs have run since the last look, on all processors together. Of a thread that has come since,
    /// all its time counts.
    pub fn look(&mut self) -> Duration {
        let mut all = Duration::ZERO;
        let now = Instant::now();
        let mut threads = HashMap::with_capacity(self.threads.len());
        self.members.for_each_thread(&mut |number, folder| {
            let ran = run_time(folder).unwrap_or_default();
            let before = self.threads.get(&number);
            let since = ran.saturating_sub(before.map_or(0, |before| before.ran));
            all += Duration::from_nanos(since);
            let slept_at = match before {
                Some(before) if since == 0 => before.slept_at,
                Some(_) => Some(now),
                None => None,
            };
            let timer_before = before.and_then(|before| before.timer_before);
            let thread = Thread {
                ran,
                slept_at,
                timer_before,
            };
            threads.insert(number, thread);
            threads.len() < MOST_THREADS
        });
        self.threads = threads;
        all
    }

    /// What they wait for now. Costs more than a look.
    pub fn waiting(&self) -> Waiting {
        let mut waiting = Waiting::default();
        self.members.for_each_thread(&mut |number, folder| {
            waiting.for_processor |= is_runnable(folder);
            let thread = self.threads.get(&number);
            let set = thread.and_then(|thread| timer(folder, thread.slept_at));
            let before = thread.and_then(|thread| thread.timer_before);
            let is_same = |set: &Instant| {
                before.is_some_and(|before| {
                    before.max(*set).saturating_duration_since(before.min(*set)) < SAME
                })
            };
            if let Some(set) = set.filter(|set| !is_same(set)) {
                waiting.timer = Some(waiting.timer.map_or(set, |other| other.min(set)));
            }
            true
        });
        waiting
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

/// When a thread that waits for events since `since` goes on without any.
fn timer(thread: &Path, since: Option<Instant>) -> Option<Instant> {
    let call = fs::read_to_string(thread.join("syscall")).ok()?;
    Some(since? + timeout_of(&call)?)
}

/// The longest time that a system call waits, if it is one that is told so in milliseconds and has an end. Main loops of
/// tool kits wait in one of these.
fn timeout_of(call: &str) -> Option<Duration> {
    // Its number and six arguments, those in hexadecimal.
    let mut words = call.split_ascii_whitespace();
    let number: u32 = words.next()?.parse().ok()?;
    let at = match number {
        calls::POLL => 2,
        calls::EPOLL_WAIT | calls::EPOLL_PWAIT => 3,
        _ => return None,
    };
    let argument = u64::from_str_radix(words.nth(at)?.strip_prefix("0x")?, 16).ok()?;
    // An `int`: the upper half of the register means nothing.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "only the lower half counts"
    )]
    let milliseconds = (argument as u32).cast_signed();
    u64::try_from(milliseconds).ok().map(Duration::from_millis)
}

/// Of x86_64, the one machine that Agon runs on.
mod calls {
    pub(super) const POLL: u32 = 7;
    pub(super) const EPOLL_WAIT: u32 = 232;
    pub(super) const EPOLL_PWAIT: u32 = 281;
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
        while activity.look() < Duration::from_millis(1) {}
        assert!(activity.waiting().for_processor);

        let idle = started("sleep 60");
        let mut activity = self::activity(&idle);
        // It is on its way to sleep.
        while activity.waiting().for_processor {}
        activity.look();
        assert_eq!(activity.look(), Duration::ZERO);
        assert_eq!(activity.waiting(), Waiting::default());
    }

    #[test]
    fn timers_that_are_set_later_are_told_from_those_before() {
        let script = "python3 -c 'import select, sys; print(flush=True)
poll = select.poll(); poll.register(0)
while True: poll.poll(50000)'";
        let polls = started(&format!("sleep 60 | {script}"));
        let mut activity = activity(&polls);
        activity.begin();
        // Python has started, and waits.
        let timer = loop {
            activity.look();
            let waiting = activity.waiting();
            if let (false, Some(timer)) = (waiting.for_processor, waiting.timer) {
                break timer;
            }
        };
        let left = timer.saturating_duration_since(Instant::now());
        assert!(left > Duration::from_secs(30), "{left:?}");
        activity.begin();
        assert_eq!(activity.waiting(), Waiting::default());
    }

    #[test]
    fn timeouts_are_those_of_calls_that_wait_for_events() {
        let poll = "7 0x55d 0x4 0x96 0x7f 0x0 0x1 0x7ffc 0x7f2b\n";
        assert_eq!(timeout_of(poll), Some(Duration::from_millis(150)));
        let epoll = "232 0x5 0x7ffe 0x10 0x14 0x0 0x0 0x7ffc 0x7f2b\n";
        assert_eq!(timeout_of(epoll), Some(Duration::from_millis(20)));
        for none in [
            "7 0x55d 0x4 0xffffffff 0x7f 0x0 0x1 0x7ffc 0x7f2b\n",
            "7 0x55d 0x4 0xffffffffffffffff 0x7f 0x0 0x1 0x7ffc 0x7f2b\n",
            "202 0x55d 0x4 0x96 0x7f 0x0 0x1 0x7ffc 0x7f2b\n",
            "running\n",
            "-1 0x7ffc 0x7f2b\n",
            "",
        ] {
            assert_eq!(timeout_of(none), None, "{none}");
        }
    }

    #[test]
    fn what_has_ended_is_not_busy() {
        let mut activity = Activity::of_descendants(Pid::from_raw(i32::MAX).unwrap());
        assert_eq!(activity.look(), Duration::ZERO);
        assert_eq!(activity.waiting(), Waiting::default());
    }
}
