//! `agon image`: makes the image of container desktops on the engine that sandboxes use, and lists
//! what was made. What is in it is `recipe`'s to know.

mod bootstrap;
mod recipe;

use std::time::{Duration, Instant};

use agon_sandbox::container::{ImageName, Images};
use serde::Serialize;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::timeout;

use self::bootstrap::{Bootstrap, End};
use self::recipe::{ENV, Extras, LABEL_KIND, Recipe, Source};
use super::args::{ImageBuildArgs, ImageCommand, ImageKind, JsonArgs};
use super::exit::Exit;
use super::failure::Failure;
use super::output;

/// For the whole of a build.
const DEADLINE: Duration = Duration::from_secs(30 * 60);

pub(super) async fn image(command: &ImageCommand) -> Result<Exit, Failure> {
    match command {
        ImageCommand::Build(args) => build(args).await,
        ImageCommand::List(args) => list(args).await,
    }
}

async fn build(args: &ImageBuildArgs) -> Result<Exit, Failure> {
    let ImageKind::Desktop = args.what;
    let source = if args.from_registry {
        Source::Registry
    } else {
        Source::Packages
    };
    let extras = match (args.with_office, args.with_browser) {
        (true, _) => Extras::Office,
        (false, true) => Extras::Browser,
        (false, false) => Extras::None,
    };
    let recipe = Recipe { source, extras };
    let tag = args.tag.as_deref().unwrap_or(extras.tag());
    let images = Images::connect().await?;
    let there = images.labels(tag).await?;
    if !args.force && there.is_some_and(|labels| recipe.made(&labels)) {
        output::say(&format!("{tag} is up to date (--force makes it again)"));
        return Ok(Exit::Done);
    }
    let started = Instant::now();
    let name = recipe.name(tag);
    output::say(&format!("making {tag}; this takes a minute or more"));
    let done = match source {
        Source::Packages => from_packages(&images, recipe, &name, args.mirror.as_deref()).await?,
        Source::Registry => from_registry(&images, recipe, &name).await?,
    };
    match done {
        Ended::Made => {
            let seconds = started.elapsed().as_secs_f64();
            output::say(&format!("made {tag} in {seconds:.0} s"));
            Ok(Exit::Done)
        }
        Ended::Interrupted => Ok(Exit::Interrupted),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ended {
    Made,
    Interrupted,
}

async fn from_packages(
    images: &Images,
    recipe: Recipe,
    name: &ImageName,
    mirror: Option<&str>,
) -> Result<Ended, Failure> {
    let (bootstrap, archive) = Bootstrap::start(recipe, mirror)?;
    let ended = until_stopped(images.import(name, &ENV, archive)).await;
    let End { failed, said } = bootstrap.end().await;
    let why = match (ended, failed) {
        (Ok(ended), _) => return Ok(ended),
        (Err(_), Some(status)) => format!("mmdebstrap failed ({status})"),
        (Err(failure), None) => failure.show().trim_start_matches("agon: ").to_owned(),
    };
    Err(Failure::new(format_args!(
        "{why}; mmdebstrap said last:\n{said}It needs Debian's mirrors (or --mirror URL), the \
         package debian-archive-keyring and room for about 2 GB (office: 5 GB) in $TMPDIR or /tmp."
    )))
}

async fn from_registry(
    images: &Images,
    recipe: Recipe,
    name: &ImageName,
) -> Result<Ended, Failure> {
    let progress = |line: &str| {
        let line = output::plain(line);
        if line.starts_with("Step ") || line.starts_with("STEP ") {
            output::say(&format!("  {line}"));
        }
    };
    let files = recipe.files();
    let build = images.build(name, recipe.arguments(), &files, progress);
    until_stopped(build).await
}

/// Does the work until it is done, too late, or somebody wants it to stop.
async fn until_stopped(
    work: impl Future<Output = Result<(), agon_sandbox::SandboxError>>,
) -> Result<Ended, Failure> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hang_up = signal(SignalKind::hangup())?;
    tokio::select! {
        done = timeout(DEADLINE, work) => match done {
            Ok(made) => Ok(made.map(|()| Ended::Made)?),
            Err(_) => Err(Failure::new(format_args!(
                "the image was not made within {} minutes", DEADLINE.as_secs() / 60
            ))),
        },
        _ = interrupt.recv() => Ok(stopped()),
        _ = terminate.recv() => Ok(stopped()),
        _ = hang_up.recv() => Ok(stopped()),
    }
}

fn stopped() -> Ended {
    output::say("stopping: no image is made");
    Ended::Interrupted
}

#[derive(Debug, Serialize)]
struct Listed {
    tags: Vec<String>,
    kind: String,
    id: String,
    bytes: u64,
    made: jiff::Timestamp,
}

async fn list(args: &JsonArgs) -> Result<Exit, Failure> {
    let images = Images::connect().await?.labelled(LABEL_KIND).await?;
    if images.is_empty() {
        output::say("no images were made here yet: run `agon image build desktop`");
    }
    for image in images {
        let listed = Listed {
            kind: image.labels.get(LABEL_KIND).cloned().unwrap_or_default(),
            made: jiff::Timestamp::from_second(image.made).unwrap_or_default(),
            tags: image.tags,
            id: image.id,
            bytes: image.bytes,
        };
        if args.json {
            output::json(&listed)?;
        } else {
            output::data(&format!(
                "{:<30} {:<10} {:>9}  {}",
                output::plain(&listed.tags.join(" ")),
                output::plain(&listed.kind),
                agon_core::ByteSize(listed.bytes).to_string(),
                listed.made
            ))?;
        }
    }
    Ok(Exit::Done)
}
