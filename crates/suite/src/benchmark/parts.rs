//! The keys of a task as `benchmark.toml` and the files beside it give them: values with templates, and
//! who gets to see what they make.

use std::path::Path;

use super::folder;
use super::sources::{Sources, shift};
use super::template::{Form, Side};
use crate::error::SuiteError;
use crate::format::BenchmarkFile;
use crate::load::read_text;
use crate::source::{Content, Key, Node, NodeError, Span, parse_toml};

/// One key of the tasks.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) key: &'static str,
    pub(super) node: Node,
    pub(super) side: Side,
    pub(super) form: Form,
}

#[derive(Debug)]
pub(super) struct Parts {
    pub(super) keys: Vec<Part>,
    /// The script that solves a task.
    pub(super) solve: Option<Part>,
    /// Where an instance's own files lie, if not in the usual place.
    pub(super) per_instance: Option<Part>,
    /// A script that grades looks at the row.
    pub(super) wants_row: bool,
}

pub(super) struct Reader<'a> {
    pub(super) root: &'a Path,
    pub(super) file: &'a BenchmarkFile,
    /// `benchmark.toml`.
    pub(super) node: &'a Node,
    pub(super) sources: &'a mut Sources,
    pub(super) errors: &'a mut Vec<SuiteError>,
}

impl Reader<'_> {
    pub(super) fn parts(mut self) -> Parts {
        let mut keys = Vec::new();
        let instruction = self.text(
            "task",
            Side::Agent,
            ("instruction", self.file.instruction.as_deref()),
            &[
                "instruction.md.j2",
                "instruction.j2",
                "instruction.md",
                "instruction.txt",
            ],
        );
        if instruction.is_none() && self.file.instruction.is_none() {
            self.errors.push(SuiteError::layout_help(
                self.root,
                "there is no instruction here",
                "put instruction.md.j2 beside benchmark.toml: a template over the row's fields",
            ));
        }
        keys.extend(instruction);
        keys.extend(self.text(
            "setup_cmd",
            Side::Agent,
            ("initialize", self.file.initialize.as_deref()),
            &["initialize.sh.j2", "initialize.sh"],
        ));
        keys.extend(self.text(
            "complete_cmd",
            Side::Ours,
            ("complete", self.file.complete.as_deref()),
            &["complete.sh.j2", "complete.sh"],
        ));
        for key in ["environment", "level", "tags", "actions", "partial"] {
            keys.extend(self.written(key, Side::Agent));
        }
        keys.extend(self.limits());
        keys.extend(self.user());
        keys.extend(self.hand_in());
        keys.extend(self.collected());
        let checks = self.checks();
        let wants_row = checks.as_ref().is_some_and(|part| has_script(&part.node));
        keys.extend(checks);
        let listed = self
            .node
            .get("solution")
            .filter(|node| !node.items().is_empty());
        let solve = match listed {
            Some(_) => {
                keys.extend(self.written("solution", Side::Ours));
                None
            }
            None => self.solve(),
        };
        Parts {
            keys,
            solve,
            per_instance: self.per_instance(),
            wants_row,
        }
    }

    /// A key whose value stands in a file: the one that is named, or the first that is there.
    fn text(
        &mut self,
        key: &'static str,
        side: Side,
        (own_key, given): (&str, Option<&str>),
        usual: &[&str],
    ) -> Option<Part> {
        let name = given.or_else(|| folder::first(self.root, usual))?;
        let read = folder::named(self.root, name);
        let path = match read {
            Ok(path) => path,
            Err(message) => {
                let place = self
                    .node
                    .get(own_key)
                    .map_or_else(|| self.node.head(), Node::head);
                let error = NodeError::new(message).at(place);
                self.errors.push(self.sources.error(error));
                return None;
            }
        };
        let text = match read_text(&path) {
            Ok(text) => text,
            Err(error) => {
                self.errors.push(error);
                return None;
            }
        };
        Some(Part {
            key,
            node: self.sources.add_text(text),
            side,
            form: match name.ends_with(".j2") {
                true => Form::File,
                false => Form::Plain,
            },
        })
    }

    fn written(&self, key: &'static str, side: Side) -> Option<Part> {
        let node = self.node.get(key)?;
        Some(inline(key, node.clone(), side))
    }

    fn limits(&mut self) -> Option<Part> {
        let steps = self.node.get("max_iterations");
        let mut node = match (self.node.get("limits"), steps) {
            (Some(limits), _) => limits.clone(),
            (None, Some(steps)) => mapping(Vec::new(), steps.span),
            (None, None) => return None,
        };
        if let (Some(steps), Content::Mapping(pairs)) = (steps, &mut node.content) {
            if let Some((twice, _)) = pairs.iter().find(|(key, _)| key.text == "steps") {
                let error = NodeError::new("`steps` and `max_iterations` mean the same: write one")
                    .at(twice.span);
                self.errors.push(self.sources.error(error));
            }
            pairs.push((key("steps", steps.span), steps.clone()));
        }
        Some(inline("limits", node, Side::Agent))
    }

    fn user(&mut self) -> Option<Part> {
        let own = self.node.get("user");
        let path = self.root.join("user.toml");
        if !path.is_file() {
            return Some(inline("user", own?.clone(), Side::Ours));
        }
        if own.is_some() {
            let place = self
                .node
                .key_span("user")
                .unwrap_or_else(|| self.node.head());
            let error = NodeError::new("there are two users: this one and user.toml").at(place);
            self.errors.push(self.sources.error(error));
            return None;
        }
        let source = match read_text(&path) {
            Ok(source) => source,
            Err(error) => {
                self.errors.push(error);
                return None;
            }
        };
        match parse_toml(source.text()) {
            Ok(mut node) => {
                shift(&mut node, self.sources.add(source));
                Some(inline("user", node, Side::Ours))
            }
            Err(error) => {
                self.errors.push(source.error(error));
                None
            }
        }
    }

    fn hand_in(&self) -> Option<Part> {
        let collect = self.node.get("collect")?;
        let pairs: Vec<(Key, Node)> = collect
            .pairs()
            .iter()
            .filter(|(key, _)| key.text != "files")
            .cloned()
            .collect();
        (!pairs.is_empty()).then(|| inline("hand_in", mapping(pairs, collect.head()), Side::Ours))
    }

    fn collected(&self) -> Option<Part> {
        let files = self.node.get("collect")?.get("files")?;
        Some(inline("collect", files.clone(), Side::Ours))
    }

    /// The checks that are written, and the script.
    fn checks(&mut self) -> Option<Part> {
        let evaluate = self.node.get("evaluate");
        let written = evaluate.and_then(|node| node.get("checks"));
        let named = evaluate.and_then(|node| node.get("script"));
        let mut list: Vec<Node> = written.map_or(&[][..], Node::items).to_vec();
        let place = named.or(evaluate).unwrap_or(self.node).head();
        let script = match &self.file.evaluate.script {
            Some(script) => Some(script.strip_prefix("verify/").unwrap_or(script)),
            None if written.is_none() => {
                folder::first(&self.root.join("verify"), &["evaluate.sh", "evaluate.py"])
            }
            None => None,
        };
        if let Some(script) = script {
            let mut pairs = vec![
                (key("type", place), scalar("script", place)),
                (key("path", place), scalar(script, place)),
            ];
            if let Some(args) = evaluate.and_then(|node| node.get("args")) {
                pairs.push((key("args", place), args.clone()));
            }
            list.push(mapping(pairs, place));
        }
        if list.is_empty() {
            self.errors.push(SuiteError::layout_help(
                self.root,
                "there is no way to grade what an agent did",
                "put evaluate.py or evaluate.sh into verify/, or write checks = [...] below [evaluate] of \
                 benchmark.toml",
            ));
            return None;
        }
        let node = Node {
            span: written.map_or(place, |node| node.span),
            content: Content::Sequence(list),
        };
        Some(inline("checks", node, Side::Ours))
    }

    fn solve(&mut self) -> Option<Part> {
        let written = self.node.get("solution");
        let given = match written.map(|node| (&node.content, node.span)) {
            Some((Content::Scalar { text, .. }, _)) => Some(text.clone()),
            Some((Content::Sequence(_) | Content::Mapping(_), span)) => {
                let message = "expected the name of a script, or a list of actions";
                self.errors
                    .push(self.sources.error(NodeError::new(message).at(span)));
                return None;
            }
            None => None,
        };
        let usual = ["solution.sh.j2", "solution.sh"];
        self.text(
            "solution",
            Side::Ours,
            ("solution", given.as_deref()),
            &usual,
        )
    }

    fn per_instance(&self) -> Option<Part> {
        self.file.files.per_instance.as_ref()?;
        let node = self.node.get("files")?.get("per_instance")?;
        Some(inline("per_instance", node.clone(), Side::Ours))
    }
}

fn inline(key: &'static str, node: Node, side: Side) -> Part {
    Part {
        key,
        node,
        side,
        form: Form::Inline,
    }
}

/// Whether a check, or a part of one, is a script.
fn has_script(checks: &Node) -> bool {
    checks.items().iter().any(|check| {
        let is_script = check.get("type").is_some_and(
            |kind| matches!(&kind.content, Content::Scalar { text, .. } if text == "script"),
        );
        is_script || check.get("checks").is_some_and(has_script)
    })
}

pub(super) fn key(text: &str, span: Span) -> Key {
    Key {
        text: text.to_owned(),
        span,
    }
}

pub(super) fn scalar(text: &str, span: Span) -> Node {
    Node {
        span,
        content: Content::Scalar {
            text: text.to_owned(),
            plain: false,
        },
    }
}

pub(super) fn mapping(pairs: Vec<(Key, Node)>, span: Span) -> Node {
    Node {
        span,
        content: Content::Mapping(pairs),
    }
}
