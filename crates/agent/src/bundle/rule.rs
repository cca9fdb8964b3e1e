//! Which files of a folder are an agent's own, as a rule that users can foretell:
//!
//! - what the run itself reads or writes, suites, records, keys and links out of the folder never go in;
//! - in a folder of its own, all the rest does, but for names with a dot, caches and what looks like a secret;
//! - in a folder that holds something of the run, only program text does;
//! - the files that the command names, and those that the user names beside it, do in either.

use std::collections::HashSet;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use super::looks;
use super::why::Why;
use crate::error::SetupError;

/// What the rule is made from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Given<'a> {
    /// The agent's folder, a canonical path.
    pub(crate) folder: &'a Path,
    /// What the run reads and writes.
    pub(crate) of_run: &'a [PathBuf],
    /// The files and folders that the command names, relative to the folder.
    pub(crate) named: &'a [PathBuf],
    /// Globs that the user gave beside the command.
    pub(crate) asked: &'a [String],
    /// What the sandbox shows of the host anyway: links may lead there.
    pub(crate) shown: &'a [&'a str],
}

#[derive(Debug)]
pub(crate) struct Rule<'a> {
    given: Given<'a>,
    of_run: Vec<PathBuf>,
    /// The same files by another name.
    inodes: HashSet<(u64, u64)>,
    asked: GlobSet,
    shared: bool,
}

impl<'a> Rule<'a> {
    pub(crate) fn new(given: Given<'a>) -> Result<Self, SetupError> {
        let of_run: Vec<PathBuf> = given
            .of_run
            .iter()
            .filter_map(|path| path.canonicalize().ok())
            .collect();
        let files = of_run.iter().filter_map(|path| fs::metadata(path).ok());
        let inodes = files
            .filter(Metadata::is_file)
            .map(|about| identity(&about));
        let folder = given.folder;
        let shared = of_run
            .iter()
            .any(|path| path.starts_with(folder) && path != folder);
        let rule = Self {
            given,
            inodes: inodes.collect(),
            of_run,
            asked: globs(given.asked)?,
            shared,
        };
        rule.refuse_unfit()?;
        Ok(rule)
    }

    pub(crate) const fn folder(&self) -> &'a Path {
        self.given.folder
    }

    /// Something of the run lies in the folder.
    pub(crate) const fn is_shared(&self) -> bool {
        self.shared
    }

    fn refuse_unfit(&self) -> Result<(), SetupError> {
        let folder = self.folder();
        let home = std::env::home_dir().and_then(|home| home.canonicalize().ok());
        let ours = matches!(looks::of_folder(folder), Some(Why::Suite | Why::Run));
        let why = if folder.parent().is_none() || home.as_deref() == Some(folder) {
            "it is a whole home or disk"
        } else if ours || self.of_run.iter().any(|path| folder.starts_with(path)) {
            "it belongs to a suite or a run"
        } else {
            return Ok(());
        };
        Err(SetupError::Folder {
            folder: folder.to_owned(),
            why: format!("{why}; put the agent into a folder of its own"),
        })
    }

    /// The command names it, or a folder that it lies in.
    pub(crate) fn is_named(&self, relative: &Path) -> bool {
        let named = &self.given.named;
        named.iter().any(|name| relative.starts_with(name))
    }

    /// The command names something in this folder.
    pub(crate) fn leads_to_named(&self, relative: &Path) -> bool {
        let named = &self.given.named;
        named.iter().any(|name| name.starts_with(relative))
    }

    /// The user names it; what lies below it is named with it.
    pub(crate) fn is_asked_for(&self, relative: &Path) -> bool {
        self.asked.is_match(relative)
    }

    /// Why it never goes in, also when `--agent-files` names it.
    pub(crate) fn refuses(&self, path: &Path, about: &Metadata) -> Option<Why> {
        if about.is_symlink() {
            return self.refuses_link(path);
        }
        let same = about.is_file() && self.inodes.contains(&identity(about));
        if same || self.of_run.iter().any(|ours| ours == path) {
            return Some(Why::OfRun);
        }
        if about.is_dir() {
            return looks::of_folder(path).filter(|why| !why.can_be_asked_for());
        }
        (!about.is_file()).then_some(Why::Special)
    }

    /// Links are copied as links, so one that leads elsewhere leads nowhere inside.
    fn refuses_link(&self, path: &Path) -> Option<Why> {
        let Ok(target) = fs::read_link(path) else {
            return Some(Why::Special);
        };
        let real = path.canonicalize().ok();
        if real.as_ref().is_some_and(|real| self.of_run.contains(real)) {
            return Some(Why::OfRun);
        }
        let shown = |path: &Path| self.given.shown.iter().any(|root| path.starts_with(root));
        let stays = match real {
            _ if target.is_absolute() => shown(&target),
            Some(real) => real.starts_with(self.folder()),
            // It leads nowhere on the host either.
            None => true,
        };
        (!stays).then_some(Why::LinkOut)
    }

    /// Why it stays outside unless it is asked for.
    pub(crate) fn leaves_out(&self, path: &Path, name: &str, about: &Metadata) -> Option<Why> {
        if let Some(why) = looks::by_name(name) {
            return Some(why);
        }
        if about.is_dir() {
            return looks::of_folder(path);
        }
        if self.shared && !looks::is_program_text(name) {
            return Some(Why::NotProgram);
        }
        let read = about.is_file();
        read.then(|| looks::of_file(path, name)).flatten()
    }

    /// A folder of programs that other people wrote, all of which the agent's may need: with the interpreter
    /// that the command names, or beside a program text that looks for it by its name.
    pub(crate) fn is_library(&self, path: &Path, name: &str, relative: &Path) -> bool {
        let of_python = path.join("pyvenv.cfg").is_file() && self.leads_to_named(relative);
        of_python || (name == "node_modules" && self.shared)
    }
}

fn identity(about: &Metadata) -> (u64, u64) {
    (about.dev(), about.ino())
}

fn globs(asked: &[String]) -> Result<GlobSet, SetupError> {
    let wrong = |text: &str, error: &globset::Error| SetupError::AgentFiles {
        glob: text.to_owned(),
        why: error.kind().to_string(),
    };
    let mut set = GlobSetBuilder::new();
    for text in asked {
        let plain = text.trim_start_matches("./").trim_end_matches('/');
        let glob = GlobBuilder::new(plain).literal_separator(true).build();
        set.add(glob.map_err(|error| wrong(text, &error))?);
    }
    set.build()
        .map_err(|error| wrong(&asked.join(", "), &error))
}
