//! The image of a task: one that is named, or one that is made from `environment/Dockerfile`.

use std::path::Path;

use agon_core::Seconds;
use agon_core::files::stays_inside;

use crate::error::SuiteError;
use crate::load::{ImageBuild, read_text};
use crate::tree;

const DOCKERFILE: &str = "Dockerfile";
const LONGEST_NAME: usize = 60;

/// What has to be made for a task called `name`, whose recipe lies in `folder`.
pub(super) fn build(name: &str, folder: &Path, limit: Seconds) -> Result<ImageBuild, SuiteError> {
    let digest = tree::read(folder)?.digest().short();
    Ok(ImageBuild {
        tag: format!("agon-harbor/{}:{digest}", repository(name)),
        folder: folder.to_owned(),
        limit,
    })
}

pub(super) fn has_recipe(folder: &Path) -> bool {
    folder.join(DOCKERFILE).is_file()
}

/// A name as registries take them: small letters and digits, single separators between them.
fn repository(name: &str) -> String {
    let mut made = String::new();
    for c in name.chars().flat_map(char::to_lowercase) {
        if c.is_ascii_alphanumeric() {
            made.push(c);
        } else if !made.is_empty() && !made.ends_with('-') {
            made.push('-');
        }
        if made.len() >= LONGEST_NAME {
            break;
        }
    }
    match made.trim_end_matches('-') {
        "" => "task".to_owned(),
        name => name.to_owned(),
    }
}

/// Where commands start in a container of the image, as far as its recipe says.
pub(super) fn workdir(folder: &Path) -> Result<Option<String>, SuiteError> {
    if !has_recipe(folder) {
        return Ok(None);
    }
    let recipe = read_text(&folder.join(DOCKERFILE))?;
    Ok(last_workdir(recipe.text()))
}

/// The last stage counts; what a variable or an earlier stage decides is not known here.
fn last_workdir(recipe: &str) -> Option<String> {
    let mut folder: Option<String> = None;
    for line in recipe.lines() {
        let mut words = line.split_whitespace();
        let instruction = words.next().unwrap_or_default().to_ascii_uppercase();
        if instruction == "FROM" {
            folder = None;
        }
        if instruction != "WORKDIR" {
            continue;
        }
        let rest = words.collect::<Vec<_>>().join(" ");
        let path = rest.trim_matches(['"', '\'']).trim_end_matches('/');
        if path.contains('$') {
            folder = None;
        } else if path.starts_with('/') {
            folder = Some(path.to_owned());
        } else {
            folder = folder.map(|before| format!("{before}/{path}"));
        }
    }
    folder.filter(|path| stays_inside(Path::new(path.trim_start_matches('/'))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_images() {
        assert_eq!(repository("Hello_World.2"), "hello-world-2");
        assert_eq!(repository("ÄÖ"), "task");
        assert_eq!(repository("--a--"), "a");
    }

    #[test]
    fn where_commands_start() {
        for (recipe, expected) in [
            ("FROM a\nWORKDIR /app\n", Some("/app")),
            (
                "FROM a\nworkdir /app/\nRUN x\nWORKDIR src\n",
                Some("/app/src"),
            ),
            ("FROM a\nWORKDIR /x\nFROM b\n", None),
            ("FROM a\nWORKDIR $HOME\n", None),
            ("FROM a\nWORKDIR relative\n", None),
            ("FROM a\nWORKDIR /a/../b\n", None),
            ("FROM a\n", None),
        ] {
            assert_eq!(last_workdir(recipe).as_deref(), expected, "{recipe}");
        }
    }
}
