//! The system prompt: a template of ours, or the user's own of the same name. Templates see which tools
//! there are and how many steps, and nothing of the task.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use agon_core::Brief;
use agon_llm::config::{AgentSection, Config, Environment};
use minijinja::{UndefinedBehavior, context};

use super::tools::ToolKind;

const USUAL: &str = "system_prompt.j2";
const LONG_HORIZON: &str = "system_prompt_long_horizon.j2";
const OWN: [(&str, &str); 2] = [
    (USUAL, include_str!("prompts/system_prompt.j2")),
    (
        LONG_HORIZON,
        include_str!("prompts/system_prompt_long_horizon.j2"),
    ),
];

/// A larger file is no prompt.
const LARGEST: u64 = 256 << 10;

/// Steps of a template: a loop without end is a mistake.
const FUEL: u64 = 100_000;

/// The variable with the folder of the user's own templates.
const FOLDER: &str = "AGON_PROMPTS";

/// The template that the settings name: from `$AGON_PROMPTS`, from `prompts` beside `config.toml`, one of
/// ours, or the file at that path. It is tried out at once.
pub(super) fn template(
    section: &AgentSection,
    config: Option<&Config>,
    environment: &Environment,
) -> Result<String, String> {
    let mut name = section.system_prompt_filename.as_str();
    if section.enable_plan_mode && name == USUAL {
        name = LONG_HORIZON;
    }
    let beside = config
        .and_then(Config::file)
        .and_then(Path::parent)
        .map(|folder| folder.join("prompts"));
    let folders: Vec<PathBuf> = environment
        .get(FOLDER)
        .map(PathBuf::from)
        .into_iter()
        .chain(beside)
        .collect();
    let own = OWN.iter().find(|(known, _)| *known == name);
    let mut places: Vec<PathBuf> = folders.iter().map(|folder| folder.join(name)).collect();
    if own.is_none() {
        places.push(PathBuf::from(name));
    }
    for place in &places {
        if let Some(text) = read(place)? {
            return tried(text, &place.display().to_string());
        }
    }
    match own {
        Some((name, text)) => tried((*text).to_owned(), name),
        None => {
            let places: Vec<String> = places.iter().map(|p| p.display().to_string()).collect();
            Err(format!(
                "the prompt `{name}` is not there; looked for: {}; ours are: {USUAL}, {LONG_HORIZON}",
                places.join(", ")
            ))
        }
    }
}

fn read(path: &Path) -> Result<Option<String>, String> {
    if !path.is_file() {
        return Ok(None);
    }
    let wrong = |why: &dyn std::fmt::Display| format!("can't read {}: {why}", path.display());
    let file = File::open(path).map_err(|error| wrong(&error))?;
    let mut text = String::new();
    let size = file
        .take(LARGEST + 1)
        .read_to_string(&mut text)
        .map_err(|error| wrong(&error))?;
    if size as u64 > LARGEST {
        return Err(wrong(&"it is too large for a prompt"));
    }
    Ok(Some(text))
}

/// Mistakes are found before the first trial.
fn tried(text: String, name: &str) -> Result<String, String> {
    let tools: Vec<&str> = ToolKind::ALL.into_iter().map(ToolKind::name).collect();
    match filled(&text, &tools, 1, "local") {
        Ok(_) => Ok(text),
        Err(why) => Err(format!("the prompt {name}: {why}")),
    }
}

pub(super) fn system(template: &str, tools: &[ToolKind], brief: &Brief) -> Result<String, String> {
    let tools: Vec<&str> = tools.iter().map(|tool| tool.name()).collect();
    filled(template, &tools, brief.max_steps, &brief.environment)
}

fn filled(
    template: &str,
    tools: &[&str],
    max_steps: u32,
    environment: &str,
) -> Result<String, String> {
    let mut engine = minijinja::Environment::new();
    engine.set_undefined_behavior(UndefinedBehavior::Strict);
    engine.set_fuel(Some(FUEL));
    let tools: Vec<String> = tools.iter().map(ToString::to_string).collect();
    let values = context! { tools, max_steps, environment };
    let text = engine
        .render_str(template, values)
        .map_err(|error| error.to_string())?;
    Ok(text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(name: &str, plan: bool) -> AgentSection {
        AgentSection {
            system_prompt_filename: name.to_owned(),
            enable_plan_mode: plan,
            ..AgentSection::default()
        }
    }

    fn with_folder(folder: &Path) -> Environment {
        [(FOLDER, folder.display().to_string())]
            .into_iter()
            .collect()
    }

    #[test]
    fn planning_has_a_prompt_of_its_own() {
        let of = |plan| template(&section(USUAL, plan), None, &Environment::default()).unwrap();
        assert!(of(true).contains("task_tracker"));
        assert!(!of(false).contains("task_tracker"));
    }

    #[test]
    fn prompts_speak_only_of_tools_that_are_there() {
        for (name, text) in OWN {
            for tools in [&[][..], &["execute_bash", "finish"][..]] {
                let text = filled(text, tools, 3, "local").unwrap();
                for tool in ToolKind::ALL.map(ToolKind::name) {
                    let said = text.contains(&format!("`{tool}`"));
                    assert!(!said || tools.contains(&tool), "{name}: {tool}");
                }
                assert!(!text.contains("\n\n\n"), "{name}:\n{text}");
            }
        }
    }

    #[test]
    fn the_users_own_prompt_comes_first() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(USUAL), "Mine: {{ tools | join(',') }}").unwrap();
        let environment = with_folder(folder.path());
        let text = template(&section(USUAL, false), None, &environment).unwrap();
        assert!(
            filled(&text, &["think"], 1, "local")
                .unwrap()
                .starts_with("Mine: think")
        );
        let path = folder.path().join("other.j2");
        std::fs::write(&path, "Other").unwrap();
        let by_path = section(&path.display().to_string(), false);
        assert_eq!(
            template(&by_path, None, &Environment::default()).unwrap(),
            "Other"
        );
    }

    #[test]
    fn what_can_not_be_used_is_told_with_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let environment = with_folder(folder.path());
        let error = |text: &str| {
            std::fs::write(folder.path().join("p.j2"), text).unwrap();
            template(&section("p.j2", false), None, &environment).unwrap_err()
        };
        assert!(error("{{ secret }}").contains("p.j2"));
        assert!(
            error("{% for a in range(100000) %}{% for b in range(9) %}x{% endfor %}{% endfor %}")
                .contains("p.j2")
        );
        assert!(error("{% include '/etc/passwd' %}").contains("p.j2"));
        assert!(error(&"x".repeat(300 << 10)).contains("too large"));
        let missing = template(&section("none.j2", false), None, &environment).unwrap_err();
        assert!(
            missing.contains("none.j2") && missing.contains(USUAL),
            "{missing}"
        );
    }
}
