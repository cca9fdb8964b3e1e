//! Where the time of a test run went: reads the JUnit file that nextest writes. Knows nothing of what
//! the tests do.

use std::path::{Path, PathBuf};

use crate::console::say;
use crate::failure::{Failure, Trying};
use crate::workspace;

/// How many tests are named.
const SLOWEST: usize = 30;

#[derive(Debug, Clone, PartialEq)]
struct Timing {
    /// The test executable and the test in it.
    name: String,
    seconds: f64,
}

/// Where nextest writes the file of a profile. One of an earlier run is removed first: its figures must
/// never stand for those of this run.
pub(crate) fn prepare(profile: &str) -> Result<PathBuf, Failure> {
    let path = workspace::root().join(format!("target/nextest/{profile}/junit.xml"));
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).trying(format!("remove {}", path.display()))
        }
        _ => Ok(path),
    }
}

/// Prints the slowest tests and the sum of all.
pub(crate) fn print(junit: &Path) -> Result<(), Failure> {
    let text = std::fs::read_to_string(junit)
        .trying(format!("read the timings in {}", junit.display()))?;
    for line in summary(read(&text)) {
        say(line);
    }
    Ok(())
}

fn summary(mut timings: Vec<Timing>) -> Vec<String> {
    timings.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    let all: f64 = timings.iter().map(|timing| timing.seconds).sum();
    let slowest = &timings[..timings.len().min(SLOWEST)];
    let share: f64 = slowest.iter().map(|timing| timing.seconds).sum();
    let head = format!(
        "the {} slowest of {} tests take {share:.0} of {all:.0} s:",
        slowest.len(),
        timings.len()
    );
    let rows = slowest
        .iter()
        .map(|timing| format!("{:>8.1} s  {}", timing.seconds, timing.name));
    std::iter::once(head).chain(rows).collect()
}

/// Every `testcase` of a JUnit file. nextest writes each with its attributes on one line.
fn read(junit: &str) -> Vec<Timing> {
    let cases = junit
        .split("<testcase ")
        .skip(1)
        .filter_map(|rest| rest.split('>').next());
    cases
        .filter_map(|case| {
            let name = format!(
                "{} {}",
                attribute(case, "classname")?,
                attribute(case, "name")?
            );
            let seconds = attribute(case, "time")?.parse().ok()?;
            Some(Timing { name, seconds })
        })
        .collect()
}

fn attribute<'a>(case: &'a str, key: &str) -> Option<&'a str> {
    let start = format!(" {key}=\"");
    // The first attribute follows the name of the element, which is cut off.
    let (_, rest) = match case.strip_prefix(&start[1..]) {
        Some(rest) => ("", rest),
        None => case.split_once(&start)?,
    };
    rest.split('"').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    const JUNIT: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="nextest-run" tests="2" time="3.5">
  <testsuite name="agon::cli" tests="2">
    <testcase name="killed::slow" classname="agon::cli" timestamp="2026-11-18T00:00:00" time="2.500">
    </testcase>
    <testcase name="quick" classname="agon-core" time="0.250">
      <failure message="x &lt;testcase" type="t">text</failure>
    </testcase>
  </testsuite>
</testsuites>"#;

    #[test]
    fn every_test_is_read_with_its_time() {
        let timing = |name: &str, seconds| Timing {
            name: name.to_owned(),
            seconds,
        };
        assert_eq!(
            read(JUNIT),
            [
                timing("agon::cli killed::slow", 2.5),
                timing("agon-core quick", 0.25)
            ]
        );
    }

    #[test]
    fn the_slowest_come_first_and_only_thirty_of_them() {
        let timings = (0..40).map(|index| Timing {
            name: format!("test {index}"),
            seconds: f64::from(index),
        });
        let lines = summary(timings.collect());
        assert_eq!(lines.len(), SLOWEST + 1);
        assert_eq!(lines[0], "the 30 slowest of 40 tests take 735 of 780 s:");
        assert!(lines[1].ends_with("test 39") && lines[30].ends_with("test 10"));
    }
}
