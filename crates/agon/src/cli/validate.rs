//! `agon validate`: grades a run again from its record. The same as `agon run --resume RUN --mode
//! validate-only`, under the name that people look for.

use std::path::PathBuf;

use agon_core::Money;
use clap::Args;

use super::args::{CaseArgs, ModeArg, PlayArgs, RunArgs, SelectionArgs, dollars, share};
use super::exit::Exit;
use super::failure::Failure;
use super::judge::JudgeArgs;
use super::llm::ModelArgs;
use super::run;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  agon validate runs/latest
  agon validate latest --judge openai/gpt-4o --judge-votes 3")]
pub(super) struct ValidateArgs {
    /// A run folder, a name under runs/, or `latest`.
    #[arg(value_name = "RUN")]
    pub(super) run: String,
    /// Suites with the tasks' checks of now [default: where they were].
    #[arg(long = "suite", value_name = "SUITE")]
    pub(super) suites: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) judge: JudgeArgs,
    #[command(flatten)]
    pub(super) models: ModelArgs,
    /// Trials at a time [default: one per core].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) workers: Option<u16>,
    /// Exit with status 3 if the score (0 to 1) is lower.
    #[arg(long, value_name = "X", value_parser = share)]
    pub(super) fail_under: Option<f64>,
    /// Ask no judge after this many tokens of all trials together.
    #[arg(long, value_name = "N")]
    pub(super) budget_tokens: Option<u64>,
    /// Ask no judge after this much money (dollars) of all trials together.
    #[arg(long, value_name = "USD", value_parser = dollars)]
    pub(super) budget_money: Option<Money>,
    /// End with one JSON object on standard output.
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) async fn validate(args: &ValidateArgs) -> Result<Exit, Failure> {
    run::run(&RunArgs {
        suites: args.suites.clone(),
        agent: None,
        agent_files: Vec::new(),
        selection: SelectionArgs::default(),
        play: PlayArgs {
            workers: args.workers,
            epochs: None,
            seed: None,
            models: args.models.clone(),
            out: None,
            resume: Some(args.run.clone()),
            mode: ModeArg::ValidateOnly,
            retries: 0,
            fail_under: args.fail_under,
            budget_steps: None,
            budget_seconds: None,
            budget_tokens: args.budget_tokens,
            budget_money: args.budget_money,
            json: args.json,
        },
        judge: args.judge.clone(),
        cases: CaseArgs::default(),
        dry_run: false,
    })
    .await
}
