//! Arguments and help texts of `agon solve`.

use std::path::PathBuf;

use agon_core::Money;
use clap::Args;

use crate::cli::llm::ModelArgs;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agon solve -t 'Write me a bash script that prints hello world.' -l llm
  agon solve -i 10 -t 'Fix the failing test.' -c CodeActAgent -l eval_gpt4 -d my_project
  agon solve -f task.md -l local/smollm2 -b 0.50
  echo 'Count the words in README.md' | agon solve -l llm
  agon solve -n first -t 'Fix it.' -l llm; agon solve -n first -t 'Now write a test for it.' -l llm
  agon solve --replay-trajectory runs/solve-first/trajectory.json

The folder that is worked in (-d) is really changed; nothing else of this machine is.

Exit status: 0 the agent finished, 1 a fault, 2 bad usage, 4 the agent refused the task,
5 a limit ended its turn, 6 it only repeated itself, 130 interrupted.")]
pub(in crate::cli) struct SolveArgs {
    /// What is to be done; a session that there is already (--name) goes on without it.
    #[arg(long, short, value_name = "TEXT")]
    pub(super) task: Option<String>,
    /// A file that says what is to be done; wins over --task.
    #[arg(long, short, value_name = "FILE")]
    pub(super) file: Option<PathBuf>,
    /// Steps that the agent may take [default: max_iterations of config.toml, or 500].
    #[arg(long, short = 'i', value_name = "N", value_parser = steps, allow_negative_numbers = true)]
    pub(super) max_iterations: Option<u32>,
    /// Money (dollars) that its model may cost; 0 is no limit.
    #[arg(long, short = 'b', value_name = "USD", value_parser = budget, allow_negative_numbers = true)]
    pub(super) max_budget_per_task: Option<Money>,
    /// CodeActAgent, or any agent of `agon run` [default: default_agent of config.toml].
    #[arg(long, short = 'c', value_name = "AGENT")]
    pub(super) agent_cls: Option<String>,
    /// Names the session; the same name again goes on with it (kept in runs/solve-NAME).
    #[arg(long, short, value_name = "NAME")]
    pub(super) name: Option<String>,
    /// The folder to work in [default: the one that the session worked in, or this one].
    #[arg(long, short, value_name = "DIR")]
    pub(super) directory: Option<PathBuf>,
    /// Where commands run: local (a sandbox with this machine's programs) or docker (a container of
    /// base_container_image) [default: runtime of config.toml, or local].
    #[arg(long, value_name = "KIND")]
    pub(super) runtime: Option<String>,
    /// Ask you when the agent says something, instead of telling it to go on by itself.
    #[arg(long, visible_alias = "no-auto-continue")]
    pub(super) interactive: bool,
    /// Play the actions of a trajectory first.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["task", "file"])]
    pub(super) replay_trajectory: Option<PathBuf>,
    #[command(flatten)]
    pub(super) models: ModelArgs,
    /// End with one JSON object on standard output.
    #[arg(long)]
    pub(super) json: bool,
}

/// At least one.
pub(in crate::cli) fn steps(text: &str) -> Result<u32, String> {
    let steps = text.parse().ok().filter(|steps| *steps > 0);
    steps.ok_or_else(|| {
        format!(
            "it must be a whole number from 1 to {}, since an agent that may take no step can do nothing",
            u32::MAX
        )
    })
}

/// Nothing is no limit.
pub(in crate::cli) fn budget(text: &str) -> Result<Money, String> {
    Money::parse(text).ok_or_else(|| {
        "it must be an amount of dollars such as 2.50, or 0 for no limit, since no model costs less than \
         nothing"
            .to_owned()
    })
}
