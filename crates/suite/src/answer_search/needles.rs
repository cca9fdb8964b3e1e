//! What of tasks gives their answers away, and where each of it comes from.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::Read;

use agon_core::check::{Check, CheckKind, FileTest, TextTest};
use agon_core::files::{FileEntry, FileTree};
use agon_core::office::CellTest;
use agon_core::sight::{SightTest, TitleTest};
use agon_core::task::Solution;
use agon_core::{Action, Digest, Task, TaskId};
use serde_json::Value;

use super::distinct::{codes, expected, lines};
use super::search::AnswerMatch;

/// Larger files of tasks are known by their digest alone.
const MOST_OF_A_FILE: u64 = 1 << 20;
/// What is kept of all tasks.
const MOST_BYTES: usize = 16 << 20;
/// Smaller files are the same by chance.
const SMALLEST_FILE: u64 = 64;
/// A line that so many programs have is nobody's own.
const MOST_SOURCES: usize = 2;
/// Lines of one program that are not found in another by chance.
const LINES: usize = 3;

/// Something of a task that can be found.
#[derive(Debug)]
struct Place {
    task: TaskId,
    what: String,
    /// So many of its texts must be found.
    enough: usize,
}

#[derive(Debug, Default)]
pub(super) struct Needles {
    places: Vec<Place>,
    /// Texts, and the places that they are of.
    texts: Vec<(String, Vec<usize>)>,
    by_text: HashMap<String, usize>,
    bytes: usize,
    /// Files that give all of something away.
    whole: HashMap<Digest, Vec<usize>>,
    /// Digests of the programs that a line is in.
    sources: HashMap<usize, HashSet<Digest>>,
}

impl Needles {
    pub(super) fn take(&mut self, task: &Task) {
        let mut values = Values::default();
        task.checks
            .inspect(|checks| checks.iter().for_each(|check| values.of_check(check)));
        let place = self.place(task, "what a check expects".to_owned(), 1);
        for text in values.texts.iter().flat_map(|text| expected(text)) {
            self.add(text, place);
        }
        for digest in values.digests {
            self.whole.entry(digest).or_default().push(place);
        }
        task.verify.inspect(|tree| self.of_tree(task, tree));
        if let Some(Solution::Actions(actions)) = task.solution.on_host() {
            self.of_solution(task, actions);
        }
    }

    fn place(&mut self, task: &Task, what: String, enough: usize) -> usize {
        self.places.push(Place {
            task: task.id.clone(),
            what,
            enough,
        });
        self.places.len() - 1
    }

    /// The number of the text, unless there are too many.
    fn add(&mut self, text: &str, place: usize) -> Option<usize> {
        let number = match self.by_text.get(text) {
            Some(number) => *number,
            None => {
                self.bytes += text.len();
                if self.bytes > MOST_BYTES {
                    return None;
                }
                self.texts.push((text.to_owned(), Vec::new()));
                self.by_text.insert(text.to_owned(), self.texts.len() - 1);
                self.texts.len() - 1
            }
        };
        let places = &mut self.texts[number].1;
        if !places.contains(&place) {
            places.push(place);
        }
        Some(number)
    }

    fn of_tree(&mut self, task: &Task, tree: &FileTree) {
        for entry in tree.entries() {
            let what = format!("verify/{}", entry.path.display());
            if entry.size >= SMALLEST_FILE {
                let place = self.place(task, what.clone(), 1);
                self.whole.entry(entry.digest).or_default().push(place);
            }
            let Some(text) = text(tree, entry) else {
                continue;
            };
            let ending = entry.path.extension().and_then(|ending| ending.to_str());
            match ending {
                Some("json") => {
                    let mut values = Values::default();
                    if let Ok(value) = serde_json::from_str(&text) {
                        values.of_json(&value);
                    }
                    let place = self.place(task, what, 1);
                    for text in values.texts.iter().flat_map(|text| expected(text)) {
                        self.add(text, place);
                    }
                }
                _ if entry.executable || is_program(ending, &text) => {
                    let place = self.place(task, what.clone(), 1);
                    for code in codes(&text) {
                        self.add(code, place);
                    }
                    let place = self.place(task, what, LINES);
                    for line in lines(&text) {
                        if let Some(number) = self.add(line, place) {
                            self.sources.entry(number).or_default().insert(entry.digest);
                        }
                    }
                }
                _ => {
                    let place = self.place(task, what, 1);
                    for line in expected(&text) {
                        self.add(line, place);
                    }
                }
            }
        }
    }

    fn of_solution(&mut self, task: &Task, actions: &[Action]) {
        let what = || "its solution".to_owned();
        let answers = self.place(task, what(), 1);
        let mut steps = BTreeSet::new();
        for action in actions {
            match action {
                Action::Finish { result: Some(text) } | Action::Message { text } => {
                    for text in expected(text) {
                        self.add(text, answers);
                    }
                }
                Action::Run { command: text, .. }
                | Action::Cell { code: text }
                | Action::Browse { code: text }
                | Action::Write { content: text, .. }
                | Action::Edit { new: text, .. }
                | Action::Insert { text, .. }
                | Action::Type { text } => steps.extend(lines(text)),
                _ => {}
            }
        }
        let enough = if steps.len() > LINES { 2 } else { 1 };
        let place = self.place(task, what(), enough);
        for line in steps {
            self.add(line, place);
        }
    }

    /// What many programs have in common is how checks are written, not what they expect.
    pub(super) fn leave_out_common(&mut self) {
        for (number, sources) in std::mem::take(&mut self.sources) {
            if sources.len() > MOST_SOURCES {
                self.forget(number);
            }
        }
    }

    /// It is shown to agents anyway.
    pub(super) fn forget(&mut self, number: usize) {
        self.texts[number].1.clear();
    }

    pub(super) fn texts(&self) -> Vec<Vec<u8>> {
        let texts = self.texts.iter().map(|(text, _)| text.as_bytes().to_vec());
        texts.collect()
    }

    /// What it means that a content has this digest, and these texts in it.
    pub(super) fn meaning(&self, found: &BTreeSet<usize>, digest: Digest) -> Vec<AnswerMatch> {
        let mut counts: HashMap<usize, usize> = HashMap::new();
        for place in found.iter().flat_map(|number| &self.texts[*number].1) {
            *counts.entry(*place).or_default() += 1;
        }
        let enough = counts
            .into_iter()
            .filter(|(place, count)| *count >= self.places[*place].enough)
            .map(|(place, _)| place);
        let whole = self.whole.get(&digest).into_iter().flatten().copied();
        let all: BTreeSet<AnswerMatch> = enough
            .chain(whole)
            .map(|place| AnswerMatch {
                task: self.places[place].task.clone(),
                what: self.places[place].what.clone(),
            })
            .collect();
        all.into_iter().collect()
    }

    /// A file that agents are shown.
    fn forget_whole(&mut self, digest: Digest) {
        self.whole.remove(&digest);
    }
}

/// Whether a file is a program, by its ending or its first line.
fn is_program(ending: Option<&str>, text: &str) -> bool {
    let endings = [
        "py", "sh", "js", "mjs", "ts", "rb", "pl", "rs", "go", "c", "cpp", "java",
    ];
    text.starts_with("#!") || ending.is_some_and(|ending| endings.contains(&ending))
}

fn text(tree: &FileTree, entry: &FileEntry) -> Option<String> {
    if entry.size > MOST_OF_A_FILE {
        return None;
    }
    let mut text = String::new();
    let (_, content) = tree.open(entry).ok()?;
    content
        .take(MOST_OF_A_FILE)
        .read_to_string(&mut text)
        .ok()?;
    Some(text)
}

/// Shows what agents are told and shown of tasks, files that many share only once.
pub(super) fn show_all<'t>(
    needles: &mut Needles,
    tasks: impl Iterator<Item = &'t Task>,
    mut show: impl FnMut(&mut dyn Read),
) {
    let mut seen = HashSet::new();
    for task in tasks {
        let told = [task.instruction.show(), task.name.as_str(), task.id.id()].join("\n");
        show(&mut told.as_bytes());
        for tree in [task.visible.show(), task.programs.show()] {
            for entry in tree.entries() {
                needles.forget_whole(entry.digest);
                if entry.size > MOST_OF_A_FILE || !seen.insert(entry.digest) {
                    continue;
                }
                if let Ok((_, content)) = tree.open(entry) {
                    show(&mut content.take(MOST_OF_A_FILE));
                }
            }
        }
    }
}

/// What checks compare with.
#[derive(Default)]
struct Values {
    texts: Vec<String>,
    digests: Vec<Digest>,
}

impl Values {
    fn of_check(&mut self, check: &Check) {
        match &check.kind {
            CheckKind::File { test, .. } => match test {
                FileTest::Content(tests) => self.of_tests(tests),
                FileTest::Sha256(digest) => self.digests.push(*digest),
                FileTest::Exists(_) => {}
            },
            CheckKind::CommandOutput { tests, .. } | CheckKind::ReturnedResult { tests } => {
                self.of_tests(tests);
            }
            CheckKind::Answer(answer) => self.texts.extend(answer.expected()),
            CheckKind::Sight(SightTest::Text { tests, .. }) => self.of_tests(tests),
            CheckKind::Sight(SightTest::Window {
                title: TitleTest::Contains(title),
                exists: true,
            }) => self.texts.push(title.clone()),
            CheckKind::Spreadsheet(sheet) => self.of_cells(&sheet.cells),
            CheckKind::Document(document) => {
                self.of_tests(&document.text);
                for passage in &document.tests {
                    self.of_tests(&passage.text);
                }
                for table in &document.tables {
                    self.of_cells(&table.cells);
                }
            }
            CheckKind::Prose { value, .. } => self.texts.push(value.clone()),
            CheckKind::All { checks, .. } | CheckKind::Any { checks } => {
                checks.iter().for_each(|check| self.of_check(check));
            }
            CheckKind::Script { .. }
            | CheckKind::Reward { .. }
            | CheckKind::Events { .. }
            | CheckKind::Sight(_) => {}
        }
    }

    fn of_cells(&mut self, cells: &[CellTest]) {
        for cell in cells {
            self.of_tests(&cell.text);
            self.of_tests(&cell.formula);
        }
    }

    fn of_tests(&mut self, tests: &[TextTest]) {
        for test in tests {
            match test {
                TextTest::Equals(text) | TextTest::Contains(text) => self.texts.push(text.clone()),
                TextTest::OneOf(texts) => self.texts.extend(texts.iter().cloned()),
                TextTest::Json { equals, .. } => self.of_json(equals),
                TextTest::NotContains(_) | TextTest::Matches(_) | TextTest::Number { .. } => {}
            }
        }
    }

    fn of_json(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.texts.push(text.clone()),
            Value::Array(items) => items.iter().for_each(|item| self.of_json(item)),
            Value::Object(fields) => fields.values().for_each(|field| self.of_json(field)),
            Value::Number(number) => self.texts.push(number.to_string()),
            Value::Null | Value::Bool(_) => {}
        }
    }
}
