//! System prompts: a template of ours, or the user's own file. A template sees the screen's size, the actions
//! and the steps, and nothing of the task or of the day.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use agon_core::ActionKind;
use minijinja::{Environment, UndefinedBehavior, context};

use super::manner::Scene;

/// A larger file is no prompt.
const LARGEST: u64 = 256 << 10;

/// Steps of a template: a loop without end is a mistake.
const FUEL: u64 = 100_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Prompt {
    template: String,
}

/// What a template may speak of.
#[derive(Debug)]
pub(super) struct Values {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) max_steps: u32,
    /// Commands may be run.
    pub(super) shell: bool,
    /// One line for each.
    pub(super) actions: Vec<String>,
    /// The function that the actions are called by, as JSON; empty where there is none.
    pub(super) function: String,
}

impl Values {
    pub(super) fn of(scene: &Scene<'_>, actions: Vec<String>, function: String) -> Self {
        let (width, height) = scene.size;
        Self {
            width,
            height,
            max_steps: scene.brief.max_steps,
            shell: scene.allows(ActionKind::Run),
            actions,
            function,
        }
    }
}

impl Prompt {
    /// The file, or else ours. Mistakes are found at once.
    pub(super) fn open(file: Option<&Path>, ours: &str) -> Result<Self, String> {
        let template = match file {
            Some(file) => {
                read(file).map_err(|why| format!("the prompt {}: {why}", file.display()))?
            }
            None => ours.to_owned(),
        };
        let prompt = Self { template };
        let values = Values {
            width: 1280,
            height: 800,
            max_steps: 1,
            shell: false,
            actions: vec![String::new()],
            function: String::new(),
        };
        let name = file.map_or_else(String::new, |file| format!(" {}", file.display()));
        let tried = prompt.filled(&values);
        tried.map_err(|why| format!("the prompt{name}: {why}"))?;
        Ok(prompt)
    }

    pub(super) fn template(&self) -> &str {
        &self.template
    }

    pub(super) fn filled(&self, values: &Values) -> Result<String, String> {
        let mut engine = Environment::new();
        engine.set_undefined_behavior(UndefinedBehavior::Strict);
        engine.set_fuel(Some(FUEL));
        let values = context! {
            width => values.width,
            height => values.height,
            max_steps => values.max_steps,
            shell => values.shell,
            actions => values.actions.clone(),
            function => values.function.clone(),
        };
        let text = engine
            .render_str(&self.template, values)
            .map_err(|error| error.to_string())?;
        Ok(text.trim().to_owned())
    }
}

fn read(path: &Path) -> Result<String, String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    let mut text = String::new();
    let size = file
        .take(LARGEST + 1)
        .read_to_string(&mut text)
        .map_err(|error| error.to_string())?;
    if size as u64 > LARGEST {
        return Err("it is too large for a prompt".to_owned());
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ones_own_prompt_is_tried_out_before_the_first_trial() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("p.j2");
        std::fs::write(
            &file,
            "{{ width }}x{{ height }} {% for a in actions %}{{ a }}{% endfor %}",
        )
        .unwrap();
        let prompt = Prompt::open(Some(&file), "ours").unwrap();
        assert_eq!(prompt.template().chars().next(), Some('{'));
        std::fs::write(&file, "{{ widht }}").unwrap();
        let why = Prompt::open(Some(&file), "ours").unwrap_err();
        assert!(why.contains("p.j2") && why.contains("undefined"), "{why}");
        std::fs::write(
            &file,
            "{% for a in range(99999) %}{% for b in range(99999) %}.{% endfor %}{% endfor %}",
        )
        .unwrap();
        assert!(Prompt::open(Some(&file), "ours").is_err());
        let why = Prompt::open(Some(&folder.path().join("none")), "ours").unwrap_err();
        assert!(why.contains("none"), "{why}");
    }
}
