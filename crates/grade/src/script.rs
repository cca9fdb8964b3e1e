//! The `script` check: a program of `verify/` that says its verdict over descriptor 3, as one JSON
//! line with the nonce that it read from its standard input. What it prints is evidence, never a
//! verdict, and what comes over the descriptor without the nonce is a forgery.

use agon_core::files::FileTree;
use agon_core::{Fault, FaultClass};
use agon_sandbox::{Exec, ExecOutput, Exit};
use rand::TryRng;
use rand::rngs::SysRng;
use serde::Deserialize;
use std::path::Path;
use std::time::Duration;

use crate::command::{KEEP, printed};
use crate::finding::{Finding, bad_check};
use crate::reason::shown;

/// Where the `verify` tree is found in a fresh sandbox. Inside of the agent's own environment it has
/// an unpredictable name instead; scripts get it as `AGON_VERIFY` in both.
pub const VERIFY: &str = "/tmp/verify";

const FORGED: &str = "forged verdict";

/// 128 random bits that only the script learns.
#[derive(Debug, Clone)]
pub(crate) struct Nonce(String);

impl Nonce {
    pub(crate) fn draw() -> Result<Self, Fault> {
        let mut bytes = [0; 16];
        SysRng
            .try_fill_bytes(&mut bytes)
            .map_err(|error| Fault::new(FaultClass::Internal, format!("no randomness: {error}")))?;
        Ok(Self(hex::encode(bytes)))
    }

    pub(crate) fn text(&self) -> &str {
        &self.0
    }
}

/// How the script at `path` of the `verify` tree is started once the tree is at `verify`.
pub(crate) fn exec(
    tree: &FileTree,
    verify: &str,
    path: &str,
    args: &[String],
    nonce: &Nonce,
    timeout: Duration,
) -> Result<Exec, Fault> {
    let entry = tree
        .find(Path::new(path))
        .ok_or_else(|| bad_check(format!("the task has no verify/{path}")))?;
    let interpreter = match entry.path.extension().and_then(|ending| ending.to_str()) {
        _ if entry.executable => None,
        Some("py") => Some("python3"),
        Some("bash") => Some("bash"),
        Some("sh") => Some("sh"),
        _ => {
            return Err(bad_check(format!(
                "verify/{path} can't be run: make it executable or let its name end in .sh or .py"
            )));
        }
    };
    let argv = interpreter
        .map(str::to_owned)
        .into_iter()
        .chain([format!("{verify}/{path}")])
        .chain(args.iter().cloned());
    let mut exec = Exec::new(argv, timeout);
    exec.stdin = format!("{}\n", nonce.text()).into_bytes();
    exec.env = [("AGON_VERIFY", verify), ("PYTHONDONTWRITEBYTECODE", "1")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
    exec.keep = KEEP;
    exec.verdict_channel = true;
    Ok(exec)
}

/// The one line that a script writes to descriptor 3.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    nonce: String,
    score: f64,
    #[serde(default)]
    passed: Option<bool>,
    #[serde(default)]
    reason: String,
}

/// What the script said, or why nothing it may have said counts.
pub(crate) fn judge(nonce: &Nonce, output: &ExecOutput) -> Result<Finding, Fault> {
    let finding = match lines(&output.verdict)[..] {
        [] => silent(output)?,
        ref lines if lines.iter().any(|line| !is_ours(line, nonce)) => Finding::tampered(
            FORGED,
            format!(
                "something without the nonce was written to the verdict descriptor: {}",
                shown(&output.verdict)
            ),
        ),
        [line] => said(line, nonce)?,
        _ => {
            return Err(bad_check(format!(
                "the script said more than one verdict{}",
                evidence(output)
            )));
        }
    };
    Ok(Finding {
        reason: format!("{}{}", finding.reason, evidence(output)),
        ..finding
    })
}

fn lines(channel: &[u8]) -> Vec<&[u8]> {
    channel
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.trim_ascii().is_empty())
        .collect()
}

/// Only the script knows the nonce, so a line that holds it is the script's own, well made or not.
fn is_ours(line: &[u8], nonce: &Nonce) -> bool {
    match serde_json::from_slice::<Record>(line) {
        Ok(record) => record.nonce == nonce.text(),
        Err(_) => line
            .windows(nonce.text().len())
            .any(|window| window == nonce.text().as_bytes()),
    }
}

fn said(line: &[u8], nonce: &Nonce) -> Result<Finding, Fault> {
    let record: Record = serde_json::from_slice(line).map_err(|error| {
        let line = String::from_utf8_lossy(line).replace(nonce.text(), "NONCE");
        bad_check(format!(
            "the script's verdict can't be read ({error}): {}",
            shown(line.as_bytes())
        ))
    })?;
    // No number but one from 0 to 1 passes this, whatever JSON readers make of it.
    if !(0.0..=1.0).contains(&record.score) {
        return Err(bad_check(format!(
            "the script's score {} is not from 0 to 1",
            record.score
        )));
    }
    let passed = record.passed.unwrap_or(record.score >= 1.0);
    if (passed && record.score == 0.0) || (!passed && record.score >= 1.0) {
        return Err(bad_check(format!(
            "the script contradicts itself: passed {passed} with score {}",
            record.score
        )));
    }
    let reason = match record.reason.trim() {
        "" => format!("the script's score is {}", record.score),
        reason => reason.to_owned(),
    };
    Ok(Finding::graded(passed, record.score, reason))
}

/// No verdict. What the agent left behind may have hung or killed the script, which is no fault; a
/// script that ends by itself without a word is broken.
fn silent(output: &ExecOutput) -> Result<Finding, Fault> {
    match output.exit {
        Exit::TimedOut => Ok(Finding::fail("the script did not end in time")),
        Exit::Signal(signal) => Ok(Finding::fail(format!(
            "the script was killed by signal {signal} before it said a verdict"
        ))),
        Exit::Code(code) => Err(bad_check(format!(
            "the script said no verdict (exit status {code}{}): it must write one JSON line to \
             descriptor 3",
            evidence(output)
        ))),
    }
}

fn evidence(output: &ExecOutput) -> String {
    printed("stdout", &output.stdout) + &printed("stderr", &output.stderr)
}

#[cfg(test)]
mod tests {
    use super::*;
    use agon_core::Digest;
    use agon_core::files::FileEntry;
    use agon_sandbox::Captured;
    use proptest::prelude::*;

    fn output(exit: Exit, verdict: impl Into<Vec<u8>>) -> ExecOutput {
        ExecOutput {
            exit,
            stdout: Captured::default(),
            stderr: Captured::default(),
            verdict: verdict.into(),
        }
    }

    fn nonce() -> Nonce {
        Nonce("00112233445566778899aabbccddeeff".to_owned())
    }

    fn judged(verdict: &str) -> Result<Finding, Fault> {
        let verdict = verdict.replace("NONCE", nonce().text());
        judge(&nonce(), &output(Exit::Code(0), verdict))
    }

    #[test]
    fn nonces_differ() {
        let (one, other) = (Nonce::draw().unwrap(), Nonce::draw().unwrap());
        assert_eq!(one.text().len(), 32);
        assert_ne!(one.text(), other.text());
    }

    #[test]
    fn a_score_below_one_is_partial_and_fails_unless_said_otherwise() {
        let part = judged(r#"{"nonce":"NONCE","score":0.25,"reason":"1 of 4"}"#).unwrap();
        assert_eq!((part.passed, part.score), (false, 0.25));
        let enough = judged(r#"{"nonce":"NONCE","score":0.9,"passed":true}"#).unwrap();
        assert_eq!((enough.passed, enough.score), (true, 0.9));
    }

    #[test]
    fn a_broken_verdict_of_the_script_is_a_fault() {
        for broken in [
            r#"{"nonce":"NONCE","score":1.5}"#,
            r#"{"nonce":"NONCE","score":-0.1}"#,
            r#"{"nonce":"NONCE","score":NaN}"#,
            r#"{"nonce":"NONCE","score":1e999}"#,
            r#"{"nonce":"NONCE","score":"1"}"#,
            r#"{"nonce":"NONCE","score":1,"score":1}"#,
            r#"{"nonce":"NONCE","score":1,"extra":1}"#,
            r#"{"nonce":"NONCE","score":1,"passed":false}"#,
            r#"{"nonce":"NONCE","score":0,"passed":true}"#,
            r#"{"nonce":"NONCE"}"#,
            "{\"nonce\":\"NONCE\",\"score\":1}\n{\"nonce\":\"NONCE\",\"score\":1}",
        ] {
            let fault = judged(broken).expect_err(broken);
            assert_eq!(fault.class, FaultClass::Check);
            assert!(!fault.message.contains(nonce().text()), "{fault}");
        }
    }

    #[test]
    fn a_forged_line_beside_a_real_one_spoils_it() {
        let both = "{\"nonce\":\"NONCE\",\"score\":1}\n{\"nonce\":\"guessed\",\"score\":1}\n";
        let finding = judged(both).unwrap();
        assert!(!finding.passed);
        assert_eq!(finding.integrity.as_deref(), Some(FORGED));
    }

    #[test]
    fn silence_is_a_fault_unless_the_agent_can_have_caused_it() {
        assert!(judge(&nonce(), &output(Exit::Code(0), "")).is_err());
        assert!(judge(&nonce(), &output(Exit::Code(1), "\n")).is_err());
        for exit in [Exit::TimedOut, Exit::Signal(9)] {
            assert!(!judge(&nonce(), &output(exit, "")).unwrap().passed);
        }
    }

    #[test]
    fn scripts_run_by_shebang_or_by_ending() {
        let mut tree = FileTree::default();
        for (path, executable) in [
            ("run", true),
            ("a.py", false),
            ("b.sh", false),
            ("c", false),
        ] {
            tree.push(FileEntry {
                path: path.into(),
                source: path.into(),
                executable,
                size: 0,
                digest: Digest::of(b""),
            })
            .unwrap();
        }
        let argv = |path: &str| {
            exec(&tree, VERIFY, path, &["x".into()], &nonce(), Duration::ZERO).map(|exec| exec.argv)
        };
        assert_eq!(argv("run").unwrap(), ["/tmp/verify/run", "x"]);
        assert_eq!(argv("a.py").unwrap(), ["python3", "/tmp/verify/a.py", "x"]);
        assert_eq!(argv("b.sh").unwrap(), ["sh", "/tmp/verify/b.sh", "x"]);
        assert!(argv("c").is_err());
        assert!(argv("../b.sh").is_err());
    }

    proptest! {
        #[test]
        fn nothing_without_the_nonce_ever_passes(
            bytes in prop::collection::vec(any::<u8>(), 0..200),
            guess in "[0-9a-f]{32}",
            score in 0.0..=1.0,
        ) {
            prop_assume!(guess != nonce().text());
            let forged = format!("{{\"nonce\":\"{guess}\",\"score\":{score}}}\n");
            for verdict in [bytes.clone(), forged.clone().into_bytes(), [forged.into_bytes(), bytes].concat()] {
                if let Ok(finding) = judge(&nonce(), &output(Exit::Code(0), verdict)) {
                    prop_assert!(!finding.passed);
                }
            }
        }
    }
}
