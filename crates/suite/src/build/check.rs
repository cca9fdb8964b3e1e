//! Checks: from flat keys to what is to be tested. Regular expressions are compiled once here, so
//! that a broken one is an error of the suite and not of a trial.

use std::path::Path;

use agon_core::check::{Check, CheckKind, EventPattern, FileTest, ProseSubject, Stream, TextTest};
use agon_core::files::{FileTree, stays_inside};
use agon_core::{Environment, EnvironmentKind};
use serde_json::Value;

use super::answer;
use crate::format::{CheckFile, CheckType, NumberFile, PatternFile, StreamFile};
use crate::patterns::{Use, compiled};
use crate::source::{Node, NodeError};

/// What a check may refer to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Setting<'a> {
    pub(super) environment: &'a Environment,
    pub(super) verify: &'a FileTree,
}

/// Reads a list of checks; those with errors are left out of the answer.
pub(super) fn checks(
    list: &Node,
    setting: &Setting<'_>,
    errors: &mut Vec<NodeError>,
) -> Vec<Check> {
    let read = |node| check(node, setting, errors);
    list.items().iter().filter_map(read).collect()
}

fn check(node: &Node, setting: &Setting<'_>, errors: &mut Vec<NodeError>) -> Option<Check> {
    let file: CheckFile = match node.read() {
        Ok(file) => file,
        Err(error) => {
            errors.push(error.at(node.head()));
            return None;
        }
    };
    let before = errors.len();
    let keys: Vec<_> = file.kind.keys().collect();
    misplaced_keys(&format!("{} check", file.kind.name()), &keys, node, errors);
    let weight = file.weight.unwrap_or(1.0);
    if weight <= 0.0 {
        errors.push(wrong(node, "weight", "a weight must be more than 0"));
    }
    let reader = Reader {
        file: &file,
        node,
        setting,
    };
    match reader.kind(errors) {
        Ok(kind) if errors.len() == before => Some(Check {
            name: file.name,
            weight,
            kind,
        }),
        Ok(_) => None,
        Err(error) => {
            // A misplaced key is the likelier cause of what is missing.
            if errors.len() == before {
                errors.push(error);
            }
            None
        }
    }
}

/// Whether a check looks at files or runs something.
pub(super) fn needs_environment(check: &Check) -> bool {
    match &check.kind {
        CheckKind::File { .. }
        | CheckKind::CommandOutput { .. }
        | CheckKind::Script { .. }
        | CheckKind::Reward { .. }
        | CheckKind::Sight(_)
        | CheckKind::Spreadsheet(_)
        | CheckKind::Document(_) => true,
        CheckKind::Prose { subject, .. } => !matches!(
            subject,
            ProseSubject::ReturnedResult | ProseSubject::ExpectedFlow
        ),
        CheckKind::All { checks, .. } | CheckKind::Any { checks } => {
            checks.iter().any(needs_environment)
        }
        CheckKind::ReturnedResult { .. } | CheckKind::Answer(_) | CheckKind::Events { .. } => false,
    }
}

/// `keys` are those that belong to `what` is read.
pub(super) fn misplaced_keys(what: &str, keys: &[&str], node: &Node, errors: &mut Vec<NodeError>) {
    for (key, value) in node.pairs() {
        let name = key.text.as_str();
        if !keys.contains(&name) {
            errors.push(
                NodeError::new(format!("`{name}` does not belong to a {what}"))
                    .help(format!("its keys are: {}", keys.join(", ")))
                    .at(key.span),
            );
        } else if value.is_null() && name != "json" {
            let help = match name {
                "colour" | "background" => {
                    "write it in quotes: what stands behind a bare # is a comment"
                }
                _ => "write \"\" for the empty text, or leave the key out",
            };
            errors.push(
                NodeError::new(format!("`{name}` has no value"))
                    .help(help)
                    .at(key.span),
            );
        }
    }
}

/// An error at a key of the check, or at the check when the key is not there.
pub(super) fn wrong(node: &Node, key: &str, message: impl Into<String>) -> NodeError {
    NodeError::new(message).at(node.key_span(key).unwrap_or_else(|| node.head()))
}

/// One check, or one entry of `ends`. Tests of the screen are read in `sight`.
pub(super) struct Reader<'a> {
    pub(super) file: &'a CheckFile,
    pub(super) node: &'a Node,
    pub(super) setting: &'a Setting<'a>,
}

impl Reader<'_> {
    fn kind(&self, errors: &mut Vec<NodeError>) -> Result<CheckKind, NodeError> {
        match self.file.kind {
            CheckType::File => self.file_check(),
            CheckType::CommandOutput => self.command_output(),
            CheckType::Script => self.script(),
            CheckType::Reward => self.reward(),
            CheckType::ReturnedResult => {
                let tests = self.text_tests()?;
                if tests.is_empty() {
                    return self.prose(ProseSubject::ReturnedResult);
                }
                Ok(CheckKind::ReturnedResult { tests })
            }
            CheckType::Answer => answer::answer(self).map(CheckKind::Answer),
            CheckType::FinalScreenshot => self.prose(ProseSubject::FinalScreenshot),
            CheckType::ExpectedFlow => self.prose(ProseSubject::ExpectedFlow),
            CheckType::Events => self.events(),
            CheckType::ScreenText
            | CheckType::Pixel
            | CheckType::RegionChanged
            | CheckType::Template
            | CheckType::Window
            | CheckType::Process => self.sight().map(CheckKind::Sight),
            CheckType::Spreadsheet => self.spreadsheet(errors),
            CheckType::Document => self.document(errors),
            CheckType::All => Ok(CheckKind::All {
                checks: self.parts(errors)?,
                partial: self.file.partial.unwrap_or(false),
            }),
            CheckType::Any => Ok(CheckKind::Any {
                checks: self.parts(errors)?,
            }),
        }
    }

    /// The path of a file that the agent leaves.
    pub(super) fn working_file(&self) -> Result<&String, NodeError> {
        let path = self.needed("path", self.file.path.as_ref())?;
        if !stays_inside(Path::new(path)) {
            return Err(self
                .wrong(
                    "path",
                    format!("`{path}` does not name a file below the working folder"),
                )
                .help("write a relative path without `.` and `..`"));
        }
        Ok(path)
    }

    fn file_check(&self) -> Result<CheckKind, NodeError> {
        let path = self.working_file()?;
        let tests = self.text_tests()?;
        let test = match (self.file.exists, self.file.sha256, tests.is_empty()) {
            (Some(false), None, true) => FileTest::Exists(false),
            (Some(false), ..) => {
                return Err(self.wrong(
                    "exists",
                    "a file that must not exist has no content to test",
                ));
            }
            (_, Some(_), false) => {
                return Err(self
                    .wrong("sha256", "`sha256` already pins the whole content")
                    .help("leave the other tests out, or put them in a check of their own"));
            }
            (_, Some(digest), true) => FileTest::Sha256(digest),
            (_, None, false) => FileTest::Content(tests),
            (_, None, true) => FileTest::Exists(true),
        };
        Ok(CheckKind::File {
            path: path.clone(),
            test,
        })
    }

    fn command_output(&self) -> Result<CheckKind, NodeError> {
        let command = self.needed("command", self.file.command.as_ref())?.clone();
        let tests = self.text_tests()?;
        let exit_status = self.file.exit_status;
        // What can be decided by us is; `value` then only explains it to readers of the file.
        if tests.is_empty() && exit_status.is_none() {
            return self.prose(ProseSubject::CommandOutput { command });
        }
        Ok(CheckKind::CommandOutput {
            command,
            stream: match self.file.stream {
                None | Some(StreamFile::Stdout) => Stream::Stdout,
                Some(StreamFile::Stderr) => Stream::Stderr,
                Some(StreamFile::Both) => Stream::Both,
            },
            tests,
            exit_status,
        })
    }

    fn script(&self) -> Result<CheckKind, NodeError> {
        Ok(CheckKind::Script {
            path: self.program()?,
            args: self.file.args.clone().unwrap_or_default(),
        })
    }

    fn reward(&self) -> Result<CheckKind, NodeError> {
        let kind = self.setting.environment.kind;
        if kind != EnvironmentKind::Container {
            return Err(self
                .wrong(
                    "type",
                    format!("a {kind} environment has no place for rewards"),
                )
                .help("a reward is written inside of a container: use a script check"));
        }
        Ok(CheckKind::Reward {
            script: self.program()?,
        })
    }

    /// The program of `verify/` that the check runs.
    fn program(&self) -> Result<String, NodeError> {
        if self.file.path.is_some() && self.file.script.is_some() {
            return Err(self.wrong(
                "script",
                "`script` and `path` mean the same: write one of them",
            ));
        }
        let given = self.file.path.as_ref().or(self.file.script.as_ref());
        let path = self.needed("path", given)?;
        if self.setting.verify.find(Path::new(path)).is_none() {
            let key = if self.file.script.is_some() {
                "script"
            } else {
                "path"
            };
            return Err(self
                .wrong(key, format!("there is no file `verify/{path}`"))
                .help("scripts are found below `verify/` in the task's folder"));
        }
        Ok(path.clone())
    }

    fn events(&self) -> Result<CheckKind, NodeError> {
        let patterns = |key: &str, list: &Option<Vec<PatternFile>>| {
            list.iter()
                .flatten()
                .map(|pattern| self.pattern(key, pattern))
                .collect::<Result<Vec<_>, _>>()
        };
        let must = patterns("must", &self.file.must)?;
        let must_not = patterns("must_not", &self.file.must_not)?;
        if must.is_empty() && must_not.is_empty() {
            return Err(self.wrong("type", "an events check needs `must` or `must_not`"));
        }
        Ok(CheckKind::Events { must, must_not })
    }

    fn pattern(&self, key: &str, pattern: &PatternFile) -> Result<EventPattern, NodeError> {
        if pattern.action.is_none() && pattern.matches.is_none() {
            return Err(self.wrong(key, "a pattern needs `action` or `matches`"));
        }
        if let Some(matches) = &pattern.matches {
            self.regex(key, matches)?;
        }
        Ok(EventPattern {
            action: pattern.action,
            matches: pattern.matches.clone(),
        })
    }

    fn prose(&self, subject: ProseSubject) -> Result<CheckKind, NodeError> {
        match &self.file.value {
            Some(value) if !value.trim().is_empty() => Ok(CheckKind::Prose {
                subject,
                value: value.clone(),
            }),
            Some(_) => Err(self.wrong("value", "`value` is empty: say what the judge has to find")),
            None => Err(self.nothing_to_test()),
        }
    }

    pub(super) fn nothing_to_test(&self) -> NodeError {
        let tests: Vec<_> = self
            .file
            .kind
            .keys()
            .filter(|key| {
                !matches!(
                    *key,
                    "type"
                        | "name"
                        | "weight"
                        | "command"
                        | "stream"
                        | "tolerance"
                        | "region"
                        | "path"
                )
            })
            .collect();
        let name = self.file.kind.name();
        self.wrong("type", format!("this {name} check tests nothing"))
            .help(format!("add one of: {}", tests.join(", ")))
    }

    fn parts(&self, errors: &mut Vec<NodeError>) -> Result<Vec<Check>, NodeError> {
        match self.node.get("checks") {
            Some(list) if !list.items().is_empty() => Ok(checks(list, self.setting, errors)),
            _ => Err(self.wrong(
                "checks",
                format!("this {} check has no parts", self.file.kind.name()),
            )),
        }
    }

    pub(super) fn text_tests(&self) -> Result<Vec<TextTest>, NodeError> {
        let file = self.file;
        let mut tests = Vec::new();
        tests.extend(file.equals.clone().map(TextTest::Equals));
        if let Some(texts) = &file.one_of {
            if texts.is_empty() {
                return Err(self.wrong("one_of", "`one_of` is empty: nothing could pass"));
            }
            tests.push(TextTest::OneOf(texts.clone()));
        }
        tests.extend(file.contains.clone().map(TextTest::Contains));
        tests.extend(file.not_contains.clone().map(TextTest::NotContains));
        if let Some(matches) = &file.matches {
            self.regex("matches", matches)?;
            tests.push(TextTest::Matches(matches.clone()));
        }
        if let Some(json) = &file.json {
            tests.push(self.json(json)?);
        }
        tests.extend(self.number()?);
        Ok(tests)
    }

    /// The test that a plain number makes.
    fn number(&self) -> Result<Option<TextTest>, NodeError> {
        let value = match &self.file.number {
            Some(NumberFile::Plain(value)) => Some(*value),
            Some(NumberFile::Shown(_)) if self.file.kind != CheckType::ScreenText => {
                return Err(self
                    .wrong("number", "expected a number, found keys and values")
                    .help("`number` has keys of its own only in a screen_text check"));
            }
            Some(NumberFile::Said(_)) => {
                return Err(self
                    .wrong("number", "expected a number, found true or false")
                    .help("only an answer check says `number: true`"));
            }
            Some(NumberFile::Shown(_)) | None => None,
        };
        match (value, self.file.tolerance) {
            (Some(value), tolerance) => {
                let tolerance = tolerance.unwrap_or(0.0);
                if tolerance < 0.0 {
                    return Err(self.wrong("tolerance", "a tolerance can't be negative"));
                }
                Ok(Some(TextTest::Number { value, tolerance }))
            }
            (None, Some(_)) if self.file.number.is_some() => Err(self.wrong(
                "tolerance",
                "`tolerance` belongs to a plain `number`: write `at_least` and `at_most`",
            )),
            (None, Some(_)) => Err(self.wrong("tolerance", "`tolerance` needs `number` beside it")),
            (None, None) => Ok(None),
        }
    }

    fn json(&self, json: &Value) -> Result<TextTest, NodeError> {
        let whole = || TextTest::Json {
            pointer: String::new(),
            equals: json.clone(),
        };
        let Some(object) = json.as_object().filter(|object| {
            !object.is_empty() && object.keys().all(|key| key == "pointer" || key == "equals")
        }) else {
            return Ok(whole());
        };
        let Some(equals) = object.get("equals").cloned() else {
            return Err(self.wrong("json", "`pointer` needs `equals` beside it"));
        };
        let pointer = match object.get("pointer") {
            None => String::new(),
            Some(Value::String(pointer)) if pointer.is_empty() || pointer.starts_with('/') => {
                pointer.clone()
            }
            Some(other) => {
                return Err(self.wrong(
                    "json",
                    format!("{other} is no JSON pointer: expected a text such as /items/0/name"),
                ));
            }
        };
        Ok(TextTest::Json { pointer, equals })
    }

    pub(super) fn regex(&self, key: &str, text: &str) -> Result<(), NodeError> {
        let read = compiled(text, Use::Test);
        read.map(drop).map_err(|message| self.wrong(key, message))
    }

    pub(super) fn needed<'t>(
        &self,
        key: &str,
        value: Option<&'t String>,
    ) -> Result<&'t String, NodeError> {
        let name = self.file.kind.name();
        match value {
            Some(text) if !text.is_empty() => Ok(text),
            Some(_) => Err(self.wrong(key, format!("`{key}` is empty"))),
            None => Err(self.wrong("type", format!("this {name} check needs `{key}`"))),
        }
    }

    pub(super) fn wrong(&self, key: &str, message: impl Into<String>) -> NodeError {
        wrong(self.node, key, message)
    }
}
