//! Checks as one of the four types that the original's reader takes: prose as it is, everything else as a
//! description in words of what it looks at. Only for reading: nothing is graded by these words.

use agon_core::check::{Check, CheckKind, EventPattern, FileTest, ProseSubject, TextTest};
use agon_core::office::{DocumentCheck, Passage, PassageTest, SheetCheck};
use agon_core::sight::{ProcessTest, SightTest, TitleTest};

use super::schema::CheckRow;

const RETURNED: &str = "returned_result";
const SCREEN: &str = "final_screenshot";
const FLOW: &str = "expected_flow";
const COMMAND: &str = "command_output";

pub(crate) fn rows(checks: &[Check]) -> Vec<CheckRow> {
    checks.iter().flat_map(row).collect()
}

/// For those who carry out checks themselves: the commands of all parts of `any` are to be run, so that each
/// part has a row of its own.
pub(crate) fn rows_to_run(checks: &[Check]) -> Vec<CheckRow> {
    checks.iter().flat_map(row_to_run).collect()
}

fn row_to_run(check: &Check) -> Vec<CheckRow> {
    match &check.kind {
        CheckKind::All { checks, .. } => rows_to_run(checks),
        CheckKind::Any { checks } => {
            let mut parts = rows_to_run(checks);
            for part in &mut parts {
                part.value = format!("This is one of {} ways: {}", checks.len(), part.value);
            }
            parts
        }
        _ => row(check),
    }
}

/// Commands of checks whose output is looked at.
pub(crate) fn commands(checks: &[Check]) -> Vec<String> {
    let of = |check: &Check| match &check.kind {
        CheckKind::All { checks, .. } | CheckKind::Any { checks } => commands(checks),
        CheckKind::CommandOutput { command, .. }
        | CheckKind::Prose {
            subject: ProseSubject::CommandOutput { command },
            ..
        } => vec![command.clone()],
        _ => Vec::new(),
    };
    checks.iter().flat_map(of).collect()
}

/// The parts of `all` stand for themselves, as all checks of a case have to pass.
fn row(check: &Check) -> Vec<CheckRow> {
    let mut one = match &check.kind {
        CheckKind::All { checks, .. } => return rows(checks),
        CheckKind::Any { checks } => any(checks),
        CheckKind::Prose { subject, value } => prose(subject, value),
        CheckKind::ReturnedResult { tests } => plain(RETURNED, said("The answer", tests)),
        CheckKind::Answer(test) => plain(RETURNED, format!("The answer passes: {}", test.label())),
        CheckKind::Events { must, must_not } => plain(FLOW, flow(must, must_not)),
        CheckKind::Sight(test) => plain(SCREEN, sight(test)),
        CheckKind::CommandOutput {
            command,
            tests,
            exit_status,
            ..
        } => {
            let mut value = said("The output", tests);
            if let Some(status) = exit_status {
                value = format!("{value} The exit status is {status}.");
            }
            by_command(command.clone(), value)
        }
        CheckKind::File { path, test } => file(path, test),
        CheckKind::Script { path, args } => {
            let command = [vec![path.clone()], args.clone()].concat().join(" ");
            by_command(
                command,
                "The script says that the task was done.".to_owned(),
            )
        }
        CheckKind::Reward { script } => by_command(
            format!("sh {}; cat /logs/verifier/reward.txt", quoted(script)),
            "The reward is 1.".to_owned(),
        ),
        CheckKind::Spreadsheet(test) => sheet(test),
        CheckKind::Document(test) => document(test),
    };
    one.label = check.label();
    vec![one]
}

fn plain(kind: &str, value: String) -> CheckRow {
    CheckRow {
        kind: kind.to_owned(),
        command: None,
        value,
        label: String::new(),
    }
}

fn by_command(command: String, value: String) -> CheckRow {
    CheckRow {
        command: Some(command),
        ..plain(COMMAND, value)
    }
}

fn prose(subject: &ProseSubject, value: &str) -> CheckRow {
    let row = plain(subject.name(), value.to_owned());
    match subject {
        ProseSubject::CommandOutput { command } => CheckRow {
            command: Some(command.clone()),
            ..row
        },
        _ => row,
    }
}

/// One row, as the original has no `or`: by the commands of its parts, if there are any.
fn any(checks: &[Check]) -> CheckRow {
    let parts = rows(checks);
    let values: Vec<&str> = parts.iter().map(|row| row.value.as_str()).collect();
    let value = format!("At least one of these holds: {}", values.join(" / "));
    let commands: Vec<&str> = parts
        .iter()
        .filter_map(|row| row.command.as_deref())
        .collect();
    match (commands.is_empty(), parts.first()) {
        (false, _) => by_command(commands.join("; "), value),
        (true, Some(first)) => plain(&first.kind, value),
        (true, None) => plain(FLOW, value),
    }
}

/// `subject` and what is asked of it, a sentence each.
fn said(subject: &str, tests: &[TextTest]) -> String {
    if tests.is_empty() {
        return format!("{subject} may be anything.");
    }
    let one = |test: &TextTest| match test {
        TextTest::Equals(text) => format!("{subject} is exactly: {text}"),
        TextTest::OneOf(texts) => format!("{subject} is one of: {}", texts.join(" | ")),
        TextTest::Contains(text) => format!("{subject} contains: {text}"),
        TextTest::NotContains(text) => format!("{subject} does not contain: {text}"),
        TextTest::Matches(pattern) => format!("{subject} matches the regular expression {pattern}"),
        TextTest::Json { pointer, equals } if pointer.is_empty() => {
            format!("{subject} is this JSON: {equals}")
        }
        TextTest::Json { pointer, equals } => {
            format!("{subject} is JSON that has {equals} at {pointer}")
        }
        TextTest::Number { value, tolerance } => {
            format!("{subject} is the number {value}, at most {tolerance} away")
        }
    };
    let sentences: Vec<String> = tests.iter().map(one).collect();
    sentences.join(". ")
}

fn file(path: &str, test: &FileTest) -> CheckRow {
    let name = quoted(path);
    match test {
        FileTest::Exists(true) => by_command(format!("ls -d {name}"), format!("{path} is there.")),
        FileTest::Exists(false) => {
            by_command(format!("ls -d {name}"), format!("{path} is not there."))
        }
        FileTest::Sha256(digest) => by_command(
            format!("sha256sum {name}"),
            format!("The digest is {}.", digest.to_hex()),
        ),
        FileTest::Content(tests) => by_command(format!("cat {name}"), said("The content", tests)),
    }
}

fn flow(must: &[EventPattern], must_not: &[EventPattern]) -> String {
    let name = |pattern: &EventPattern| {
        let action = pattern.action.map_or("any action", |kind| kind.name());
        match &pattern.matches {
            Some(regex) => format!("{action} that matches {regex}"),
            None => action.to_owned(),
        }
    };
    let list = |patterns: &[EventPattern]| patterns.iter().map(name).collect::<Vec<_>>().join("; ");
    match (must.is_empty(), must_not.is_empty()) {
        (false, true) => format!("The agent does: {}", list(must)),
        (true, false) => format!("The agent never does: {}", list(must_not)),
        _ => format!(
            "The agent does: {}. It never does: {}",
            list(must),
            list(must_not)
        ),
    }
}

fn sight(test: &SightTest) -> String {
    match test {
        SightTest::Text { tests, .. } if !tests.is_empty() => said("What can be read", tests),
        SightTest::Window { title, exists } => {
            let title = match title {
                TitleTest::Contains(text) => format!("contains {text}"),
                TitleTest::Matches(regex) => format!("matches {regex}"),
            };
            let is = if *exists { "a" } else { "no" };
            format!("There is {is} window whose title {title}.")
        }
        SightTest::Process { app, state } => match state {
            ProcessTest::Alive(true) => format!("The program {app} is running."),
            ProcessTest::Alive(false) => format!("The program {app} is not running."),
            ProcessTest::Exited(status) => {
                format!("The program {app} has ended with status {status}.")
            }
        },
        test => format!("The screen passes: {}", test.label()),
    }
}

fn sheet(test: &SheetCheck) -> CheckRow {
    let mut asked = Vec::new();
    for cell in &test.cells {
        let at = &cell.at;
        if !cell.text.is_empty() {
            asked.push(said(&format!("Cell {at}"), &cell.text));
        }
        if let Some((value, _)) = cell.number {
            asked.push(format!("Cell {at} is the number {value}"));
        }
        match cell.empty {
            Some(true) => asked.push(format!("Cell {at} is empty")),
            Some(false) => asked.push(format!("Cell {at} is not empty")),
            None => {}
        }
        if !cell.formula.is_empty() {
            asked.push(said(&format!("The formula of {at}"), &cell.formula));
        }
    }
    let counts = [
        ("used rows", test.rows),
        ("used columns", test.columns),
        ("charts", test.charts),
    ];
    asked.extend(counted(&counts));
    if let Some(sheets) = &test.sheets {
        asked.push(format!("The sheets are {}", sheets.join(", ")));
    }
    office(&test.path, "csv", asked)
}

fn document(test: &DocumentCheck) -> CheckRow {
    let mut asked = Vec::new();
    if !test.text.is_empty() {
        asked.push(said("The text", &test.text));
    }
    let of = |passage: &PassageTest| match &passage.of {
        Passage::Paragraph(number) => format!("Paragraph {number}"),
        Passage::Words(words) => format!("`{words}`"),
        Passage::Whole => "Everything".to_owned(),
    };
    asked.extend(
        test.tests
            .iter()
            .map(|passage| match passage.text.is_empty() {
                true => format!("{} looks as the task asks for", of(passage)),
                false => said(&of(passage), &passage.text),
            }),
    );
    let counts = [
        ("paragraphs that are not empty", test.paragraphs),
        ("pictures", test.pictures),
    ];
    asked.extend(counted(&counts));
    if !test.tables.is_empty() {
        asked.push(format!(
            "There are at least {} tables as asked for",
            test.tables.len()
        ));
    }
    office(&test.path, "txt:Text", asked)
}

fn counted<'a>(counts: &'a [(&str, Option<u32>)]) -> impl Iterator<Item = String> + 'a {
    let one = |(what, count): &(&str, Option<u32>)| {
        count.map(|count| format!("There are {count} {what}"))
    };
    counts.iter().filter_map(one)
}

/// Styles can't be seen this way: the original has no way to look at them.
fn office(path: &str, form: &str, asked: Vec<String>) -> CheckRow {
    let command = format!(
        "soffice --headless --cat --convert-to {form} {}",
        quoted(path)
    );
    let asked = match asked.is_empty() {
        true => "It can be opened".to_owned(),
        false => asked.join(". "),
    };
    by_command(command, format!("{asked}."))
}

/// A word for a shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use agon_core::ActionKind;
    use agon_core::check::Stream;

    use super::*;

    fn check(kind: CheckKind) -> Check {
        Check {
            name: None,
            weight: 1.0,
            kind,
        }
    }

    fn content(path: &str, text: &str) -> Check {
        check(CheckKind::File {
            path: path.to_owned(),
            test: FileTest::Content(vec![TextTest::Contains(text.to_owned())]),
        })
    }

    #[test]
    fn those_who_run_commands_get_each_of_them() {
        let output = |command: &str| {
            check(CheckKind::CommandOutput {
                command: command.to_owned(),
                stream: Stream::default(),
                tests: vec![TextTest::Contains("x".to_owned())],
                exit_status: None,
            })
        };
        let any = check(CheckKind::Any {
            checks: vec![output("cat a"), output("cat b")],
        });
        let all = check(CheckKind::All {
            checks: vec![output("date"), any],
            partial: false,
        });
        let checks = [all];
        let named = |rows: Vec<CheckRow>| -> Vec<String> {
            rows.into_iter().filter_map(|row| row.command).collect()
        };
        assert_eq!(named(rows(&checks)), ["date", "cat a; cat b"]);
        assert_eq!(named(rows_to_run(&checks)), ["date", "cat a", "cat b"]);
        assert_eq!(commands(&checks), ["date", "cat a", "cat b"]);
        let value = &rows_to_run(&checks)[1].value;
        assert_eq!(value, "This is one of 2 ways: The output contains: x");
    }

    #[test]
    fn every_check_becomes_one_of_the_four_types() {
        let checks = [
            content("a b.txt", "hello"),
            check(CheckKind::ReturnedResult {
                tests: vec![TextTest::Equals("42".to_owned())],
            }),
            check(CheckKind::Events {
                must: vec![EventPattern {
                    action: Some(ActionKind::Click),
                    matches: None,
                }],
                must_not: vec![],
            }),
            check(CheckKind::Sight(SightTest::Window {
                title: TitleTest::Contains("Editor".to_owned()),
                exists: true,
            })),
            check(CheckKind::All {
                checks: vec![content("x", "1"), content("y", "2")],
                partial: false,
            }),
            check(CheckKind::Any {
                checks: vec![content("x", "1"), content("y", "2")],
            }),
            check(CheckKind::Prose {
                subject: ProseSubject::CommandOutput {
                    command: "date".to_owned(),
                },
                value: "today".to_owned(),
            }),
        ];
        let found: Vec<String> = rows(&checks)
            .into_iter()
            .map(|row| {
                format!(
                    "{} [{}] {}",
                    row.kind,
                    row.command.unwrap_or_default(),
                    row.value
                )
            })
            .collect();
        assert_eq!(
            found,
            [
                "command_output [cat 'a b.txt'] The content contains: hello",
                "returned_result [] The answer is exactly: 42",
                "expected_flow [] The agent does: click",
                "final_screenshot [] There is a window whose title contains Editor.",
                "command_output [cat x] The content contains: 1",
                "command_output [cat y] The content contains: 2",
                "command_output [cat x; cat y] At least one of these holds: The content contains: 1 / The content contains: 2",
                "command_output [date] today",
            ]
        );
    }
}
