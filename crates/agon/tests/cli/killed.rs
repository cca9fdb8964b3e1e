//! Runs that end early: by SIGKILL at any moment, by Ctrl-C, by a full disk, by a torn line. What was
//! acknowledged stays, the same command goes on, and nothing of ours is left on the machine.

use std::collections::BTreeMap;
use std::fs::{self, File, Permissions};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use agon::core::event::Phase;
use agon::core::verdict::Outcome;
use agon::core::{Digest, EventBody};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use crate::support::{Bench, Called};

/// Longer than anything here takes; only a hang gets there.
const HANG: Duration = Duration::from_secs(60);

fn greeting(before: &str) -> String {
    format!(
        "\
name: Greeting
task: Write hello to greeting.txt.
checks: [{{ type: file, path: greeting.txt, equals: \"hello\\n\" }}]
solution: [{{ action: run, command: '{before}echo hello > greeting.txt' }}]
"
    )
}

const TALK: &str = "\
name: Talk
task: Say done.
environment: { kind: none }
checks: [{ type: returned_result, equals: done }]
solution: [{ action: finish, result: done }]
";

#[test]
fn heavy_killed_fifty_times_a_run_has_one_result_per_trial_and_leaves_nothing() {
    let bench = Bench::new();
    let mut ground = Ground::new(&bench);
    // The program's name says whose it is, wherever it may be found later.
    let named = format!("(exec -a {} sleep 0.05); ", ground.mark);
    bench.suite(&[("quick", &greeting("")), ("slow", &greeting(&named))]);
    let args = ["--agent", "oracle", "--epochs", "150", "--workers", "4"];

    let mut random = StdRng::seed_from_u64(50);
    for round in 0..50 {
        let mut run = ground.start(&args);
        // Half of them at any moment after the start, half shortly after a result.
        let results = if round % 2 == 0 {
            0
        } else {
            random.random_range(1..4)
        };
        for _ in 0..results {
            run.hear("] passed");
        }
        let longest = if results == 0 { 150 } else { 40 };
        let pause = Duration::from_millis(random.random_range(0..longest));
        assert!(!run.ends_within(pause), "nothing is left to be killed");
        run.child.kill().unwrap();
        assert_eq!(run.end().0.signal(), Some(9));
    }
    let done = bench.trials().len();
    assert!((50..300).contains(&done), "{done} trials were done by then");
    let (status, said) = ground.start(&args).end();
    assert!(status.success(), "{}", said.join("\n"));

    check_whole(&bench, 300);
    ground.check_clean();
    let parts = Command::new("find")
        .arg(bench.path("run"))
        .args(["-name", ".*", "-type", "f"])
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&parts.stdout), "");
}

#[test]
fn heavy_killed_while_playing_again_no_verdict_is_lost() {
    let bench = Bench::new();
    let mut ground = Ground::new(&bench);
    bench.suite(&[("a", TALK)]);
    let args = ["--agent", "noop", "--epochs", "200", "--workers", "4"];
    bench.run(&args).expect(0);
    let results = |bench: &Bench| {
        let mut finals = [0; 200];
        for line in bench.trials().iter().filter(|line| line.is_final) {
            finals[line.epoch as usize - 1] += 1;
        }
        finals
    };
    let mut random = StdRng::seed_from_u64(11);
    for _ in 0..20 {
        let mut run = ground.start(&[&args[..], &["--mode", "rerun-failed"]].concat());
        for _ in 0..random.random_range(1..40) {
            run.hear("] failed");
        }
        run.child.kill().unwrap();
        assert_eq!(run.end().0.signal(), Some(9));
        let finals = results(&bench);
        assert!(finals.iter().all(|count| *count >= 1), "{finals:?}");
    }
    bench.run(&args).expect(0);
    assert_eq!(results(&bench), [1; 200]);
    let mut trials = bench.trials();
    trials.sort_by_key(|line| (line.epoch, line.attempt));
    for attempts in trials.chunk_by(|a, b| a.epoch == b.epoch) {
        let last = attempts.len() as u32;
        for (line, counted) in attempts.iter().zip(1..) {
            assert_eq!((line.attempt, line.is_final), (counted, counted == last));
            assert_eq!(line.rerun, counted > 1);
        }
    }
}

/// One final result for each of `trials`, and the evidence for each of them.
fn check_whole(bench: &Bench, trials: usize) {
    let reader = bench.reader();
    let mut by_trial: BTreeMap<(String, u32), Vec<_>> = BTreeMap::new();
    for line in bench.trials() {
        let trial = (line.task.to_string(), line.epoch);
        by_trial.entry(trial).or_default().push(line);
    }
    assert_eq!(by_trial.len(), trials);
    for (trial, lines) in by_trial {
        let attempts: Vec<u32> = lines.iter().map(|line| line.attempt).collect();
        let counted: Vec<u32> = (1..=lines.len() as u32).collect();
        assert_eq!(attempts, counted, "{trial:?}");
        let finals: Vec<bool> = lines.iter().map(|line| line.is_final).collect();
        assert_eq!(finals.iter().filter(|last| **last).count(), 1, "{trial:?}");
        assert_eq!(finals.last(), Some(&true), "{trial:?}");
        let line = lines.last().unwrap();
        assert_eq!(line.outcome, Outcome::Passed, "{trial:?}");

        let events = reader.events(line).unwrap();
        let numbers: Vec<u64> = events.iter().map(|event| event.seq).collect();
        assert_eq!(numbers, (0..events.len() as u64).collect::<Vec<_>>());
        assert_eq!(events[0].body, EventBody::Phase(Phase::Setup));
        let last = &events.last().unwrap().body;
        assert_eq!(*last, EventBody::Phase(Phase::Graded), "{trial:?}");
        assert!(events.iter().any(|event| event.body.kind() == "verdict"));

        let work = line.work.unwrap();
        let stored = fs::read(reader.folder().blob(&work)).unwrap();
        assert_eq!(Digest::of(&stored), work);
        let mut tar = Vec::new();
        let unpacked = reader.unpack_blob(&work).unwrap();
        File::open(&unpacked)
            .unwrap()
            .read_to_end(&mut tar)
            .unwrap();
        assert!(String::from_utf8_lossy(&tar).contains("greeting.txt"));
    }
}

#[test]
fn a_torn_last_line_is_dropped_and_its_trial_played_again() {
    let bench = Bench::new();
    bench.suite(&[("a", TALK)]);
    let args = ["--agent", "oracle", "--epochs", "5", "--workers", "1"];
    bench.run(&args).expect(0);
    let path = bench.path("run/trials.jsonl");
    let whole = fs::read(&path).unwrap();
    let before = bench.trials();

    let last = whole[..whole.len() - 1]
        .iter()
        .rposition(|byte| *byte == b'\n');
    let middle = last.unwrap() + 40;
    for cut in [middle, whole.len() - 1] {
        fs::write(&path, &whole[..cut]).unwrap();
        assert_eq!(bench.trials(), before[..4], "half a line is no result");
        let again = bench.run(&args).expect(0);
        let said = again.stderr();
        assert!(
            said.contains("torn") && said.contains("1 trial to play, 4 done"),
            "{said}"
        );
        let trials = bench.trials();
        assert_eq!(trials[..4], before[..4]);
        assert_eq!(
            (trials.len(), trials[4].attempt, trials[4].is_final),
            (5, 1, true)
        );
    }
}

#[test]
fn a_broken_line_that_is_not_the_last_is_an_error_that_touches_nothing() {
    let bench = Bench::new();
    bench.suite(&[("a", TALK)]);
    bench.run(&["--agent", "oracle", "--epochs", "2"]).expect(0);
    let path = bench.path("run/trials.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let broken = text.replacen("\"epoch\"", "\"e\"", 1);
    fs::write(&path, &broken).unwrap();
    for args in [
        &[
            "run", "suite", "--out", "run", "--agent", "oracle", "--epochs", "2",
        ][..],
        &["report", "run"],
    ] {
        let said = bench.call(args).expect(2).stderr();
        assert!(
            said.contains("trials.jsonl can't be read: byte 0"),
            "{said}"
        );
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), broken);
}

#[test]
fn interrupted_once_a_run_stops_in_order_and_says_how_to_go_on() {
    let bench = Bench::new();
    let mut ground = Ground::new(&bench);
    let named = format!("(exec -a {} sleep 0.6); ", ground.mark);
    bench.suite(&[("a", &greeting(&named))]);
    let mut run = ground.start(&["--agent", "oracle", "--epochs", "6", "--workers", "2"]);
    run.hear("trials to play");
    let names = fs::read_dir(&ground.temporary).unwrap().flatten();
    let names: Vec<_> = names.map(|entry| entry.file_name()).collect();
    assert!(
        names.len() == 1 && ground.owns(&names[0].to_string_lossy()),
        "what is looked for afterwards is there now: {names:?}"
    );
    run.hear("] passed");
    run.signal(Signal::INT);
    let (status, said) = run.end();
    assert_eq!(status.code(), Some(130), "{said:?}");
    assert!(
        said.iter().any(|line| line.contains("stopping")),
        "{said:?}"
    );
    let done = bench.trials().len();
    assert!((1..6).contains(&done), "{done}");
    ground.check_clean();

    let hint = said
        .iter()
        .find_map(|line| line.split_once("go on with: agon "));
    let words: Vec<&str> = hint.unwrap().1.split(' ').collect();
    bench.call(&words).expect(0);
    check_whole(&bench, 6);
}

#[test]
fn interrupted_twice_a_run_ends_at_once() {
    let bench = Bench::new();
    let mut ground = Ground::new(&bench);
    let named = format!("(exec -a {} sleep 30); ", ground.mark);
    bench.suite(&[("a", &greeting(&named)), ("b", TALK)]);
    let mut run = ground.start(&["--agent", "oracle", "--workers", "2"]);
    run.hear("] passed");
    run.signal(Signal::INT);
    run.signal(Signal::TERM);
    let (status, said) = run.end();
    assert_eq!(status.code(), Some(130), "{said:?}");
    assert_eq!(bench.trials().len(), 1, "what was done stays");
    let mut clean = bench.agon(&["clean"]);
    let cleaned = clean.env("TMPDIR", &ground.temporary).output().unwrap();
    Called(cleaned).expect(0);
    ground.check_clean();
}

#[test]
fn a_run_folder_is_written_by_one_process_at_a_time() {
    let bench = Bench::new();
    let mut ground = Ground::new(&bench);
    bench.suite(&[("a", &greeting("sleep 1; "))]);
    let args = ["--agent", "oracle", "--workers", "2", "--epochs", "2"];
    let mut first = ground.start(&args);
    first.hear("2 trials to play");
    let refused = bench.run(&args).expect(2).stderr();
    assert!(
        refused.contains("run is in use by another agon") && refused.contains("--out"),
        "{refused}"
    );
    let (status, said) = first.end();
    assert!(status.success(), "{said:?}");
    check_whole(&bench, 2);
}

#[test]
fn a_file_that_may_not_grow_further_ends_the_run_and_loses_nothing() {
    let bench = Bench::new();
    // The signal is ignored by what is started, so that writing fails as on a full disk.
    run_out_of_space(&bench, "run", |args| {
        let mut shell = Command::new("bash");
        shell
            .args(["-c", "trap '' XFSZ; ulimit -f 100; exec \"$0\" \"$@\""])
            .arg(env!("CARGO_BIN_EXE_agon"))
            .args(args)
            .current_dir(bench.path("."));
        Called(shell.output().unwrap())
    });
}

#[test]
fn a_full_disk_ends_the_run_and_loses_nothing() {
    let bench = Bench::new();
    let disk = bench.path("disk");
    fs::create_dir(&disk).unwrap();
    let Some(mounted) = Mounted::tmpfs(&disk, "size=320k") else {
        // Only root may mount; the test beside this one shows the same for everybody.
        return;
    };
    run_out_of_space(&bench, "disk/run", |args| bench.call(args));
    drop(mounted);
}

/// A run of 400 trials for which there is not enough space at first.
fn run_out_of_space(bench: &Bench, out: &str, confined: impl Fn(&[&str]) -> Called) {
    bench.suite(&[("a", TALK)]);
    let args = [
        "run",
        "suite",
        "--out",
        out,
        "--agent",
        "oracle",
        "--epochs",
        "400",
        "--retries",
        "0",
    ];
    let ended = confined(&args).expect(2);
    let said = ended.stderr();
    let message = format!("agon: can't write results to {out}: ");
    assert_eq!(said.matches(&message).count(), 1, "{said}");
    assert!(
        said.contains("free some space, then go on with: agon run --resume"),
        "{said}"
    );
    let told = said
        .lines()
        .filter(|line| line.contains("] passed"))
        .count();
    let reader = agon::store::RunReader::open(&bench.path(out)).unwrap();
    let kept = reader.trials().unwrap();
    assert!(told > 0 && kept.len() >= told, "{told} of {}", kept.len());

    if let Some(parent) = Path::new(out)
        .parent()
        .filter(|disk| disk.ends_with("disk"))
    {
        let status = Command::new("mount")
            .args(["-o", "remount,size=64m"])
            .arg(bench.path(parent.to_str().unwrap()))
            .status();
        assert!(status.unwrap().success());
    }
    bench.call(&args).expect(0);
    let all = reader.trials().unwrap();
    let passed = |line: &&agon::store::TrialLine| line.outcome == Outcome::Passed;
    for line in kept.iter().filter(passed) {
        assert!(all.contains(line), "{line:?}");
        assert!(!reader.events(line).unwrap().is_empty());
    }
    let mut finals: Vec<u32> = all.iter().filter(|l| l.is_final).map(|l| l.epoch).collect();
    finals.sort_unstable();
    assert_eq!(finals, (1..=400).collect::<Vec<_>>());
    assert_eq!(all.iter().filter(passed).count(), 400);
}

/// A file system of this test's own, gone with it.
struct Mounted(PathBuf);

impl Mounted {
    fn tmpfs(at: &Path, options: &str) -> Option<Self> {
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", options, "tmpfs"])
            .arg(at)
            .stderr(Stdio::null())
            .status();
        mount.ok()?.success().then(|| Self(at.to_owned()))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg(&self.0).status();
        assert!(unmounted.unwrap().success());
    }
}

/// What a run has of the machine: a folder for temporary files that is its own, and a name for the
/// programs it runs, by which they are found again.
struct Ground<'a> {
    bench: &'a Bench,
    temporary: PathBuf,
    mark: String,
    owners: Vec<u32>,
}

impl<'a> Ground<'a> {
    fn new(bench: &'a Bench) -> Self {
        let temporary = bench.path("tmp");
        fs::create_dir(&temporary).unwrap();
        // Sandboxes run under users of their own, who must get there.
        for folder in [bench.path("."), temporary.clone()] {
            fs::set_permissions(folder, Permissions::from_mode(0o711)).unwrap();
        }
        let mark = bench.path("tmp").to_str().unwrap().replace('/', "-");
        Self {
            bench,
            temporary,
            mark,
            owners: Vec::new(),
        }
    }

    /// `agon run suite --out run` and further arguments.
    fn start(&mut self, args: &[&str]) -> Started {
        let mut all = vec!["run", "suite", "--out", "run"];
        all.extend(args);
        let mut child = self
            .bench
            .agon(&all)
            .env("TMPDIR", &self.temporary)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        self.owners.push(child.id());
        let (tell, heard) = channel();
        let words = BufReader::new(child.stderr.take().unwrap());
        std::thread::spawn(move || {
            for line in words.lines() {
                let line = line.unwrap();
                if tell.send(line).is_err() {
                    break;
                }
            }
        });
        Started {
            child,
            heard,
            said: Vec::new(),
        }
    }

    /// Nothing of all that was started here is left.
    fn check_clean(&self) {
        for (pid, command) in self.processes() {
            // Killed ones may need a moment to be gone.
            let Some(handle) =
                Pid::from_raw(pid).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok())
            else {
                continue;
            };
            let limit = Timespec {
                tv_sec: 10,
                tv_nsec: 0,
            };
            let ended = poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&limit));
            assert_eq!(ended, Ok(1), "still running: {command}");
        }
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        let temporary = self.temporary.to_str().unwrap();
        assert!(!mounts.contains(temporary), "{mounts}");
        let groups = self.control_groups(Path::new("/sys/fs/cgroup"));
        assert!(groups.is_empty(), "{groups:?}");
        let left: Vec<_> = fs::read_dir(&self.temporary).unwrap().collect();
        assert!(left.is_empty(), "{left:?}");
    }

    fn processes(&self) -> Vec<(i32, String)> {
        let about = |pid: i32| {
            let read = |what| fs::read(format!("/proc/{pid}/{what}")).unwrap_or_default();
            let command = String::from_utf8_lossy(&read("cmdline")).replace('\0', " ");
            let group = String::from_utf8_lossy(&read("cgroup")).into_owned();
            let ours = command.contains(self.temporary.to_str().unwrap())
                || command.contains(&self.mark)
                || group.lines().any(|line| self.owns(line));
            ours.then_some((pid, command))
        };
        let entries = fs::read_dir("/proc").unwrap().flatten();
        entries
            .filter_map(|entry| about(entry.file_name().to_str()?.parse().ok()?))
            .collect()
    }

    fn control_groups(&self, folder: &Path) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            if self.owns(&entry.file_name().to_string_lossy()) {
                found.push(entry.path());
            }
            found.extend(self.control_groups(&entry.path()));
        }
        found
    }

    /// Whether the last part of a path is a name that one of our processes gave.
    fn owns(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        self.owners
            .iter()
            .any(|pid| name.starts_with(&format!("agon-{pid}-")))
    }
}

/// A run that goes on beside the test.
struct Started {
    child: Child,
    heard: Receiver<String>,
    said: Vec<String>,
}

impl Started {
    /// Waits for a line on standard error.
    #[track_caller]
    fn hear(&mut self, what: &str) {
        loop {
            match self.heard.recv_timeout(HANG) {
                Ok(line) => {
                    let found = line.contains(what);
                    self.said.push(line);
                    if found {
                        return;
                    }
                }
                Err(error) => panic!("`{what}`: {error}: {}", self.said.join("\n")),
            }
        }
    }

    /// Lets it go on for a while. Says whether it came to its end by itself.
    fn ends_within(&mut self, pause: Duration) -> bool {
        let until = Instant::now() + pause;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.heard.recv_timeout(left) {
                Ok(line) => self.said.push(line),
                Err(RecvTimeoutError::Timeout) => return false,
                Err(RecvTimeoutError::Disconnected) => return true,
            }
        }
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, signal).unwrap();
    }

    /// Its status and everything it said.
    fn end(mut self) -> (ExitStatus, Vec<String>) {
        assert!(self.ends_within(HANG), "{}", self.said.join("\n"));
        (self.child.wait().unwrap(), self.said)
    }
}
