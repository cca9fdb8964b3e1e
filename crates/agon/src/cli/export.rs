//! `agon export` and `agon import`: runs in other systems' forms, and back.

use std::path::{Path, PathBuf};

use agon_core::clock::FixedClock;
use agon_llm::config::{Config, ConfigSource};
use agon_store::{Manifest, RunReader};
use agon_suite::{LoadOptions, load_suite};
use agon_testcase::results::{self, Book, Cases};
use agon_workflow::eval;
use clap::{Args, ValueEnum};

use super::exit::Exit;
use super::failure::Failure;
use super::output;
use super::report::{RUNS, find_run};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  agon export runs/latest --format openhands --out exported
  agon export latest --format osuniverse --out results
  agon export latest --format owa --out exported")]
pub(super) struct ExportArgs {
    /// A run folder, a name under runs/, or `latest`.
    #[arg(value_name = "RUN")]
    run: String,
    /// Whose form.
    #[arg(long, value_enum, value_name = "FORM")]
    format: Form,
    /// The folder that the files are written to; it is made if it is not there.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Form {
    /// output.jsonl and metadata.json of OpenHands evaluations.
    Openhands,
    /// <category>/<id>.json of OSUniverse.
    Osuniverse,
    /// report.jsonl of Open World Agents.
    Owa,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  agon import evaluation_outputs/outputs/my_bench/CodeActAgent/gpt-4o_maxiter_30
  agon import osuniverse/results
  agon report runs/NAME-OF-THE-RUN-THAT-IS-PRINTED")]
pub(super) struct ImportArgs {
    /// A folder with output.jsonl (and metadata.json) of OpenHands evaluations in it or below, or the file
    /// itself; or a folder with <category>/<id>.json of OSUniverse, or such a file.
    #[arg(value_name = "DIR")]
    from: PathBuf,
    /// Where the run folders are made.
    #[arg(long, value_name = "DIR", default_value = RUNS)]
    out: PathBuf,
}

pub(super) fn export(args: &ExportArgs) -> Result<Exit, Failure> {
    let reader = RunReader::open(&find_run(&args.run)?)?;
    learn_keys();
    std::fs::create_dir_all(&args.out)
        .map_err(|error| Failure::new(format_args!("{}: {error}", args.out.display())))?;
    let written = match args.format {
        Form::Openhands => agon_workflow::results::export(reader, &args.out)?,
        Form::Osuniverse => osuniverse(&reader, &args.out)?,
        Form::Owa => {
            let path = args.out.join("report.jsonl");
            let mut lines = Vec::new();
            eval::export_owa(&reader.trials()?, &mut lines)?;
            std::fs::write(&path, lines)
                .map_err(|error| Failure::new(format_args!("{}: {error}", path.display())))?;
            vec![path]
        }
    };
    for path in written {
        output::data(&path.display().to_string())?;
    }
    Ok(Exit::Done)
}

/// Keys that are in use here are taken out of what is written, be they recorded or in the dataset.
fn learn_keys() {
    if let Ok(config) = Config::load(&ConfigSource::of_process(None)) {
        for name in config.sections() {
            config.model(name).ok();
        }
    }
}

/// What the tasks were is in their suites, if these are still where they were.
fn osuniverse(reader: &RunReader, out: &Path) -> Result<Vec<PathBuf>, Failure> {
    let book = Book::new(reader.manifest(), cases(reader.manifest()));
    let exported = results::export(reader, &book, out)?;
    if exported.faulted > 0 {
        let trials = output::count(exported.faulted as u64, "trial");
        output::say(&format!("no file for {trials} that ended in a fault"));
    }
    if exported.other_epochs > 0 {
        let trials = output::count(exported.other_epochs as u64, "trial");
        output::say(&format!(
            "no file for {trials} of later epochs: there is one file for a case"
        ));
    }
    Ok(exported.written)
}

fn cases(manifest: &Manifest) -> Cases {
    let clock = FixedClock(manifest.dates_from);
    // As they were loaded for the run: it is a part of what its digest is of.
    let max_steps = manifest.selection.get("max_steps");
    let options = LoadOptions {
        max_steps: max_steps.and_then(|steps| steps.parse().ok()),
        ..LoadOptions::new(&clock)
    };
    let mut found = Cases::new();
    // An imported run has the results themselves in place of suites.
    let suites = manifest.suites.iter().filter(|suite| {
        let path = Path::new(&suite.path);
        path.exists() && !results::is_results(path)
    });
    for suite in suites {
        match load_suite(Path::new(&suite.path), &options) {
            Ok(loaded) => {
                if loaded.digest != suite.digest {
                    output::say(&format!(
                        "note: {} was changed since the run: the files tell of its cases as they are now",
                        suite.path
                    ));
                }
                found.extend(results::cases(&loaded.tasks));
            }
            Err(error) => output::say(&format!(
                "note: {} can't be read, so that the files tell of its cases what the run knows: {}",
                suite.path,
                output::plain(&error.to_string())
            )),
        }
    }
    found
}

pub(super) fn import(args: &ImportArgs) -> Result<Exit, Failure> {
    if results::is_results(&args.from) {
        return import_results(args);
    }
    let imported = eval::import(&args.from, &args.out)?;
    if imported.is_empty() {
        return Err(Failure::new(format_args!(
            "there is no output.jsonl of OpenHands at or below {0}, and no <category>/<id>.json of OSUniverse \
             in it",
            args.from.display()
        )));
    }
    let mut failed = 0;
    for made in &imported {
        let made = match made {
            Ok(made) => made,
            Err(error) => {
                output::say(&format!("agon: {}", output::plain(&error.to_string())));
                failed += 1;
                continue;
            }
        };
        for warning in &made.warnings {
            output::say(&format!("agon: {}", output::plain(warning)));
        }
        let rows = output::count(made.rows as u64, "row");
        let ungraded = made.ungraded;
        output::say(&format!(
            "{}: {rows}, {ungraded} without a result",
            made.from.display()
        ));
        output::data(&made.run.display().to_string())?;
    }
    if failed > 0 {
        return Err(Failure::new(format_args!(
            "{failed} of {} files could not be imported",
            imported.len()
        )));
    }
    Ok(Exit::Done)
}

fn import_results(args: &ImportArgs) -> Result<Exit, Failure> {
    let made = results::import(&args.from, &args.out)?;
    for why in &made.left_out {
        output::say(&format!("agon: {}", output::plain(why)));
    }
    output::say(&format!(
        "{}: {}, {} without a score, {} judged by people",
        made.from.display(),
        output::count(made.cases as u64, "case"),
        made.ungraded,
        made.reviewed
    ));
    output::data(&made.run.display().to_string())?;
    match made.left_out.len() {
        0 => Ok(Exit::Done),
        failed => Err(Failure::new(format_args!(
            "{failed} of {} files could not be imported",
            made.cases + failed
        ))),
    }
}
