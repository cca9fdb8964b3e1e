//! Arguments and help texts of `agon bench`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use agon_core::Money;
use clap::{Args, Subcommand};

use crate::cli::args::PlayArgs;
use crate::cli::solve::{budget, steps};

const EVALUATION: &str = "Evaluation";

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum BenchCommand {
    /// Run an agent over the instances of a benchmark and grade it.
    Run(Box<BenchRunArgs>),
}

#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  agon bench run my_bench -l eval_gpt4 -c CodeActAgent -i 30 --eval-num-workers 4
  agon bench run suites/bugfix -l llm --eval-ids off-by-one,lost-update --eval-note try2
  agon bench run suites/qa -c oracle --eval-n-limit 5       the reference solutions
  agon bench run my_bench -l llm --eval-output-dir results --mode rerun-failed

Results are in DIR/<benchmark>/<agent>/<model>_maxiter_<N>[_N_<note>]/: output.jsonl and
metadata.json as OpenHands writes them, beside the files of an Agon run folder. The same
command goes on with what is not graded yet. `agon report` and `agon export` take that folder.")]
pub(in crate::cli) struct BenchRunArgs {
    /// A benchmark folder (benchmark.toml), a suite, or a folder of Harbor tasks.
    #[arg(value_name = "BENCHMARK")]
    pub(super) benchmark: PathBuf,
    /// CodeActAgent, or any agent of `agon run`.
    #[arg(
        long,
        short = 'c',
        value_name = "AGENT",
        default_value = "CodeActAgent"
    )]
    pub(super) agent_cls: String,
    /// Files beside the program of a cmd: agent that belong to it, too: names or globs in its folder. Can be
    /// given often.
    #[arg(long, value_name = "GLOB")]
    pub(super) agent_files: Vec<String>,
    /// Steps that the agent may take for one instance [default: as the benchmark says].
    #[arg(long, short = 'i', value_name = "N", value_parser = steps, allow_negative_numbers = true)]
    pub(super) max_iterations: Option<u32>,
    /// Money (dollars) that its model may cost for one instance; 0 is no limit.
    #[arg(long, short = 'b', value_name = "USD", value_parser = budget, allow_negative_numbers = true)]
    pub(super) max_budget_per_task: Option<Money>,
    /// Instances at a time [default: 4].
    #[arg(long, value_name = "N", help_heading = EVALUATION,
        value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) eval_num_workers: Option<u16>,
    /// Only the first so many instances.
    #[arg(long, value_name = "N", help_heading = EVALUATION)]
    pub(super) eval_n_limit: Option<NonZeroUsize>,
    /// Only these instances.
    #[arg(long, value_name = "A,B", value_delimiter = ',', help_heading = EVALUATION)]
    pub(super) eval_ids: Vec<String>,
    /// Becomes part of the result folder's name.
    #[arg(long, value_name = "TEXT", help_heading = EVALUATION)]
    pub(super) eval_note: Option<String>,
    /// Where result folders are made.
    #[arg(long, value_name = "DIR", help_heading = EVALUATION,
        default_value = "evaluation/evaluation_outputs/outputs")]
    pub(super) eval_output_dir: PathBuf,
    #[command(flatten)]
    pub(super) play: PlayArgs,
}
