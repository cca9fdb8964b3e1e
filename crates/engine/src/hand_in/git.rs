//! Git as it is called on an agent's files: by a repository of the task's own, with no configuration,
//! attributes, hooks or programs but ours. Nothing that an agent wrote makes it start a program.

use std::time::Duration;

use agon_sandbox::{Exec, WORK};

/// Where the repository is while the agent's files are in the working folder. No archive of a working
/// folder leads there.
const ASIDE: &str = "/tmp/agon-hand-in";

/// Files are what their bytes are: no attribute that stands among them may change, filter or hide any.
/// These stand above those of the work tree.
const ATTRIBUTES: &str = "* -text !eol -ident -filter !working-tree-encoding !diff !merge";

const ENV: [(&str, &str); 8] = [
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_SYSTEM", "/dev/null"),
    ("GIT_INDEX_FILE", "/tmp/agon-hand-in/agon-index"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("LC_ALL", "C"),
];

const SETTINGS: [&str; 10] = [
    "core.attributesFile=/dev/null",
    "core.autocrlf=false",
    "core.excludesFile=/dev/null",
    "core.fileMode=true",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.precomposeUnicode=false",
    "core.splitIndex=false",
    "core.symlinks=true",
    "core.untrackedCache=false",
];

/// Repositories in the work tree are plain folders, folders that their owner closed are open, and what is
/// no file is gone. The same on both sides, so that nothing of it is a change.
const CLEAN: &str = "chmod -R u+rwX . && find . -name .git -prune -exec rm -rf -- {} + && \
    find . ! -type f ! -type d ! -type l -exec rm -f -- {} +";

/// The repository's folder in a sandbox.
#[derive(Debug, Clone)]
pub(super) struct Repository {
    folder: String,
    limit: Duration,
}

impl Repository {
    /// `path` is relative to the working folder and stays in it.
    pub(super) fn new(path: &str, limit: Duration) -> Self {
        let folder = match path {
            "." => WORK.to_owned(),
            path => format!("{WORK}/{path}"),
        };
        Self { folder, limit }
    }

    /// Puts the repository itself aside.
    pub(super) fn put_aside(&self) -> Exec {
        self.shell(&format!(
            "[ -d .git ] || {{ echo 'there is no .git in it' >&2; exit 1; }}; \
             mv .git {ASIDE} && mkdir -p {ASIDE}/info && echo '{ATTRIBUTES}' >{ASIDE}/info/attributes"
        ))
    }

    /// An own one, which knows nothing, for applying a patch to files.
    pub(super) fn make_aside(&self) -> Exec {
        self.shell(&format!(
            "git init -q --bare --template= {ASIDE} && mkdir -p {ASIDE}/info && \
             echo '{ATTRIBUTES}' >{ASIDE}/info/attributes"
        ))
    }

    /// Says the tree of all files that are in the folder, as changes of `from`.
    pub(super) fn tree(&self, from: &str) -> Exec {
        let git = self.words(&[]).join(" ");
        self.shell(&format!(
            "rm -f \"$GIT_INDEX_FILE\" && {{ {CLEAN}; }} >&2 && {git} read-tree {from} >&2 && \
             {git} add -A -- . >&2 && {git} write-tree"
        ))
    }

    /// Which paths of `patterns` differ between two trees, with a zero byte behind each.
    pub(super) fn changed(&self, [from, to]: [&str; 2], patterns: &[String]) -> Exec {
        let among = patterns.iter().map(|glob| format!(":(top,glob){glob}"));
        let names = ["-r", "-z", "--name-only", "--no-renames", from, to, "--"];
        self.git(
            "diff-tree",
            names.map(str::to_owned).into_iter().chain(among),
        )
    }

    /// What makes one tree from another, leaving out `patterns`.
    pub(super) fn patch(&self, [from, to]: [&str; 2], patterns: &[String]) -> Exec {
        let options = [
            "-r",
            "-p",
            "--binary",
            "--full-index",
            "--no-renames",
            "--no-color",
            "--no-ext-diff",
            "--no-textconv",
            "--src-prefix=a/",
            "--dst-prefix=b/",
            from,
            to,
            "--",
            ":(top)",
        ];
        let without = patterns.iter();
        let without = without.map(|glob| format!(":(top,exclude,glob){glob}"));
        self.git(
            "diff-tree",
            options.map(str::to_owned).into_iter().chain(without),
        )
    }

    pub(super) fn apply(&self, patch: &[u8]) -> Exec {
        let options = ["--whitespace=nowarn", "-"].map(str::to_owned);
        let mut exec = self.git("apply", options);
        exec.stdin = patch.to_vec();
        exec
    }

    fn words(&self, command: &[&str]) -> Vec<String> {
        let mut words = vec!["git".to_owned()];
        words.push(format!("--git-dir={ASIDE}"));
        words.push("--work-tree=.".to_owned());
        for setting in SETTINGS {
            words.extend(["-c".to_owned(), setting.to_owned()]);
        }
        words.extend(command.iter().map(|&word| word.to_owned()));
        words
    }

    fn git(&self, command: &str, options: impl IntoIterator<Item = String>) -> Exec {
        let words = self.words(&[command]).into_iter().chain(options);
        self.here(Exec::new(words, self.limit))
    }

    fn shell(&self, script: &str) -> Exec {
        self.here(Exec::shell(script, self.limit))
    }

    fn here(&self, mut exec: Exec) -> Exec {
        exec.cwd.clone_from(&self.folder);
        exec.env = ENV
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
        exec
    }
}
