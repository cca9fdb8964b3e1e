//! Suites made up for measuring: nothing in them is hard, so that what costs is Agon.

use std::path::{Path, PathBuf};

use crate::failure::{Failure, Trying};

/// Actions of the agent per trial of [`talk`], the last one included.
pub(super) const TURNS: u32 = 20;

/// Conversations of [`TURNS`] turns.
pub(super) fn talk(folder: &Path, tasks: u32) -> Result<PathBuf, Failure> {
    let mut solution = String::new();
    for turn in 1..TURNS {
        let action = if turn % 2 == 0 {
            format!("{{ action: message, text: This is turn {turn}. }}")
        } else {
            format!("{{ action: think, thought: This is turn {turn}. }}")
        };
        solution.push_str(&format!("  - {action}\n"));
    }
    write(folder, "talk", tasks, &dialogue(&solution))
}

/// One turn: the answer.
pub(super) fn answer(folder: &Path, tasks: u32) -> Result<PathBuf, Failure> {
    write(folder, "answer", tasks, &dialogue(""))
}

/// One command and one check by a command, in a local sandbox.
pub(super) fn local(folder: &Path, tasks: u32) -> Result<PathBuf, Failure> {
    write(folder, "local", tasks, &command("{ kind: local }"))
}

/// The same in a container.
pub(super) fn container(folder: &Path, tasks: u32, image: &str) -> Result<PathBuf, Failure> {
    let environment = format!("{{ kind: container, image: \"{image}\" }}");
    write(folder, "container", tasks, &command(&environment))
}

/// Keys pressed in a terminal full of text on a desktop. Each leaves another character there, and each
/// terminal another number: no screen is ever the same as another.
pub(super) fn desktop(
    folder: &Path,
    name: &str,
    tasks: u32,
    steps: u32,
) -> Result<PathBuf, Failure> {
    let keys = ('a'..='z').cycle().take(steps as usize);
    let steps: String = keys
        .map(|key| format!("  - {{ action: key, keys: {key} }}\n"))
        .collect();
    write_each(folder, name, tasks, |task| {
        let shown = format!("ls -l /usr/bin | head -n 50; echo task {task}; exec cat");
        let terminal = format!("xterm -geometry 150x55+20+20 -e '{shown}'");
        format!(
            "task: Press the keys.\n\
             environment: {{ kind: desktop, screen: 1280x800, apps: [\"{terminal}\"] }}\n\
             limits: {{ steps: 50, seconds: 120 }}\n\
             checks:\n  - {{ type: returned_result, equals: done }}\n\
             solution:\n{steps}  - {{ action: finish, result: done }}\n"
        )
    })
}

/// What the tasks here want to hear.
pub(super) const ANSWER: &str = "done";

/// Cases on the desktop of a container.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cases<'a> {
    pub(super) image: &'a str,
    /// Whether no two of them can use the same kind of container.
    pub(super) apart: bool,
    pub(super) app: Option<&'a str>,
    /// Seconds that their solution lets pass.
    pub(super) wait: Option<f64>,
}

impl Cases<'_> {
    pub(super) fn write(&self, folder: &Path, name: &str, cases: u32) -> Result<PathBuf, Failure> {
        write_each(folder, name, cases, |case| {
            let apart = match self.apart {
                true => format!(", env: {{ CASE: \"{case}\" }}"),
                false => String::new(),
            };
            let app = self
                .app
                .map_or_else(String::new, |app| format!(", apps: [\"{app}\"]"));
            let wait = self.wait.map_or_else(String::new, |seconds| {
                format!("  - {{ action: wait, seconds: {seconds} }}\n")
            });
            format!(
                "task: Answer with the word done.\n\
                 environment: {{ kind: desktop, image: \"{}\", screen: 1280x800{apart}{app} }}\n\
                 limits: {{ steps: 200, seconds: 300 }}\n\
                 checks:\n  - {{ type: returned_result, equals: {ANSWER} }}\n\
                 solution:\n{wait}  - {{ action: finish, result: {ANSWER} }}\n",
                self.image
            )
        })
    }
}

fn dialogue(before: &str) -> String {
    format!(
        "task: Answer with the word done.\n\
         environment: {{ kind: none }}\n\
         limits: {{ steps: 50, seconds: 60 }}\n\
         checks:\n  - {{ type: returned_result, equals: done }}\n\
         solution:\n{before}  - {{ action: finish, result: done }}\n"
    )
}

fn command(environment: &str) -> String {
    format!(
        "task: Write hello to greeting.txt.\n\
         environment: {environment}\n\
         limits: {{ steps: 10, seconds: 60 }}\n\
         checks:\n  - {{ type: command_output, command: cat greeting.txt, equals: \"hello\\n\" }}\n\
         solution:\n  - {{ action: run, command: echo hello > greeting.txt }}\n"
    )
}

fn write(folder: &Path, name: &str, tasks: u32, task: &str) -> Result<PathBuf, Failure> {
    write_each(folder, name, tasks, |_| task.to_owned())
}

fn write_each(
    folder: &Path,
    name: &str,
    tasks: u32,
    task: impl Fn(u32) -> String,
) -> Result<PathBuf, Failure> {
    let suite = folder.join(format!("suite-{name}"));
    let category = suite.join(name);
    std::fs::create_dir_all(&category).trying(format!("make {}", category.display()))?;
    for number in 0..tasks {
        let file = category.join(format!("{name}-{number:04}.yaml"));
        let text = format!("name: Measure {name} {number}\n{}", task(number));
        std::fs::write(&file, text).trying(format!("write {}", file.display()))?;
    }
    Ok(suite)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn desktops_have_their_steps_and_a_text_of_their_own() {
        let folder = std::env::temp_dir().join(format!("agon-desktops-{}", std::process::id()));
        let suite = desktop(&folder, "keys", 2, 28).unwrap();
        let read = |task| std::fs::read_to_string(suite.join(format!("keys/keys-{task}.yaml")));
        let (first, second) = (read("0000").unwrap(), read("0001").unwrap());
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(first.matches("action: key,").count(), 28);
        assert!(
            first.contains("echo task 0;") && second.contains("echo task 1;"),
            "{first}"
        );
    }

    #[test]
    fn cases_that_are_apart_differ_in_their_containers() {
        let folder = std::env::temp_dir().join(format!("agon-cases-{}", std::process::id()));
        let read = |apart, name: &str| {
            let cases = Cases {
                image: "desktop:1",
                apart,
                app: None,
                wait: Some(2.0),
            };
            let suite = cases.write(&folder, name, 2).unwrap();
            let file = suite.join(format!("{name}/{name}-0001.yaml"));
            std::fs::read_to_string(file).unwrap()
        };
        let (apart, alike) = (read(true, "apart"), read(false, "alike"));
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(
            apart.contains("CASE: \"1\"") && !alike.contains("CASE"),
            "{apart}"
        );
    }

    #[test]
    fn a_conversation_has_its_turns() {
        let folder = std::env::temp_dir().join(format!("agon-suites-{}", std::process::id()));
        let suite = talk(&folder, 2).unwrap();
        let text = std::fs::read_to_string(suite.join("talk/talk-0001.yaml")).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(text.matches("action:").count() as u32, TURNS);
        assert!(text.starts_with("name: Measure talk 1\ntask: "), "{text}");
    }
}
