//! One task folder, or a folder of them, becomes a suite.

use std::fs;
use std::path::{Path, PathBuf};

use agon_core::files::FileTree;
use agon_core::id::check_name;
use agon_core::{Task, TaskId};

use super::image;
use super::settings::Settings;
use crate::build::{self, Draft};
use crate::error::{SourceText, SuiteError, SuiteErrors};
use crate::format::SuiteFile;
use crate::layout::{entries, folder_name};
use crate::lint::{Finding, Severity};
use crate::load::{ImageBuild, LoadOptions, Suite, read_text, suite_digest};
use crate::source::{NodeError, parse_toml};
use crate::tree;

const SETTINGS: &str = "task.toml";
const INSTRUCTION: &str = "instruction.md";

/// The task folders at a path, if that is what lies there.
pub(crate) fn find(path: &Path) -> Option<Vec<PathBuf>> {
    if path.is_file() {
        let folder = path.parent().filter(|_| path.ends_with(SETTINGS))?;
        return is_task(folder).then(|| vec![folder.to_owned()]);
    }
    if is_task(path) {
        return Some(vec![path.to_owned()]);
    }
    let mut folders = entries(path).ok()?;
    folders.retain(|folder| folder.join(SETTINGS).is_file());
    folders
        .iter()
        .any(|folder| is_task(folder))
        .then_some(folders)
}

fn is_task(folder: &Path) -> bool {
    folder.join(SETTINGS).is_file() && folder.join(INSTRUCTION).is_file()
}

/// `folders` are those that were found at `path`.
pub(crate) fn load(
    path: &Path,
    folders: &[PathBuf],
    options: &LoadOptions<'_>,
) -> Result<Suite, SuiteErrors> {
    let name = suite_name(path, folders);
    let mut errors = Vec::new();
    let mut suite = Suite {
        name: name.clone(),
        description: String::new(),
        path: path.to_owned(),
        digest: suite_digest(&[]),
        tasks: Vec::with_capacity(folders.len()),
        hidden: Vec::new(),
        builds: Vec::new(),
        notes: Vec::new(),
    };
    for folder in folders {
        match read(folder, &name, options) {
            Ok(read) => {
                let odd = |message| Finding {
                    task: read.task.id.clone(),
                    severity: Severity::Warning,
                    message,
                };
                suite.notes.extend(read.oddities.into_iter().map(odd));
                suite.tasks.push(read.task);
                suite.builds.extend(read.build);
            }
            Err(more) => errors.extend(more),
        }
    }
    if !errors.is_empty() {
        return Err(SuiteErrors::new(path, errors));
    }
    suite.tasks.sort_by(|a, b| a.id.cmp(&b.id));
    suite.builds.sort_by(|a, b| a.tag.cmp(&b.tag));
    suite.builds.dedup();
    suite.digest = suite_digest(&suite.tasks);
    Ok(suite)
}

/// One task alone is of the folder that it lies in.
fn suite_name(path: &Path, folders: &[PathBuf]) -> String {
    let full = match folders {
        [only] if path.starts_with(only) => fs::canonicalize(only).ok(),
        _ => None,
    };
    let folder = full.as_deref().and_then(Path::parent).unwrap_or(path);
    folder_name(folder).unwrap_or_else(|| "harbor".to_owned())
}

struct Read {
    task: Task,
    build: Option<ImageBuild>,
    oddities: Vec<String>,
}

fn read(folder: &Path, suite: &str, options: &LoadOptions<'_>) -> Result<Read, Vec<SuiteError>> {
    let one = |error: SuiteError| vec![error];
    let source = read_text(&folder.join(SETTINGS)).map_err(one)?;
    let placed = |error: NodeError| vec![source.error(error)];
    let node = parse_toml(source.text()).map_err(placed)?;
    refuse(folder, &node, &source).map_err(one)?;
    let settings = Settings { node: &node };
    let name = folder_name(folder).unwrap_or_default();
    let category = settings
        .category()
        .unwrap_or(suite)
        .replace([' ', '/'], "_");
    let category = match check_name(&category) {
        Ok(()) => category,
        Err(_) => "harbor".to_owned(),
    };
    let id = TaskId::new(category, &name)
        .map_err(|error| one(SuiteError::layout(folder, error.to_string())))?;

    let environment = folder.join("environment");
    let limit = settings.build_limit().map_err(placed)?;
    let build = match settings.named_image() {
        Some(_) => None,
        None => Some(image::build(&name, &environment, limit).map_err(one)?),
    };
    let made = build.as_ref().map_or("", |build| build.tag.as_str());
    let cwd = image::workdir(&environment).map_err(one)?;
    let instruction = read_text(&folder.join(INSTRUCTION)).map_err(one)?;
    let mut oddities = settings.oddities(&source);
    if cwd.is_none() && !settings.names_workdir() {
        oddities.push(
            "commands start in /work: neither `workdir` in [environment] nor a Dockerfile says where"
                .to_owned(),
        );
    }
    let verify = tree::read(&folder.join("tests")).map_err(one)?;
    let solve = solution(folder, &mut oddities).map_err(one)?;
    let draft = Draft {
        id,
        node: settings.keys(instruction.text(), made, cwd.as_deref()),
        visible: FileTree::default(),
        verify,
        solve,
        root: folder.to_owned(),
        instance: None,
    };
    let task = build::task(draft, &SuiteFile::default(), options.max_steps.as_ref())
        .map_err(|errors| -> Vec<_> { errors.into_iter().map(|e| source.error(e)).collect() })?;
    Ok(Read {
        task,
        build,
        oddities,
    })
}

/// What can't be played at all.
fn refuse(
    folder: &Path,
    node: &crate::source::Node,
    source: &SourceText,
) -> Result<(), SuiteError> {
    if let Some(span) = node.key_span("steps") {
        let message = "tasks of several steps are not played";
        return Err(source.error(NodeError::new(message).at(span)));
    }
    if !folder.join(INSTRUCTION).is_file() {
        return Err(SuiteError::layout(
            folder,
            "this folder has no instruction.md",
        ));
    }
    if !folder.join("tests/test.sh").is_file() {
        return Err(SuiteError::layout(
            folder,
            "this folder has no tests/test.sh",
        ));
    }
    let environment = folder.join("environment");
    let composed = ["docker-compose.yaml", "docker-compose.yml"];
    if composed.iter().any(|name| environment.join(name).is_file()) {
        return Err(SuiteError::layout_help(
            environment,
            "tasks of several containers are not played",
            "leave docker-compose.yaml out if the Dockerfile is enough",
        ));
    }
    let named = node
        .get("environment")
        .and_then(|node| node.get("docker_image"));
    if named.is_none() && !image::has_recipe(&environment) {
        return Err(SuiteError::layout_help(
            environment,
            "there is neither a Dockerfile nor an image",
            "write environment/Dockerfile, or docker_image in [environment] of task.toml",
        ));
    }
    Ok(())
}

/// In brackets, so that a script that sets options or exits leaves the agent's shell as it was.
fn solution(folder: &Path, oddities: &mut Vec<String>) -> Result<Option<String>, SuiteError> {
    let script = folder.join("solution/solve.sh");
    if !script.is_file() {
        return Ok(None);
    }
    let others = entries(&folder.join("solution"))?.len() - 1;
    if others > 0 {
        oddities.push(format!(
            "solution/ has {others} more files than solve.sh: they are not there when it is played"
        ));
    }
    let text = read_text(&script)?;
    Ok(Some(format!("(\n{}\n)", text.text().trim_end())))
}
