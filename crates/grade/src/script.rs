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

use crate::finding::{Finding, bad_check};
use crate::interpreter::{self, Running};
use crate::printed::{READ, kept};
use crate::reason::shown;

/// What the name of the folder begins with where the `verify` tree is found.
const VERIFY: &str = "/tmp/verify-";

const FORGED: &str = "forged verdict";

const WORDLESS: &str =
    "the script ended without a verdict: it must write one JSON line to descriptor 3";

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

/// Where a `verify` tree goes; scripts get it as `AGON_VERIFY`. Nobody can have put anything there before, or
/// have left a link that leads there.
pub(crate) fn place(nonce: &Nonce) -> String {
    // A digest, because the nonce itself must stay between us and the script.
    let name = agon_core::Digest::of(nonce.text().as_bytes()).short();
    format!("{VERIFY}{name}")
}

/// Variables for shell scripts that run in a folder of the agent's: the Python that they call imports no
/// file from there, from `python3 -c` and `python3 -m` on. Python scripts don't get them: those start with
/// a path of their own, and the programs that they run for the agent may want their own folder.
pub fn careful_python() -> impl Iterator<Item = (String, String)> {
    [
        "PYTHONDONTWRITEBYTECODE",
        "PYTHONNOUSERSITE",
        "PYTHONSAFEPATH",
    ]
    .into_iter()
    .map(|name| (name.to_owned(), "1".to_owned()))
}

/// How the script at `path` of the `verify` tree is started once the tree is at `verify`.
pub(crate) fn exec(
    tree: &FileTree,
    verify: &str,
    path: &str,
    args: &[String],
    nonce: &Nonce,
    timeout: Duration,
    running: Running,
) -> Result<Exec, Fault> {
    let entry = tree
        .find(Path::new(path))
        .ok_or_else(|| bad_check(format!("the task has no verify/{path}")))?;
    let mut argv = interpreter::words(entry, format!("{verify}/{path}"), running)?;
    argv.extend(args.iter().cloned());
    let mut exec = Exec::new(argv, timeout);
    exec.stdin = format!("{}\n", nonce.text()).into_bytes();
    exec.env = [("AGON_VERIFY", verify), ("PYTHONDONTWRITEBYTECODE", "1")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
    if !interpreter::is_python(entry)? {
        exec.env.extend(careful_python());
    }
    exec.keep = READ;
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

/// What the script said, or why nothing it may have said counts. Only the script knows the nonce, but
/// whoever it starts may write into its line; so whatever is not exactly one verdict is no mistake of
/// the script's.
pub(crate) fn judge(nonce: &Nonce, output: &ExecOutput) -> Finding {
    let finding = match lines(&output.verdict)[..] {
        [] => silent(output),
        [line] => said(line, nonce).unwrap_or_else(|why| forged(&why, nonce, output)),
        _ => forged("it has more than one line", nonce, output),
    };
    Finding {
        output: Some(kept(output)),
        ..finding
    }
}

fn lines(channel: &[u8]) -> Vec<&[u8]> {
    channel
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.trim_ascii().is_empty())
        .collect()
}

fn forged(why: &str, nonce: &Nonce, output: &ExecOutput) -> Finding {
    let found = shown(&output.verdict);
    let reason = format!("what came over the verdict descriptor is no verdict ({why}): {found}");
    Finding::tampered(FORGED, reason.replace(nonce.text(), "NONCE"))
}

fn said(line: &[u8], nonce: &Nonce) -> Result<Finding, String> {
    let record: Record = serde_json::from_slice(line).map_err(|error| error.to_string())?;
    if record.nonce != nonce.text() {
        return Err("the nonce is another".to_owned());
    }
    let score = record.score;
    // No number but one from 0 to 1 passes this, whatever JSON readers make of it.
    if !(0.0..=1.0).contains(&score) {
        return Err(format!("score {score} is not from 0 to 1"));
    }
    let passed = record.passed.unwrap_or(score >= 1.0);
    if (passed && score == 0.0) || (!passed && score >= 1.0) {
        return Err(format!("passed is {passed} with score {score}"));
    }
    let reason = match record.reason.trim() {
        "" => format!("the script's score is {score}"),
        reason => reason.to_owned(),
    };
    Ok(Finding::graded(passed, score, reason))
}

/// No verdict. That a script works is proven before agents play (by a solution that passes), so one
/// that hangs, dies or breaks has run into what the agent left behind; and so has one that ends in
/// peace, for whoever it starts may shut its descriptor. Whether it could begin at all is for whoever
/// knows what the image has: see [`never_began`].
fn silent(output: &ExecOutput) -> Finding {
    let stderr = ending(&output.stderr.bytes);
    match output.exit {
        Exit::Code(0) => Finding::fail(format!("{WORDLESS}{stderr}")),
        exit => Finding::fail(format!("no verdict of the script: {exit}{stderr}")),
    }
}

/// Whether it looks, as shells say it, as if the script was never started. A sealed interpreter was, or
/// we would have heard of it.
pub(crate) fn never_began(output: &ExecOutput, running: Running) -> bool {
    running == Running::Plain
        && matches!(output.exit, Exit::Code(126 | 127))
        && lines(&output.verdict).is_empty()
}

/// The last lines of standard error, where tracebacks say what happened.
fn ending(stderr: &[u8]) -> String {
    let stderr = String::from_utf8_lossy(stderr);
    let lines: Vec<&str> = stderr.trim_end().lines().map(str::trim).collect();
    match &lines[lines.len().saturating_sub(2)..] {
        [] => String::new(),
        last => format!(", stderr ends {}", shown(last.join("\n").as_bytes())),
    }
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

    fn judged(verdict: &str) -> Finding {
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
        let part = judged(r#"{"nonce":"NONCE","score":0.25,"reason":"1 of 4"}"#);
        assert_eq!((part.passed, part.score), (false, 0.25));
        let enough = judged(r#"{"nonce":"NONCE","score":0.9,"passed":true}"#);
        assert_eq!((enough.passed, enough.score), (true, 0.9));
    }

    #[test]
    fn whatever_is_not_exactly_one_verdict_is_tampering() {
        for other in [
            "x",
            r#"x{"nonce":"NONCE","score":1}"#,
            r#"{"nonce":"NONCE","score":1}x"#,
            "x\n{\"nonce\":\"NONCE\",\"score\":1}",
            "{\"nonce\":\"NONCE\",\"score\":1}\n{\"nonce\":\"guessed\",\"score\":1}\n",
            "{\"nonce\":\"NONCE\",\"score\":1}\n{\"nonce\":\"NONCE\",\"score\":1}",
            r#"{"nonce":"NONCE","score":1}{"nonce":"NONCE","score":1}"#,
            r#"{"nonce":"NONCE","nonce":"NONCE","score":1}"#,
            r#"{"nonce":"guessed","score":1,"reason":"NONCE"}"#,
            r#"{"nonce":"NONCE","score":1.5}"#,
            r#"{"nonce":"NONCE","score":-0.1}"#,
            r#"{"nonce":"NONCE","score":NaN}"#,
            r#"{"nonce":"NONCE","score":1e999}"#,
            r#"{"nonce":"NONCE","score":"NONCE"}"#,
            r#"{"nonce":"NONCE","score":1,"score":1}"#,
            r#"{"nonce":"NONCE","score":1,"NONCE":1}"#,
            r#"{"nonce":"NONCE","score":1,"passed":false}"#,
            r#"{"nonce":"NONCE","score":0,"passed":true}"#,
            r#"{"nonce":"NONCE"}"#,
        ] {
            let finding = judged(other);
            assert_eq!((finding.passed, finding.score), (false, 0.0), "{other}");
            assert_eq!(finding.integrity.as_deref(), Some(FORGED), "{other}");
            assert!(!finding.reason.contains(nonce().text()), "{finding:?}");
        }
    }

    #[test]
    fn white_space_says_nothing() {
        assert!(judged("\n \n{\"nonce\":\"NONCE\",\"score\":1} \r\n\n").passed);
        let silence = judge(&nonce(), &output(Exit::Code(0), " \n\n"));
        assert!(!silence.passed && silence.integrity.is_none());
    }

    #[test]
    fn a_script_without_a_verdict_has_failed() {
        for exit in [
            Exit::TimedOut,
            Exit::Signal(9),
            Exit::Code(0),
            Exit::Code(1),
            Exit::Code(127),
        ] {
            let mut output = output(exit, "\n");
            let lines: Vec<_> = (1..=9).map(|line| format!("  line {line}\n")).collect();
            output.stderr.bytes = lines.concat().into();
            let finding = judge(&nonce(), &output);
            assert!(!finding.passed && finding.integrity.is_none());
            let end = r#"stderr ends "line 8\nline 9""#;
            assert!(finding.reason.ends_with(end), "{}", finding.reason);
            assert!(finding.output.unwrap().stderr.starts_with("  line 1\n"));
        }
    }

    #[test]
    fn only_a_plain_script_may_never_have_begun() {
        for (code, began) in [(0, true), (1, true), (126, false), (127, false)] {
            let silence = output(Exit::Code(code), "");
            assert_eq!(never_began(&silence, Running::Plain), !began, "{code}");
            assert!(!never_began(&silence, Running::Sealed));
            let said = output(Exit::Code(code), "x");
            assert!(!never_began(&said, Running::Plain));
        }
    }

    #[test]
    fn a_script_is_started_with_the_nonce_and_its_arguments() {
        let mut tree = FileTree::default();
        tree.push(FileEntry {
            path: "a.py".into(),
            source: concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml").into(),
            executable: true,
            size: 0,
            digest: Digest::of(b""),
        })
        .unwrap();
        let started = |path: &str, running| {
            let args = ["x".to_owned()];
            exec(
                &tree,
                "/tmp/verify",
                path,
                &args,
                &nonce(),
                Duration::ZERO,
                running,
            )
        };
        let plain = started("a.py", Running::Plain).unwrap();
        assert_eq!(plain.argv, ["/tmp/verify/a.py", "x"]);
        assert!(plain.verdict_channel);
        assert_eq!(plain.stdin, format!("{}\n", nonce().text()).into_bytes());
        let sealed = started("a.py", Running::Sealed).unwrap();
        assert_eq!(sealed.argv[0], format!("{}/python3", agon_sandbox::SEALED));
        assert_eq!(sealed.argv[3..], ["/tmp/verify/a.py", "x"]);
        assert!(!plain.env.contains_key("PYTHONSAFEPATH"));
        assert!(started("../a.py", Running::Plain).is_err());
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
                prop_assert!(!judge(&nonce(), &output(Exit::Code(0), verdict)).passed);
            }
        }
    }
}
