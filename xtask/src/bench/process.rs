//! Runs a program from outside and measures it: wall-clock time, the most memory it ever held and what
//! it wrote.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::machine::field;
use crate::failure::{Failure, Trying};

/// The kernel keeps the high-water mark itself; it only has to be read before the process is gone.
const READ_MEMORY_EVERY: Duration = Duration::from_millis(10);
const LONGEST: Duration = Duration::from_secs(1800);

#[derive(Debug)]
pub(super) struct Measured {
    pub(super) seconds: f64,
    pub(super) peak_mb: f64,
    pub(super) written: Written,
    pub(super) stdout: String,
    pub(super) success: bool,
}

/// Bytes that a process wrote: the sum over its threads, because the count of the whole process holds those
/// of children too, and an X server writes to sockets. Read while they live: what a thread wrote after it
/// was looked at last is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Written {
    /// Handed over by calls of `write(2)` and its kin: to files, pipes, sockets and memory alike.
    pub(super) by_calls: u64,
    /// In whole pages that were made to go to a disk, without those of files that were gone before.
    /// A page that is written again after it went there counts again.
    pub(super) to_disks: u64,
}

/// Runs `command` to its end. Standard output is kept; its closing is taken as the end.
pub(super) fn measure(command: &mut Command) -> Result<Measured, Failure> {
    let program = command.get_program().to_string_lossy().into_owned();
    let running = format!("run {program}");
    let started = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .trying(&running)?;
    let stdout = child.stdout.take();
    let (send, ended) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        let result = stdout.map_or(Ok(0), |mut pipe| pipe.read_to_string(&mut text));
        let _ = send.send(result.map(|_| text));
    });
    let mut peak_kib = 0;
    let mut threads = HashMap::new();
    let stdout = loop {
        look_at_threads(child.id(), &mut threads);
        peak_kib = peak_kib.max(high_water_kib(child.id()).unwrap_or(0));
        match ended.recv_timeout(READ_MEMORY_EVERY) {
            Ok(text) => break text.trying(&running)?,
            Err(RecvTimeoutError::Timeout) if started.elapsed() < LONGEST => {}
            Err(_) => {
                child.kill().trying(format!("end {program}"))?;
                child.wait().trying(format!("end {program}"))?;
                return Err(Failure::new(format!("{program} ran for too long")));
            }
        }
    };
    look_at_threads(child.id(), &mut threads);
    let written = threads
        .values()
        .fold(Written::default(), |sum, one: &Written| Written {
            by_calls: sum.by_calls + one.by_calls,
            to_disks: sum.to_disks + one.to_disks,
        });
    let status = child.wait().trying(&running)?;
    let seconds = started.elapsed().as_secs_f64();
    let _ = reader.join();
    Ok(Measured {
        seconds,
        peak_mb: peak_kib as f64 / 1024.0,
        written,
        stdout,
        success: status.success(),
    })
}

/// Notes what each thread has written so far.
fn look_at_threads(pid: u32, threads: &mut HashMap<OsString, Written>) {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task"));
    for task in tasks.into_iter().flatten().flatten() {
        let io = std::fs::read_to_string(task.path().join("io"));
        if let Some(written) = io.ok().as_deref().and_then(written) {
            threads.insert(task.file_name(), written);
        }
    }
}

fn high_water_kib(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    field(&status, "VmHWM")?
        .trim_end_matches(" kB")
        .parse()
        .ok()
}

fn written(io: &str) -> Option<Written> {
    let count = |name| field(io, name)?.parse::<u64>().ok();
    Some(Written {
        by_calls: count("wchar")?,
        to_disks: count("write_bytes")?.saturating_sub(count("cancelled_write_bytes")?),
    })
}

pub(super) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 {
        values.get(middle).copied()
    } else {
        Some((values.get(middle.checked_sub(1)?)? + values.get(middle)?) / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_status_and_memory_are_seen() {
        let script = "x=$(head -c 30000000 /dev/zero | tr '\\0' a); printf %s $x >/dev/null; \
                      echo ${#x}; exit 3";
        let measured = measure(Command::new("bash").args(["-c", script])).unwrap();
        assert_eq!(measured.stdout, "30000000\n");
        assert!(!measured.success);
        assert!(measured.peak_mb > 28.0, "{}", measured.peak_mb);
        // Its own, and not what its children wrote to each other.
        let written = measured.written.by_calls;
        assert!((30_000_000..60_000_000).contains(&written), "{written}");
    }

    #[test]
    fn what_was_removed_before_it_went_to_a_disk_is_not_counted() {
        let io = "rchar: 1\nwchar: 900\nsyscr: 2\nsyscw: 3\nread_bytes: 4\nwrite_bytes: 12288\n\
                  cancelled_write_bytes: 4096\n";
        let expected = Written {
            by_calls: 900,
            to_disks: 8192,
        };
        assert_eq!(written(io), Some(expected));
        assert_eq!(written("wchar: 1\n"), None);
    }

    #[test]
    fn a_program_that_is_not_there_is_a_failure() {
        let error = measure(&mut Command::new("/nonexistent")).unwrap_err();
        assert!(error.to_string().contains("/nonexistent"));
    }

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(Vec::new()), None);
    }
}
