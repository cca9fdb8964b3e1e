//! Arguments and help texts about judges.

use agon_core::Money;
use clap::{Args, Subcommand};

use crate::cli::args::dollars;
use crate::cli::llm::ModelArgs;

const JUDGE: &str = "Judge";

/// Who decides about checks that are prose. Flattened into every command that grades.
#[derive(Debug, Clone, Default, Args)]
pub(in crate::cli) struct JudgeArgs {
    /// The model that decides about prose; names as for --model [default: $AGON_JUDGE].
    #[arg(long, value_name = "NAME", env = "AGON_JUDGE", hide_env = true, help_heading = JUDGE)]
    pub(in crate::cli) judge: Option<String>,
    /// How often it is asked about each check, an odd number; the majority decides [default: 1].
    #[arg(long, value_name = "N", value_parser = votes, help_heading = JUDGE)]
    pub(in crate::cli) judge_votes: Option<u32>,
    /// The judge may be the model that is judged.
    #[arg(long, help_heading = JUDGE)]
    pub(in crate::cli) judge_may_be_agent: bool,
}

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum JudgeCommand {
    /// Compare a judge's verdicts with those of people and of checks that programs decide.
    Calibrate(Box<CalibrateArgs>),
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  agon judge calibrate latest                      verdicts of the run's own judge, against reviews
  agon judge calibrate latest --judge openai/gpt-4o
                                                   ask a judge about every trial, against reviews and,
                                                   where there is none, what programs decided

Exit status: 0 all was judged, 1 the judge could not decide about some trials.")]
pub(in crate::cli) struct CalibrateArgs {
    /// Run folders, names under runs/, or `latest`.
    #[arg(required = true, value_name = "RUN")]
    pub(super) runs: Vec<String>,
    /// The model to ask about every trial; names as for --model [default: what the run's own judge said].
    // Not from the environment: whoever asks nobody pays nobody.
    #[arg(long, value_name = "NAME", help_heading = JUDGE)]
    pub(super) judge: Option<String>,
    /// How often it is asked about each trial, an odd number; the majority decides [default: 1].
    #[arg(long, value_name = "N", value_parser = votes, help_heading = JUDGE)]
    pub(super) judge_votes: Option<u32>,
    #[command(flatten)]
    pub(super) models: ModelArgs,
    /// Trials at a time [default: one per core].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) workers: Option<u16>,
    /// Ask no further after this many tokens.
    #[arg(long, value_name = "N")]
    pub(super) budget_tokens: Option<u64>,
    /// Ask no further after this much money (dollars).
    #[arg(long, value_name = "USD", value_parser = dollars)]
    pub(super) budget_money: Option<Money>,
    /// JSON instead of text.
    #[arg(long)]
    pub(super) json: bool,
}

fn votes(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(votes) if votes % 2 == 1 && votes <= 15 => Ok(votes),
        _ => Err("give an odd number from 1 to 15, so that there is a majority".to_owned()),
    }
}
