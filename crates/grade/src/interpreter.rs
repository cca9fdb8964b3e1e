//! By what a script of `verify/` is run. In a local sandbox that is a sealed interpreter, which has the
//! whole script before its first line runs: whatever the script starts may share its user, but can
//! neither look into it nor slip it another line.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use agon_core::Fault;
use agon_core::files::FileEntry;
use agon_sandbox::SEALED;

use crate::finding::bad_check;

/// Most bytes of a `#!` line, as for the kernel.
const LINE: u64 = 256;

/// `.` reads a file to its end before it runs any of it.
const SOURCE: &str = r#". "$0""#;
/// Of other shells, `.` reads as it goes.
const EVALUATE: &str = r#"eval "$(cat -- "$0")""#;

/// How scripts are run at some place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Running {
    /// By a sealed interpreter.
    Sealed,
    /// By whatever the place has.
    Plain,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Interpreter {
    name: String,
    options: Vec<String>,
}

/// The words before a script's own arguments; `script` is where it is in the sandbox.
pub(crate) fn words(
    entry: &FileEntry,
    script: String,
    running: Running,
) -> Result<Vec<String>, Fault> {
    if running == Running::Plain && entry.executable {
        return Ok(vec![script]);
    }
    let shown = entry.path.display();
    let interpreter = of(entry)?.ok_or_else(|| {
        bad_check(format!(
            "verify/{shown} can't be run: give it a `#!` line or let its name end in .sh, .bash \
             or .py"
        ))
    })?;
    if running == Running::Plain {
        return Ok(interpreter.plain(script));
    }
    interpreter.sealed(script).ok_or_else(|| {
        bad_check(format!(
            "verify/{shown} is for `{}`, which can't be kept from what it starts: in a local \
             environment, scripts are run by bash, sh, dash or python3",
            interpreter.name
        ))
    })
}

/// The program that runs a script, if it is known.
pub(crate) fn program(entry: &FileEntry) -> Result<Option<String>, Fault> {
    Ok(of(entry)?.map(|interpreter| interpreter.name))
}

/// Whether it is Python that runs a script.
pub(crate) fn is_python(entry: &FileEntry) -> Result<bool, Fault> {
    let interpreter = of(entry)?;
    Ok(interpreter.is_some_and(|interpreter| interpreter.name.starts_with("python")))
}

fn of(entry: &FileEntry) -> Result<Option<Interpreter>, Fault> {
    let line = first_line(&entry.source).map_err(|error| {
        let shown = entry.path.display();
        bad_check(format!("verify/{shown} can't be read: {error}"))
    })?;
    Ok(named(&line).or_else(|| by_ending(&entry.path)))
}

impl Interpreter {
    fn plain(self, script: String) -> Vec<String> {
        let mut words = vec![self.name];
        words.extend(self.options);
        words.push(script);
        words
    }

    fn sealed(&self, script: String) -> Option<Vec<String>> {
        // Options that end options would make the rest of ours arguments.
        let options = self
            .options
            .iter()
            .filter(|it| !matches!(&***it, "-" | "--"));
        let (before, after): (&[&str], &[&str]) = match &*self.name {
            "bash" => (&[], &["-c", SOURCE]),
            "sh" | "dash" => (&[], &["-c", EVALUATE]),
            // Isolated: nothing is imported from a folder that others can write to.
            "python3" => (&["-I", "-B"], &[]),
            _ => return None,
        };
        let mut words = vec![format!("{SEALED}/{}", self.name)];
        words.extend(before.iter().map(|&word| word.to_owned()));
        words.extend(options.cloned());
        words.extend(after.iter().map(|&word| word.to_owned()));
        words.push(script);
        Some(words)
    }
}

fn first_line(source: &Path) -> io::Result<String> {
    let mut head = Vec::new();
    File::open(source)?.take(LINE).read_to_end(&mut head)?;
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    Ok(String::from_utf8_lossy(line).into_owned())
}

/// From a `#!` line: `#!/bin/bash -e`, `#!/usr/bin/env python3`.
fn named(line: &str) -> Option<Interpreter> {
    let mut words = line.strip_prefix("#!")?.split_ascii_whitespace().peekable();
    let mut name = base(words.next()?);
    if name == "env" {
        words.next_if_eq(&"-S");
        name = base(words.next()?);
    }
    Some(Interpreter {
        name: name.to_owned(),
        options: words.map(str::to_owned).collect(),
    })
}

fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn by_ending(path: &Path) -> Option<Interpreter> {
    let name = match path.extension()?.to_str()? {
        "py" => "python3",
        "bash" => "bash",
        "sh" => "sh",
        _ => return None,
    };
    Some(Interpreter {
        name: name.to_owned(),
        options: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use agon_core::Digest;
    use proptest::prelude::*;

    fn run(path: &str, text: &str, executable: bool, running: Running) -> Result<String, Fault> {
        let mut source = tempfile::NamedTempFile::new().unwrap();
        std::io::Write::write_all(&mut source, text.as_bytes()).unwrap();
        let entry = FileEntry {
            path: path.into(),
            source: source.path().into(),
            executable,
            size: text.len() as u64,
            digest: Digest::of(text.as_bytes()),
        };
        words(&entry, format!("/v/{path}"), running).map(|words| words.join(" "))
    }

    #[test]
    fn a_local_sandbox_has_sealed_interpreters() {
        let sealed = |path, text| run(path, text, true, Running::Sealed).unwrap();
        for (path, text, expected) in [
            ("a", "#!/bin/bash\n", r#"bash -c . "$0" /v/a"#),
            (
                "a",
                "#! /usr/bin/bash -e -u\n",
                r#"bash -e -u -c . "$0" /v/a"#,
            ),
            ("a", "#!/bin/bash --\n", r#"bash -c . "$0" /v/a"#),
            (
                "a.py",
                "#!/bin/sh -e",
                r#"sh -e -c eval "$(cat -- "$0")" /v/a.py"#,
            ),
            ("a.sh", "", r#"sh -c eval "$(cat -- "$0")" /v/a.sh"#),
            ("a.bash", "echo", r#"bash -c . "$0" /v/a.bash"#),
            ("a.py", "import os\n", "python3 -I -B /v/a.py"),
            ("a", "#!/usr/bin/env python3\n", "python3 -I -B /v/a"),
            (
                "a",
                "#!/usr/bin/env -S python3 -u\r\n",
                "python3 -I -B -u /v/a",
            ),
        ] {
            assert_eq!(sealed(path, text), format!("{SEALED}/{expected}"));
        }
    }

    #[test]
    fn other_interpreters_are_refused_there() {
        for text in [
            "#!/usr/bin/perl\n",
            "#!/usr/bin/env -i bash\n",
            "#!/v/own\n",
        ] {
            let fault = run("a.sh", text, true, Running::Sealed).unwrap_err();
            assert!(
                fault.message.contains("bash, sh, dash or python3"),
                "{fault}"
            );
        }
        for text in ["", "#!\n", "#!/usr/bin/env\n", "\u{7f}ELF"] {
            let fault = run("a", text, true, Running::Sealed).unwrap_err();
            assert!(fault.message.contains("`#!` line"), "{fault}");
        }
    }

    #[test]
    fn elsewhere_scripts_run_as_they_are() {
        let plain = |path, text, executable| run(path, text, executable, Running::Plain).unwrap();
        assert_eq!(plain("a", "#!/usr/bin/perl\n", true), "/v/a");
        assert_eq!(
            plain("a.pl", "#!/usr/bin/perl -w\n", false),
            "perl -w /v/a.pl"
        );
        assert_eq!(plain("a.py", "", false), "python3 /v/a.py");
    }

    proptest! {
        #[test]
        fn no_line_leads_out_of_the_sealed_folder(line in "#! ?[/a-z .-]{0,40}") {
            if let Ok(words) = run("a", &line, true, Running::Sealed) {
                let known = ["bash ", "sh ", "dash ", "python3 "];
                let rest = words.strip_prefix(&format!("{SEALED}/")).unwrap();
                prop_assert!(known.iter().any(|name| rest.starts_with(name)), "{words}");
            }
        }
    }
}
