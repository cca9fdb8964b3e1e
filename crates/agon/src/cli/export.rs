//! `agon export` and `agon import`: runs in other systems' forms, and back.

use std::path::PathBuf;

use agon_store::RunReader;
use agon_workflow::eval;
use clap::{Args, ValueEnum};

use super::exit::Exit;
use super::failure::Failure;
use super::output;
use super::report::{RUNS, find_run};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  agon export runs/latest --format openhands --out exported
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
    /// report.jsonl of Open World Agents.
    Owa,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:
  agon import evaluation_outputs/outputs/my_bench/CodeActAgent/gpt-4o_maxiter_30
  agon report runs/NAME-OF-THE-RUN-THAT-IS-PRINTED")]
pub(super) struct ImportArgs {
    /// A folder with output.jsonl (and metadata.json) of OpenHands evaluations in it or below, or the file
    /// itself.
    #[arg(value_name = "DIR")]
    from: PathBuf,
    /// Where the run folders are made.
    #[arg(long, value_name = "DIR", default_value = RUNS)]
    out: PathBuf,
}

pub(super) fn export(args: &ExportArgs) -> Result<Exit, Failure> {
    let reader = RunReader::open(&find_run(&args.run)?)?;
    std::fs::create_dir_all(&args.out)
        .map_err(|error| Failure::new(format_args!("{}: {error}", args.out.display())))?;
    let written = match args.format {
        Form::Openhands => agon_workflow::results::export(reader, &args.out)?,
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

pub(super) fn import(args: &ImportArgs) -> Result<Exit, Failure> {
    let imported = eval::import(&args.from, &args.out)?;
    if imported.is_empty() {
        return Err(Failure::new(format_args!(
            "there is no output.jsonl at or below {}",
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
