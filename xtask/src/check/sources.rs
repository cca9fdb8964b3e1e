//! What every source file must look like: it says what it is for, it is short, its name is a noun
//! of the domain, and the files that only declare modules hold no code.

use std::path::{Path, PathBuf};

use super::Finding;
use crate::failure::{Failure, Trying};

const LONGEST_BODY: usize = 800;
const LONGEST_TEST: usize = 800;
/// Names that say nothing about what is inside.
const EMPTY_NAMES: [&str; 8] = [
    "util", "utils", "common", "manager", "helper", "helpers", "imp", "misc",
];
/// The one file that maps memory; the lint is only `deny` so that this file can exist.
const UNSAFE: &str = "crates/desktop/src/x11/shared_memory.rs";
const FOLDERS: [&str; 4] = ["crates", "xtask", "examples", "local"];

/// How the lint against `unsafe` is lifted, on one line or on several.
fn lifts_unsafe(line: &str) -> bool {
    const LINT: &str = concat!("unsafe", "_code");
    let attribute = format!("({LINT}");
    line.contains(&attribute) || line.trim_start().starts_with(&format!("{LINT},"))
}

/// Every Rust source of the workspace, relative to its root.
pub(super) fn files(root: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    let mut folders: Vec<PathBuf> = FOLDERS.map(|name| root.join(name)).to_vec();
    while let Some(folder) = folders.pop() {
        if !folder.is_dir() {
            continue;
        }
        let listing = format!("list {}", folder.display());
        for entry in std::fs::read_dir(&folder).trying(&listing)? {
            let entry = entry.trying(&listing)?;
            let path = entry.path();
            if entry.file_type().trying(&listing)?.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path.strip_prefix(root).unwrap_or(&path).to_path_buf());
            }
        }
    }
    files.sort();
    Ok(files)
}

pub(super) fn check(file: &Path, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut find = |line, message: String| findings.push(Finding::new(file, line, message));
    if let Some(name) = empty_name(file) {
        find(
            1,
            format!("`{name}` says nothing: name it after what is inside"),
        );
    }
    if !text.starts_with("//!") {
        find(
            1,
            "start with `//!`: what this file is for, and what it must not know".to_owned(),
        );
    }
    let (length, longest) = if is_test(file) {
        (text.lines().count(), LONGEST_TEST)
    } else {
        (body_length(text), LONGEST_BODY)
    };
    if length > longest {
        find(
            longest + 1,
            format!("{length} lines, at most {longest} are allowed: split it by concept"),
        );
    }
    if file != Path::new(UNSAFE)
        && let Some(line) = text.lines().position(lifts_unsafe)
    {
        find(line + 1, format!("`unsafe` belongs in {UNSAFE} alone"));
    }
    if file.ends_with("lib.rs") || file.ends_with("mod.rs") {
        for (index, line) in text.lines().enumerate() {
            if is_code(line) {
                find(
                    index + 1,
                    "only declarations, re-exports and docs belong here".to_owned(),
                );
            }
        }
    }
    findings
}

fn empty_name(file: &Path) -> Option<&'static str> {
    let without_extension = file.with_extension("");
    EMPTY_NAMES.into_iter().find(|&empty| {
        without_extension
            .components()
            .any(|component| component.as_os_str() == empty)
    })
}

fn is_test(file: &Path) -> bool {
    file.ends_with("tests.rs") || file.components().any(|part| part.as_os_str() == "tests")
}

/// The lines before the module of unit tests.
fn body_length(text: &str) -> usize {
    let lines: Vec<&str> = text.lines().collect();
    let opens_tests = |index: usize| {
        lines[index] == "#[cfg(test)]"
            && lines[index + 1..]
                .iter()
                .find(|line| !line.starts_with("#["))
                .is_some_and(|line| line.starts_with("mod "))
    };
    (0..lines.len())
        .find(|&index| opens_tests(index))
        .unwrap_or(lines.len())
}

/// A line that opens a function or an `impl` outside of everything else.
fn is_code(line: &str) -> bool {
    if line.starts_with(char::is_whitespace) || line.starts_with("//") {
        return false;
    }
    let mut words = line.split(' ').skip_while(|word| {
        word.starts_with("pub") || ["const", "async", "unsafe", "default"].contains(word)
    });
    words
        .next()
        .is_some_and(|word| word == "fn" || word == "impl" || word.starts_with("impl<"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(file: &str, text: &str) -> Vec<String> {
        let findings = check(Path::new(file), text);
        findings.iter().map(Finding::to_string).collect()
    }

    #[test]
    fn only_one_file_may_be_unsafe() {
        let lint = ["unsafe", "code"].join("_");
        let text = format!("//! Maps.\n#[expect({lint}, reason = \"maps\")]\n");
        assert_eq!(check(Path::new(UNSAFE), &text), []);
        let findings = check(Path::new("crates/core/src/fast.rs"), &text);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].line, 2);
    }

    #[test]
    fn a_file_that_keeps_the_rules_passes() {
        assert!(findings("crates/core/src/task.rs", "//! Tasks.\nfn f() {}\n").is_empty());
        assert!(findings("crates/core/src/lib.rs", "//! All.\nmod task;\n").is_empty());
    }

    #[test]
    fn every_file_says_what_it_is_for() {
        let found = findings("a.rs", "use std::fmt;\n");
        assert!(
            found[0].starts_with("a.rs:1: start with `//!`"),
            "{found:?}"
        );
    }

    #[test]
    fn long_bodies_are_found_and_unit_tests_do_not_count() {
        let body = |lines: usize| "//!\n".repeat(lines);
        let tests = "#[cfg(test)]\n#[path = \"x.rs\"]\nmod tests {\n".to_owned() + &body(900);
        assert!(findings("a.rs", &(body(800) + &tests)).is_empty());
        assert!(findings("a.rs", &(body(801) + &tests))[0].starts_with("a.rs:801: 801 lines"));
        let hook = "#[cfg(test)]\nfn only_in_tests() {}\n";
        assert_eq!(findings("a.rs", &(body(700) + hook + &body(100))).len(), 1);
    }

    #[test]
    fn integration_tests_may_be_longer_but_not_endless() {
        let file = "crates/core/tests/all.rs";
        assert!(findings(file, &"//!\n".repeat(800)).is_empty());
        assert_eq!(findings(file, &"//!\n".repeat(801)).len(), 1);
    }

    #[test]
    fn names_that_say_nothing_are_found() {
        for bad in ["crates/x/src/utils.rs", "crates/x/tests/common/mod.rs"] {
            assert!(findings(bad, "//!\n")[0].contains("says nothing"), "{bad}");
        }
        assert!(findings("crates/x/src/commonality.rs", "//!\n").is_empty());
    }

    #[test]
    fn module_files_hold_no_code() {
        for code in [
            "fn f() {",
            "pub fn f() {",
            "pub(crate) async fn f() {",
            "pub const fn f() {",
            "impl<T> A<T> {",
            "impl A for B {",
        ] {
            let text = format!("//! Docs.\n\n{code}\n}}\n");
            let found = findings("crates/x/src/lib.rs", &text);
            assert_eq!(found.len(), 1, "{code}");
            assert!(found[0].starts_with("crates/x/src/lib.rs:3:"), "{found:?}");
        }
        for fine in [
            "pub mod fnord;",
            "pub const N: u8 = 1;",
            "    fn f();",
            "pub use a::implode;",
        ] {
            let text = format!("//! Docs.\n{fine}\n");
            assert!(findings("crates/x/src/mod.rs", &text).is_empty(), "{fine}");
        }
    }
}
