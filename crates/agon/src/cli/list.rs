//! `agon list` and `agon run --dry-run`.

use agon_core::{Level, SystemClock, Task};
use serde::Serialize;

use super::args::ListArgs;
use super::exit::Exit;
use super::failure::Failure;
use super::load::Loaded;
use super::output;

/// One task, as a script sees it.
#[derive(Debug, Serialize)]
struct Row<'a> {
    id: &'a str,
    category: &'a str,
    level: Option<Level>,
    name: &'a str,
    tags: &'a [String],
    environment: &'static str,
    max_steps: u32,
    weight: f64,
    digest: String,
}

impl<'a> Row<'a> {
    fn of(task: &'a Task) -> Self {
        Self {
            id: task.id.id(),
            category: task.id.category(),
            level: task.level,
            name: &task.name,
            tags: &task.tags,
            environment: task.environment.kind.name(),
            max_steps: task.limits.steps,
            weight: task.weight,
            digest: task.digest.short(),
        }
    }
}

pub(super) fn list(args: &ListArgs) -> Result<Exit, Failure> {
    let loaded = Loaded::read(&args.suites, &args.selection, &SystemClock::default())?;
    if args.json {
        print_json(&loaded)?;
    } else {
        output::data(&text(&loaded))?;
    }
    Ok(Exit::Done)
}

pub(super) fn print_json(loaded: &Loaded) -> Result<(), Failure> {
    for task in &loaded.tasks {
        output::json(&Row::of(task))?;
    }
    Ok(())
}

/// `LEVEL / category / id / name / N max steps`, a line each.
pub(super) fn text(loaded: &Loaded) -> String {
    let mut text = String::new();
    for task in &loaded.tasks {
        let level = task
            .level
            .map_or("-".to_owned(), |level| level.name().to_uppercase());
        text += &format!(
            "{level} / {} / {} / {} / {} max steps\n",
            task.id.category(),
            task.id.id(),
            output::plain(&task.name),
            task.limits.steps
        );
    }
    text
}
