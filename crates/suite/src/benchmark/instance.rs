//! One row of the dataset becomes one task.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agon_core::files::{FileTree, stays_inside};
use agon_core::{Digest, Environment, EnvironmentKind, HostOnly, Limits, Task, TaskId};

use super::dataset::Row;
use super::parts::{Part, Parts, key, mapping, scalar};
use super::sources::Sources;
use super::template::{Contexts, Templates};
use crate::build::{self, Draft, MaxSteps};
use crate::error::SuiteError;
use crate::format::SuiteFile;
use crate::load::extras;
use crate::source::{Content, Node, NodeError, Span};
use crate::tree;

/// Where a script that grades finds the row, below `verify/`.
const ROW: &str = "instance.json";
/// Scripts are handed to a shell as one argument, which can't be longer than this and then some.
const MAX_SCRIPT: usize = 100 << 10;
/// Longer or odder ones are told by the task's own id.
const MAX_NAME: usize = 200;

/// What stands for a row that no task can be made of.
pub(super) fn unplayable(row: &Row, id: TaskId, name: String, why: String) -> Task {
    let digest = Digest::of_parts([b"unplayable".as_slice(), why.as_bytes()]);
    Task {
        name,
        limits: Limits {
            steps: 1,
            ..Limits::default()
        },
        instance: HostOnly::new(Some(Arc::clone(&row.fields))),
        unplayable: Some(why),
        digest,
        played: digest,
        ..Task::plain(id, "", Environment::of_kind(EnvironmentKind::None))
    }
}

/// What all instances have in common.
#[derive(Debug)]
pub(super) struct Common<'a> {
    pub(super) root: &'a Path,
    pub(super) parts: &'a Parts,
    pub(super) templates: &'a Templates,
    pub(super) sources: &'a Sources,
    pub(super) visible: &'a FileTree,
    pub(super) verify: &'a FileTree,
    pub(super) max_steps: Option<&'a MaxSteps>,
}

impl Common<'_> {
    /// `name` is what the dataset calls the row.
    pub(super) fn task(&self, row: &Row, id: TaskId, name: &str) -> Result<Task, Vec<SuiteError>> {
        let said = |error: NodeError| self.said(error, name);
        let contexts = self.templates.contexts(&row.fields, id.id());
        let node = self
            .node(&contexts, &id, name)
            .map_err(|error| vec![said(error)])?;
        let (visible, mut verify, own_solve) = self
            .files(&contexts, &id, name)
            .map_err(|error| vec![error])?;
        if self.parts.wants_row {
            let json = serde_json::to_vec_pretty(row.fields.as_ref()).unwrap_or_default();
            if verify.find(Path::new(ROW)).is_some() {
                let message = format!("verify/{ROW} is where the row will be: rename the file");
                return Err(vec![SuiteError::layout(self.root, message)]);
            }
            verify
                .push_made(ROW.into(), Arc::from(json))
                .map_err(|error| vec![SuiteError::layout(self.root, error.to_string())])?;
            verify.sort();
        }
        let solve = match (own_solve, &self.parts.solve) {
            (Some(script), _) => Some(script),
            (None, Some(part)) => {
                let filled = self
                    .filled(part, &contexts)
                    .map_err(|error| vec![said(error)])?;
                Some(text(&filled).to_owned())
            }
            (None, None) => None,
        };
        let draft = Draft {
            id,
            node,
            visible,
            verify,
            solve,
            root: self.root.to_owned(),
            instance: Some(Arc::clone(&row.fields)),
        };
        build::task(draft, &SuiteFile::default(), self.max_steps)
            .map_err(|errors| errors.into_iter().map(said).collect())
    }

    fn said(&self, mut error: NodeError, name: &str) -> SuiteError {
        let place = format!("found in the instance `{name}`");
        error.help = Some(match error.help.take() {
            Some(help) => format!("{help}; {place}"),
            None => place,
        });
        self.sources.error(error)
    }

    /// The keys of the task, as its file would have them.
    fn node(&self, contexts: &Contexts, id: &TaskId, name: &str) -> Result<Node, NodeError> {
        let begin = Span { start: 0, end: 0 };
        let odd = name.chars().count() > MAX_NAME || name.contains(char::is_control);
        let shown = if odd { id.id() } else { name };
        let mut pairs = vec![(key("name", begin), scalar(shown, begin))];
        for part in &self.parts.keys {
            let node = self.filled(part, contexts)?;
            if ["setup_cmd", "complete_cmd"].contains(&part.key) && text(&node).len() > MAX_SCRIPT {
                return Err(NodeError::new("the script is longer than 100 KiB")
                    .help("put what it needs into a file of visible/ or verify/")
                    .at(node.span));
            }
            pairs.push((key(part.key, node.head()), node));
        }
        Ok(mapping(pairs, begin))
    }

    fn filled(&self, part: &Part, contexts: &Contexts) -> Result<Node, NodeError> {
        match part.form {
            super::template::Form::Plain => Ok(part.node.clone()),
            _ => self.templates.fill(&part.node, contexts.of(part.side)),
        }
    }

    /// The benchmark's files with the instance's own over them, and the instance's own solution.
    fn files(
        &self,
        contexts: &Contexts,
        id: &TaskId,
        name: &str,
    ) -> Result<(FileTree, FileTree, Option<String>), SuiteError> {
        let folder = match &self.parts.per_instance {
            Some(part) => {
                let node = self
                    .filled(part, contexts)
                    .map_err(|error| self.said(error, name))?;
                let below = PathBuf::from(text(&node));
                if !stays_inside(&below) {
                    let message = format!("`{}` does not stay in its folder", below.display());
                    let error = NodeError::new(message).at(node.span);
                    return Err(self.said(error, name));
                }
                self.root.join(below)
            }
            None => self.root.join("instances").join(id.id()),
        };
        if !folder.is_dir() {
            return Ok((self.visible.clone(), self.verify.clone(), None));
        }
        let inside = match (fs::canonicalize(&folder), fs::canonicalize(self.root)) {
            (Ok(real), Ok(root)) => real.starts_with(root),
            _ => false,
        };
        if !inside {
            return Err(SuiteError::layout(
                folder,
                "leads out of the benchmark's folder",
            ));
        }
        let (visible, verify, solve) = extras(Some(&folder))?;
        let over = |below: &FileTree, top: &FileTree| {
            tree::over(below, top).map_err(|error| SuiteError::layout(&folder, error.to_string()))
        };
        Ok((
            over(self.visible, &visible)?,
            over(self.verify, &verify)?,
            solve,
        ))
    }
}

fn text(node: &Node) -> &str {
    match &node.content {
        Content::Scalar { text, .. } => text,
        Content::Sequence(_) | Content::Mapping(_) => "",
    }
}
