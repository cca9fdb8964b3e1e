//! What the person in front of the terminal sees: lines, and steps with their time.

use std::fmt::Display;
use std::io::Write;
use std::process::Command;
use std::time::Instant;

use crate::failure::{Failure, Trying};

/// A line on standard output. A reader that went away is no reason to stop the work.
pub(crate) fn say(text: impl Display) {
    let _ = writeln!(std::io::stdout().lock(), "{text}");
}

/// A line on standard error.
pub(crate) fn complain(text: impl Display) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Does one named step and says how long it took.
pub(crate) fn step<T>(name: &str, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    say(format!("==> {name}"));
    let started = Instant::now();
    let result = work();
    let how = if result.is_ok() { "done" } else { "FAILED" };
    say(format!(
        "    {how} in {:.1} s: {name}",
        started.elapsed().as_secs_f64()
    ));
    result
}

/// Runs a program to its end; anything but success is a failure.
pub(crate) fn succeed(command: &mut Command) -> Result<(), Failure> {
    let line = command_line(command);
    let status = command.status().trying(format!("start `{line}`"))?;
    if status.success() {
        Ok(())
    } else {
        Err(Failure::new(format!("`{line}` failed: {status}")))
    }
}

/// What a program writes to standard output, once it has ended well.
pub(crate) fn output(command: &mut Command) -> Result<String, Failure> {
    let line = command_line(command);
    let output = command
        .stderr(std::process::Stdio::inherit())
        .output()
        .trying(format!("start `{line}`"))?;
    if !output.status.success() {
        return Err(Failure::new(format!("`{line}` failed: {}", output.status)));
    }
    String::from_utf8(output.stdout).trying(format!("read the output of `{line}`"))
}

fn command_line(command: &Command) -> String {
    std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(|word| word.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ")
}
