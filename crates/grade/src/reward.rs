//! The `reward` check: a script of `verify/`, shown as `/tests`, that writes a number from 0 to 1 to a file,
//! as Harbor's tasks do. Whoever can write that file says the verdict, so the file and everything beside it
//! is made anew first; what its script prints and how it exits is evidence, never a verdict.

use std::sync::Arc;
use std::time::Duration;

use agon_core::Fault;
use agon_core::files::FileTree;
use agon_sandbox::{Exec, ExecOutput, Exit};
use serde_json::Value;

use crate::finding::{Finding, bad_check};
use crate::printed::{READ, kept};
use crate::reason::shown;

/// Where the `verify` tree is while the script runs.
pub(crate) const TESTS: &str = "/tests";

const LOGS: &str = "/logs/verifier";
const TEXT: &str = "/logs/verifier/reward.txt";
const JSON: &str = "/logs/verifier/reward.json";

/// Most bytes of a reward.
pub(crate) const MOST: u64 = 4096;

/// How many replaced programs are named.
const NAMED: usize = 5;

/// For clearing away what was there before.
const CLEARING: Duration = Duration::from_secs(30);

/// Where rewards are looked for.
pub(crate) const FILES: [&str; 2] = [TEXT, JSON];

/// Removes what the agent may have put where tests and rewards go.
pub(crate) fn clear() -> Exec {
    let script = format!("rm -rf {LOGS} {TESTS} && mkdir -p {LOGS} {TESTS}");
    let mut exec = Exec::shell(&script, CLEARING);
    exec.cwd = "/".to_owned();
    exec
}

/// Empty rewards, to be placed by the engine itself: a reward that was planted is gone even where the
/// agent has replaced the programs that should have removed it.
pub(crate) fn blank() -> Result<FileTree, Fault> {
    let mut tree = FileTree::default();
    for path in FILES {
        let inside = path.trim_start_matches('/');
        tree.push_made(inside.into(), Arc::from([]))
            .map_err(bad_check)?;
    }
    Ok(tree)
}

pub(crate) fn exec(
    tree: &FileTree,
    script: &str,
    cwd: Option<&str>,
    timeout: Duration,
) -> Result<Exec, Fault> {
    if tree.find(script.as_ref()).is_none() {
        return Err(bad_check(format!("the task has no tests/{script}")));
    }
    let mut exec = Exec::new(["bash".to_owned(), format!("{TESTS}/{script}")], timeout);
    if let Some(cwd) = cwd {
        cwd.clone_into(&mut exec.cwd);
    }
    exec.keep = READ;
    Ok(exec)
}

/// Tests that rely on programs which the agent put in place of the image's say whatever it likes.
pub(crate) fn replaced(names: &[String]) -> Option<Finding> {
    let more = names.len().saturating_sub(NAMED);
    let mut shown: Vec<String> = names.iter().take(NAMED).map(|name| tame(name)).collect();
    if more > 0 {
        shown.push(format!("{more} more"));
    }
    let sign = format!("programs of the image were replaced: {}", shown.join(", "));
    (!names.is_empty()).then(|| Finding {
        tainted: true,
        ..Finding::tampered(&sign, sign.clone())
    })
}

fn tame(name: &str) -> String {
    name.escape_debug().take(100).collect()
}

/// What the files say once the script has ended; `None` where there is no such file.
pub(crate) fn judge(output: &ExecOutput, [text, json]: [Option<&[u8]>; 2]) -> Finding {
    let finding = match output.exit {
        Exit::TimedOut => Finding::fail("the tests did not end in time"),
        exit => match reward(text, json) {
            Ok(Some(score)) => {
                let reason = format!("the tests' reward is {score}; {exit}");
                Finding::graded(score >= 1.0, score, reason)
            }
            Ok(None) => Finding::fail(format!(
                "the tests wrote no reward to {TEXT} or {JSON}; {exit}"
            )),
            Err(why) => Finding::fail(format!("{why}; {exit}")),
        },
    };
    Finding {
        output: Some(kept(output)),
        ..finding
    }
}

fn reward(text: Option<&[u8]>, json: Option<&[u8]>) -> Result<Option<f64>, String> {
    let written = |file: Option<&[u8]>| {
        let bytes = file.map(<[u8]>::trim_ascii).unwrap_or_default().to_vec();
        (!bytes.is_empty()).then_some(bytes)
    };
    let text = written(text)
        .map(|bytes| in_range(of_text(&bytes), TEXT, &bytes))
        .transpose()?;
    let json = written(json)
        .map(|bytes| in_range(of_json(&bytes), JSON, &bytes))
        .transpose()?;
    match (text, json) {
        (Some(text), Some(json)) if text != json => Err(format!(
            "{TEXT} says {text} and {JSON} says {json}: there can be one reward only"
        )),
        (text, json) => Ok(text.or(json)),
    }
}

/// No number but one from 0 to 1 passes this.
fn in_range(number: Option<f64>, file: &str, bytes: &[u8]) -> Result<f64, String> {
    number
        .filter(|number| (0.0..=1.0).contains(number))
        .ok_or_else(|| format!("{file} is no number from 0 to 1: {}", shown(bytes)))
}

fn of_text(bytes: &[u8]) -> Option<f64> {
    std::str::from_utf8(bytes).ok()?.parse().ok()
}

/// A number, or an object that has one as its only value.
fn of_json(bytes: &[u8]) -> Option<f64> {
    match serde_json::from_slice(bytes).ok()? {
        Value::Number(number) => number.as_f64(),
        Value::Object(object) if object.len() == 1 => object.get("reward")?.as_f64(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use agon_sandbox::Captured;
    use proptest::prelude::*;

    use super::*;

    fn ended(exit: Exit) -> ExecOutput {
        ExecOutput {
            exit,
            stdout: Captured {
                bytes: b"1 passed".to_vec(),
                omitted: 0,
            },
            stderr: Captured::default(),
            verdict: Vec::new(),
        }
    }

    fn score(text: Option<&str>, json: Option<&str>) -> f64 {
        let files = [text.map(str::as_bytes), json.map(str::as_bytes)];
        judge(&ended(Exit::Code(0)), files).score
    }

    #[test]
    fn rewards_are_read_from_either_file() {
        assert_eq!(score(Some("1\n"), None), 1.0);
        assert_eq!(score(Some(" 0.25 "), None), 0.25);
        assert_eq!(score(None, Some("{\"reward\": 0.5}")), 0.5);
        assert_eq!(score(None, Some("1")), 1.0);
        assert_eq!(score(Some("1"), Some("{\"reward\": 1.0}")), 1.0);
        assert_eq!(score(Some("1"), Some("")), 1.0, "an empty file is none");
    }

    #[test]
    fn replaced_programs_are_named_tamely_and_not_all() {
        assert_eq!(replaced(&[]), None);
        let names: Vec<_> = (1..=7).map(|n| format!("/bin/{n}\n")).collect();
        let found = replaced(&names).unwrap();
        assert!(!found.passed && found.tainted);
        let mark = "programs of the image were replaced: \
                    /bin/1\\n, /bin/2\\n, /bin/3\\n, /bin/4\\n, /bin/5\\n, 2 more";
        assert_eq!(found.integrity.as_deref(), Some(mark));
    }

    #[test]
    fn whatever_else_is_there_fails() {
        for text in [
            "nan", "inf", "-0.1", "1.01", "1 1", "true", "1\n1", "0x1", "\u{0}1",
        ] {
            assert_eq!(score(Some(text), None), 0.0, "{text}");
        }
        for json in [
            "{}",
            "[1]",
            "true",
            "\"1\"",
            "{\"reward\": 2}",
            "{\"reward\": \"1\"}",
        ] {
            assert_eq!(score(None, Some(json)), 0.0, "{json}");
        }
        let two = "{\"reward\": 1, \"other\": 0}";
        assert_eq!(score(None, Some(two)), 0.0);
        assert_eq!(score(Some("1"), Some("0")), 0.0, "they must agree");
        assert_eq!(score(Some("1"), Some("?")), 0.0);
        assert_eq!(score(None, None), 0.0);
    }

    #[test]
    fn a_reward_counts_whatever_the_exit_but_not_after_the_deadline() {
        let reward = [Some(&b"1"[..]), None];
        assert!(judge(&ended(Exit::Code(1)), reward).passed);
        let late = judge(&ended(Exit::TimedOut), reward);
        assert!(!late.passed && late.reason.contains("in time"), "{late:?}");
    }

    proptest! {
        #[test]
        fn no_bytes_give_a_score_out_of_range(text: Option<Vec<u8>>, json in "\\PC{0,30}") {
            let found = judge(&ended(Exit::Code(0)), [text.as_deref(), Some(json.as_bytes())]);
            prop_assert!((0.0..=1.0).contains(&found.score));
            prop_assert_eq!(found.passed, found.score >= 1.0);
        }
    }
}
