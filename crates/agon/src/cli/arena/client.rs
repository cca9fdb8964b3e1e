//! `agon arena client`: has tasks played by servers that are there already.

use agon_arena::{ClientOptions, run_evaluation_client_async};

use super::args::ClientArgs;
use super::{show, task_file};
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::signals;

pub(super) async fn client(args: &ClientArgs) -> Result<Exit, Failure> {
    let files = task_file::read(&args.tasks, args.show.times)?;
    let tasks = files.into_iter().map(|file| file.task);
    let stop = signals::stop_on_signal("stopping: the evaluation is aborted")?;
    let options = ClientOptions {
        token: args.token.token()?,
        ..ClientOptions::default()
    };
    let done = run_evaluation_client_async(
        &args.agent_url,
        &args.evaluator_url,
        tasks,
        &options,
        &stop,
        |evaluation| show::evaluation(evaluation, args.show.json),
    )
    .await?;
    let exit = show::sum(&done);
    Ok(if stop.is_cancelled() {
        Exit::Interrupted
    } else {
        exit
    })
}
