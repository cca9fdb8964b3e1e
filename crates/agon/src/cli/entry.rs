//! From the process's arguments to its exit status.

use std::process::ExitCode;

use clap::Parser;

use super::args::{Cli, Command};
use super::exit::Exit;
use super::failure::Failure;
use super::{
    arena, bench, clean, desktop, doctor, export, image, judge, lint, list, llm, ocr, output,
    predict, report, review, run, schema, solve, suite, validate, view,
};

pub fn main() -> ExitCode {
    let cli = Cli::parse();
    match dispatch(cli.command) {
        Ok(exit) => exit.into(),
        Err(failure) => {
            output::say(&failure.show());
            Exit::Bad.into()
        }
    }
}

fn dispatch(command: Command) -> Result<Exit, Failure> {
    match command {
        Command::Run(args) => in_runtime(run::run(&args)),
        Command::Predict(args) => in_runtime(predict::predict(&args)),
        Command::Solve(args) => in_runtime(solve::solve(&args)),
        Command::Bench(command) => in_runtime(bench::bench(&command)),
        Command::List(args) => list::list(&args),
        Command::Lint(args) => in_runtime(lint::lint(&args)),
        Command::Validate(args) => in_runtime(validate::validate(&args)),
        Command::Judge(command) => in_runtime(judge::judge(&command)),
        Command::Review(args) => review::review(&args),
        Command::Suite(command) => suite::suite(&command),
        Command::Report(args) => report::report(&args),
        Command::View(args) => in_runtime(view::view(&args)),
        Command::Export(args) => export::export(&args),
        Command::Import(args) => export::import(&args),
        Command::Arena(command) => arena::arena(command),
        Command::Desktop(args) => desktop::desktop(args),
        Command::Llm(command) => llm::llm(command),
        Command::Doctor(args) => in_runtime(doctor::doctor(&args)),
        Command::Clean(args) => in_runtime(clean::clean(&args)),
        Command::Image(command) => in_runtime(image::image(&command)),
        Command::Ocr(command) => ocr::ocr(&command),
        Command::Schema(args) => schema::schema(&args),
        Command::Completions(args) => schema::completions(&args),
        Command::Man(args) => schema::man(&args),
    }
}

pub(super) fn in_runtime(
    work: impl Future<Output = Result<Exit, Failure>>,
) -> Result<Exit, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(format_args!("can't start: {error}")))?;
    let exit = runtime.block_on(work);
    // Whatever is left blocks on something that ended; it must not keep the program alive.
    runtime.shutdown_timeout(std::time::Duration::from_secs(5));
    exit
}
