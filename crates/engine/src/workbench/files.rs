//! Reading and changing files for the agent: what it sees of them, what is wrong with them after a
//! change, and how a change is taken back. Knows neither limits of time nor which actions a task
//! allows.

mod apart;
mod before;
mod change;
mod diff;
mod folder;
mod history;
mod lint;
mod picture;
mod reading;
mod view;

use std::path::{Component, Path, PathBuf};

use agon_core::{Action, Observation};
use agon_sandbox::{Sandbox, SandboxError, WORK};

use self::before::{Before, before, editable, remove};
use self::change::Change;
use self::history::{History, Version};
use super::bench::Tools;

/// How many of the places are named where a text occurs too often.
const NAMED: usize = 20;

#[derive(Debug)]
pub(super) struct Files {
    /// Where paths start.
    cwd: PathBuf,
    view: usize,
    lint: bool,
    history: History,
}

/// A file as the agent names it and as it is.
struct Place<'a> {
    named: &'a str,
    full: String,
}

fn denied<T>(why: impl Into<String>) -> Result<T, SandboxError> {
    Err(SandboxError::Denied(why.into()))
}

impl Files {
    pub(super) fn new(tools: &Tools) -> Self {
        Self {
            cwd: Path::new(WORK).join(tools.cwd.as_deref().unwrap_or(WORK)),
            view: usize::try_from(tools.limits.view.0).unwrap_or(usize::MAX),
            lint: tools.lint,
            history: History::default(),
        }
    }

    /// Carries out one action on a file. Other actions are none of these.
    pub(super) async fn perform(
        &mut self,
        sandbox: &dyn Sandbox,
        action: &Action,
    ) -> Result<Observation, SandboxError> {
        match action {
            Action::Read { path, lines } => self.read(sandbox, &self.place(path)?, *lines).await,
            Action::Write {
                path,
                content,
                create,
            } => {
                let place = self.place(path)?;
                self.write(sandbox, &place, content, *create).await
            }
            Action::Edit { path, old, new } => {
                let place = self.place(path)?;
                self.edit(sandbox, &place, old, new).await
            }
            Action::Insert { path, line, text } => {
                let place = self.place(path)?;
                self.insert(sandbox, &place, *line, text).await
            }
            Action::Undo { path } => {
                let place = self.place(path)?;
                self.undo(sandbox, &place).await
            }
            action => denied(format!("`{}` is about no file", action.kind())),
        }
    }

    /// One name for each file, as far as names tell: `..` stays, since it may follow a link.
    fn place<'a>(&self, named: &'a str) -> Result<Place<'a>, SandboxError> {
        if named.is_empty() {
            return denied("`path` is empty: name a file");
        }
        if named.contains('\0') {
            return denied("`path` holds a NUL byte, which no path does");
        }
        let joined = self.cwd.join(named);
        let plain = joined
            .components()
            .filter(|part| *part != Component::CurDir);
        let full = plain.collect::<PathBuf>().to_string_lossy().into_owned();
        Ok(Place { named, full })
    }

    async fn write(
        &mut self,
        sandbox: &dyn Sandbox,
        place: &Place<'_>,
        content: &str,
        create: bool,
    ) -> Result<Observation, SandboxError> {
        let before = before(sandbox, &place.full).await?;
        match &before {
            Before::Content(_) | Before::Large if create => {
                return denied(format!(
                    "{} is there already, and `create` replaces nothing: change it with `edit`",
                    place.named
                ));
            }
            Before::Closed(why) if create => return denied(why),
            _ => {}
        }
        sandbox.write(&place.full, content.as_bytes()).await?;
        let done = if before.existed() { "Replaced" } else { "Made" };
        let lines = view::lines(content).len();
        let text = format!("{done} {}: {lines} lines.", place.named);
        self.told(sandbox, place, before, content, |_| text).await
    }

    async fn edit(
        &mut self,
        sandbox: &dyn Sandbox,
        place: &Place<'_>,
        old: &str,
        new: &str,
    ) -> Result<Observation, SandboxError> {
        let named = place.named;
        if old.is_empty() {
            return denied("`old` is empty: say what to replace");
        }
        if old == new {
            return denied("`old` and `new` are the same: nothing would change");
        }
        let text = editable(sandbox, place).await?;
        let mut found = text.match_indices(old);
        let at = match (found.next(), found.next()) {
            (Some((at, _)), None) => at,
            (None, _) => {
                return denied(format!(
                    "`old` does not occur in {named}: it must be the same to the last space and \
                     line end"
                ));
            }
            _ => {
                return denied(format!(
                    "`old` occurs more than once in {named}, on lines {}: make it longer",
                    line_numbers(&text, old)
                ));
            }
        };
        let changed = [&text[..at], new, &text[at + old.len()..]].concat();
        self.replace(sandbox, place, text, &changed).await
    }

    async fn insert(
        &mut self,
        sandbox: &dyn Sandbox,
        place: &Place<'_>,
        line: u64,
        inserted: &str,
    ) -> Result<Observation, SandboxError> {
        let text = editable(sandbox, place).await?;
        let lines = view::lines(&text);
        let Some((above, below)) = usize::try_from(line)
            .ok()
            .and_then(|line| lines.split_at_checked(line))
        else {
            return denied(format!(
                "{} has {} lines: `line` is from 0 to that",
                place.named,
                lines.len()
            ));
        };
        let mut changed = above.concat();
        if !changed.is_empty() && !changed.ends_with('\n') {
            changed.push('\n');
        }
        changed += inserted;
        if !changed.is_empty() && !changed.ends_with('\n') {
            changed.push('\n');
        }
        changed.extend(below.iter().copied());
        self.replace(sandbox, place, text, &changed).await
    }

    /// Writes a text that was changed, and shows where.
    async fn replace(
        &mut self,
        sandbox: &dyn Sandbox,
        place: &Place<'_>,
        old: String,
        new: &str,
    ) -> Result<Observation, SandboxError> {
        sandbox.write(&place.full, new.as_bytes()).await?;
        let before = Before::Content(old.into_bytes());
        let text = |snippet: &str| format!("Changed {}:\n{snippet}", place.named);
        self.told(sandbox, place, before, new, text).await
    }

    /// A change that was made: remembered, and told with what is wrong with the file now.
    async fn told(
        &mut self,
        sandbox: &dyn Sandbox,
        place: &Place<'_>,
        before: Before,
        after: &str,
        text: impl FnOnce(&str) -> String,
    ) -> Result<Observation, SandboxError> {
        let told = self.change(place, before, Some(after)).told().await?;
        self.history.remember(&place.full, told.before.version());
        let mut seen = told.seen;
        seen.text = text(&told.snippet);
        if self.lint
            && let Some(wrong) = lint::lint(sandbox, &place.full, after).await?
        {
            seen.text = format!(
                "{}\n[wrong in {}: {wrong}]",
                seen.text.trim_end(),
                place.named
            );
        }
        Ok(seen)
    }

    fn change(&self, place: &Place<'_>, before: Before, after: Option<&str>) -> Change {
        Change {
            path: place.full.clone(),
            before,
            after: after.map(str::to_owned),
            view: self.view,
        }
    }

    async fn undo(
        &mut self,
        sandbox: &dyn Sandbox,
        place: &Place<'_>,
    ) -> Result<Observation, SandboxError> {
        let named = place.named;
        let now = before(sandbox, &place.full).await?;
        let Some(version) = self.history.take(&place.full) else {
            return denied(format!("no change of {named} is left to be taken back"));
        };
        let restored = match &version {
            Version::Absent => remove(sandbox, &place.full).await,
            Version::Content(content) => sandbox.write(&place.full, content).await,
        };
        if let Err(error) = restored {
            self.history.remember(&place.full, Some(version));
            return Err(error);
        }
        let after = match &version {
            Version::Absent => None,
            Version::Content(content) => Some(String::from_utf8_lossy(content)),
        };
        let told = self.change(place, now, after.as_deref()).told().await?;
        let mut seen = told.seen;
        seen.text = match after {
            None => format!("Took back the making of {named}: it is gone."),
            Some(_) => format!("Took back the last change of {named}:\n{}", told.snippet),
        };
        Ok(seen)
    }
}

/// The lines on which a text begins, as far as they are named.
fn line_numbers(text: &str, part: &str) -> String {
    let (mut line, mut from) = (1, 0);
    let mut numbers = Vec::new();
    for (at, _) in text.match_indices(part) {
        if numbers.len() == NAMED {
            numbers.push("...".to_owned());
            break;
        }
        line += text[from..at].matches('\n').count();
        from = at;
        numbers.push(line.to_string());
    }
    numbers.join(", ")
}
