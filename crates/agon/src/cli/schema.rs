//! `agon schema`, `agon completions` and `agon man`: what other programs need to know about us.

use agon_core::Event;
use agon_store::{BegunAttempt, Manifest, Request, Review, RunningAttempt, TrialLine};
use clap::CommandFactory;
use schemars::schema_for;

use super::args::{Cli, CompletionArgs, ManArgs, SchemaArgs, SchemaOf};
use super::exit::Exit;
use super::failure::Failure;
use super::output;

pub(super) fn schema(args: &SchemaArgs) -> Result<Exit, Failure> {
    let schema = match args.what {
        SchemaOf::Task => agon_suite::task_schema(),
        SchemaOf::Benchmark => agon_suite::benchmark_schema(),
        SchemaOf::Event => schema_for!(Event),
        SchemaOf::Run => schema_for!(Manifest),
        SchemaOf::Trial => schema_for!(TrialLine),
        SchemaOf::Review => schema_for!(Review),
        SchemaOf::Begun => schema_for!(BegunAttempt),
        SchemaOf::Running => schema_for!(RunningAttempt),
        SchemaOf::Control => schema_for!(Request),
        SchemaOf::Report => agon_report::document_schema(),
    };
    output::data(&serde_json::to_string_pretty(&schema)?)?;
    Ok(Exit::Done)
}

pub(super) fn completions(args: &CompletionArgs) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "agon", &mut script);
    output::data(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}

pub(super) fn man(args: &ManArgs) -> Result<Exit, Failure> {
    std::fs::create_dir_all(&args.folder)
        .and_then(|()| clap_mangen::generate_to(Cli::command(), &args.folder))
        .map_err(|error| {
            let folder = args.folder.display();
            Failure::new(format_args!("can't write man pages to {folder}: {error}"))
        })?;
    Ok(Exit::Done)
}
