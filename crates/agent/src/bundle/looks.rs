//! What a file or folder is by its name and its first bytes. Reads a little, and never more than that.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::why::Why;

/// What is looked at of a file.
const HEAD: u64 = 64 << 10;

/// How a tape begins.
const TAPE: &[u8] = b"{\"agon_tape\":";

/// Endings of texts that are run, and of what such texts load.
const PROGRAM: &[&str] = &[
    "py", "pyi", "pyx", "so", "sh", "bash", "js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx",
    "wasm", "node", "rb", "pl", "pm", "lua", "php", "jar", "class", "r", "jl", "tcl", "el", "ex",
    "exs", "erl", "beam", "rs", "go", "c", "h", "cc", "cpp", "hpp", "java", "kt", "scala", "clj",
    "hs", "ml", "scm", "awk",
];

/// Files beside such texts without which they are not found.
const PROGRAM_NAMES: &[&str] = &["package.json", "pyvenv.cfg"];

/// Endings of files that are made to keep secrets.
const SECRETS: &[&str] = &["env", "p12", "pfx", "jks", "keystore", "kdbx"];
const SECRET_NAMES: &[&str] = &["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"];

pub(crate) fn is_program_text(name: &str) -> bool {
    PROGRAM_NAMES.contains(&name) || ending(name).is_some_and(|end| PROGRAM.contains(&&*end))
}

fn ending(name: &str) -> Option<String> {
    let (stem, ending) = name.rsplit_once('.')?;
    (!stem.is_empty()).then(|| ending.to_ascii_lowercase())
}

/// By its name alone.
pub(crate) fn by_name(name: &str) -> Option<Why> {
    let secret = || ending(name).is_some_and(|end| SECRETS.contains(&&*end));
    if name.starts_with('.') {
        Some(Why::Dotted)
    } else if name == "__pycache__" {
        Some(Why::Cache)
    } else if SECRET_NAMES.contains(&name) || secret() {
        Some(Why::Settings)
    } else {
        None
    }
}

/// A folder of other things than agents: suites and records hold solutions, checks and other agents' work.
pub(crate) fn of_folder(folder: &Path) -> Option<Why> {
    let has = |name: &str| folder.join(name).exists();
    if has("suite.toml")
        || has("benchmark.toml")
        || has("task.yaml")
        || (has("task.toml") && has("instruction.md"))
    {
        Some(Why::Suite)
    } else if (has("run.json") && has("trials.jsonl"))
        || (has("output.jsonl") && has("metadata.json"))
    {
        Some(Why::Run)
    } else if has("CACHEDIR.TAG") {
        Some(Why::Cache)
    } else {
        None
    }
}

/// By what it begins with. A program text may speak of keys and tapes.
pub(crate) fn of_file(path: &Path, name: &str) -> Option<Why> {
    if is_program_text(name) {
        return None;
    }
    let mut head = Vec::new();
    File::open(path)
        .and_then(|file| file.take(HEAD).read_to_end(&mut head))
        .ok()?;
    if head.starts_with(TAPE) {
        return Some(Why::Tape);
    }
    let lines = || head.split(|byte| *byte == b'\n');
    let begins = |word: &[u8]| lines().any(|line| line.starts_with(word));
    let is_yaml = ending(name).is_some_and(|end| end == "yaml" || end == "yml");
    if is_yaml && begins(b"task:") && begins(b"checks:") {
        return Some(Why::Suite);
    }
    let private = |line: &[u8]| {
        let line = String::from_utf8_lossy(line);
        line.split_once("-----BEGIN ")
            .is_some_and(|(_, rest)| rest.contains("PRIVATE KEY-----"))
    };
    lines().any(private).then_some(Why::PrivateKey)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn files_are_known_by_names_and_first_bytes() {
        let home = tempfile::tempdir().unwrap();
        let look = |name: &str, text: &str| {
            let path = home.path().join(name);
            fs::write(&path, text).unwrap();
            by_name(name).or_else(|| of_file(&path, name))
        };
        for (name, text, why) in [
            (".env", "", Some(Why::Dotted)),
            ("prod.env", "", Some(Why::Settings)),
            ("id_ed25519", "", Some(Why::Settings)),
            ("calls.jsonl", "{\"agon_tape\":1}\n", Some(Why::Tape)),
            ("a.yaml", "name: N\ntask: T\nchecks:\n", Some(Why::Suite)),
            ("b.yaml", "task: T\n", None),
            (
                "server.pem",
                "x\n-----BEGIN RSA PRIVATE KEY-----\n",
                Some(Why::PrivateKey),
            ),
            (
                "account.json",
                "{\"key\": \"-----BEGIN PRIVATE KEY-----\\nMII",
                Some(Why::PrivateKey),
            ),
            ("cacert.pem", "-----BEGIN CERTIFICATE-----\n", None),
            ("ssh.py", "HEAD = '-----BEGIN PRIVATE KEY-----'\n", None),
            ("environment", "", None),
            ("prompt.txt", "You are an agent.", None),
        ] {
            assert_eq!(look(name, text), why, "{name}");
        }
        assert!(is_program_text("a.PY") && is_program_text("package.json"));
        assert!(!is_program_text("py") && !is_program_text(".py") && !is_program_text("a.json"));
    }
}
