//! Arguments and help texts of `agon arena`.

use std::path::PathBuf;

use agon_arena::{NETWORK, Token};
use agon_core::{Money, Seconds};
use agon_desktop::{DesktopConfig, Size};
use clap::{Args, Subcommand};

use crate::cli::desktop::ChoiceArgs;
use crate::cli::failure::Failure;
use crate::cli::llm::ModelArgs;

#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  agon arena run task.json --agent hexagon --evaluator hexagon --app hexagon
  agon arena agent --agent one-key:Right --port 8000
  agon arena evaluator --evaluator hexagon --report report.jsonl
  agon arena client task.json

All of it speaks the wire of the Agent/Evaluator framework of Open World Agents: agents,
evaluators and clients written for that work with these, in every combination. See
docs/arena.md.")]
pub(in crate::cli) enum ArenaCommand {
    /// Serve an agent that plays when an evaluator tells it to.
    Agent(AgentArgs),
    /// Serve an evaluator that sets up, watches and scores.
    Evaluator(Box<EvaluatorArgs>),
    /// Have tasks played by an agent and an evaluator that are being served.
    Client(ClientArgs),
    /// Do all of it at once: a private desktop, its programs, agent, evaluator and client.
    Run(Box<RunArgs>),
    /// List the agents and evaluators that are built in.
    List(ListArgs),
}

/// Where a server listens.
#[derive(Debug, Args)]
pub(super) struct HostArgs {
    /// Where to listen. Anything but this machine needs a token.
    #[arg(long, value_name = "H", default_value = NETWORK::DEFAULT_HOST)]
    pub(super) host: String,
    #[command(flatten)]
    pub(super) token: TokenArgs,
}

#[derive(Debug, Args)]
pub(super) struct TokenArgs {
    /// Secret that callers must show (`Authorization: Bearer ...`), and that is shown to whoever is
    /// called. Better given by the environment: arguments can be seen by others.
    #[arg(
        long,
        value_name = "TOKEN",
        env = Token::VARIABLE,
        hide_env_values = true
    )]
    token: Option<String>,
}

impl TokenArgs {
    /// Read here and not by the parser, whose complaints would show it.
    pub(super) fn token(&self) -> Result<Option<Token>, Failure> {
        let token = self.token.clone().map(Token::new).transpose();
        token.map_err(Failure::new)
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agon arena agent --agent hexagon
  agon arena agent --agent one-key:Left --desktop :0 --port 9000
  agon arena agent --agent random-keys --child        kill (POST /agent/kill) really ends it
  agon arena agent --command './my_agent --fast'      a program that speaks the child protocol")]
pub(in crate::cli) struct AgentArgs {
    /// A built-in agent: see `agon arena list`.
    #[arg(long, value_name = "NAME", default_value = "noop")]
    pub(super) agent: String,
    /// Run the agent in a process of its own.
    #[arg(long)]
    pub(super) child: bool,
    /// Run this program as the agent; it serves with `agon::arena::child::serve`.
    #[arg(long, value_name = "PROGRAM ARGS", conflicts_with_all = ["agent", "child"])]
    pub(super) command: Option<String>,
    #[command(flatten)]
    pub(super) host: HostArgs,
    /// 0: any that is free; the address is printed.
    #[arg(long, value_name = "P", default_value_t = NETWORK::AGENT_PORT)]
    pub(super) port: u16,
    #[command(flatten)]
    pub(super) desktop: ChoiceArgs,
    /// Carry out every action this much later, such as 200ms.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(super) latency: Option<Seconds>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agon arena evaluator --evaluator hexagon --report report.jsonl
  agon arena evaluator --evaluator screen --desktop d1
  agon arena evaluator --evaluator vision --model openai-responses/gpt-4o-mini --budget-money 1")]
pub(in crate::cli) struct EvaluatorArgs {
    /// A built-in evaluator: see `agon arena list`.
    #[arg(long, value_name = "NAME", default_value = "timer")]
    pub(super) evaluator: String,
    /// Append results here, one JSON object per line; what the original does not have goes to
    /// NAME.agon.jsonl beside it.
    #[arg(long, value_name = "FILE")]
    pub(super) report: Option<PathBuf>,
    #[command(flatten)]
    pub(super) host: HostArgs,
    /// 0: any that is free; the address is printed.
    #[arg(long, value_name = "P", default_value_t = NETWORK::EVALUATOR_PORT)]
    pub(super) port: u16,
    #[command(flatten)]
    pub(super) desktop: ChoiceArgs,
    #[command(flatten)]
    pub(super) judge: JudgeArgs,
}

/// Who is asked by evaluators that ask a model, and what that may cost.
#[derive(Debug, Args)]
pub(super) struct JudgeArgs {
    #[command(flatten)]
    pub(super) models: ModelArgs,
    /// Ask no model after this many tokens of all tasks together.
    #[arg(long, value_name = "N", help_heading = "Models")]
    pub(super) budget_tokens: Option<u64>,
    /// Ask no model after this much money (dollars) of all tasks together.
    #[arg(long, value_name = "USD", value_parser = dollars, help_heading = "Models")]
    pub(super) budget_money: Option<Money>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agon arena client task.json
  agon arena client --agent-url http://127.0.0.1:9000 task.json --times 10")]
pub(in crate::cli) struct ClientArgs {
    /// Files with tasks: one JSON object, a list of them, or one per line.
    #[arg(required = true, value_name = "TASK.json")]
    pub(super) tasks: Vec<PathBuf>,
    /// Where the agent is.
    #[arg(long, value_name = "U", default_value = "http://127.0.0.1:8000")]
    pub(super) agent_url: String,
    /// Where the evaluator is.
    #[arg(long, value_name = "U", default_value = "http://127.0.0.1:8001")]
    pub(super) evaluator_url: String,
    #[command(flatten)]
    pub(super) token: TokenArgs,
    #[command(flatten)]
    pub(super) show: ShowArgs,
}

#[derive(Debug, Args)]
pub(super) struct ShowArgs {
    /// Play every task this many times, each time under an id of its own.
    #[arg(long, value_name = "N", default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(super) times: u32,
    /// One JSON object per result and line.
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agon arena run task.json --agent hexagon --evaluator hexagon --app hexagon
  agon arena run tasks.jsonl --parallel --workers 4 --app 'hexagon --seed 7' --report report.jsonl
  agon arena run task.json --agent hexagon --evaluator hexagon --app hexagon --paused 0.25
  agon arena run task.json --desktop :0               on a display that is there already
  agon arena run task.json --evaluator vision --model openai-responses/gpt-4o-mini --app hexagon

A task file may also hold the keys `apps` (list of programs) and `screen` (WIDTHxHEIGHT),
which win over --app and --screen.")]
pub(in crate::cli) struct RunArgs {
    /// Files with tasks: one JSON object, a list of them, or one per line.
    #[arg(required = true, value_name = "TASK.json")]
    pub(super) tasks: Vec<PathBuf>,
    /// A built-in agent: see `agon arena list`.
    #[arg(long, value_name = "NAME", default_value = "noop")]
    pub(super) agent: String,
    /// A built-in evaluator.
    #[arg(long, value_name = "NAME", default_value = "timer")]
    pub(super) evaluator: String,
    /// Play several tasks at the same time, each on a desktop of its own.
    #[arg(long, conflicts_with = "desktop")]
    pub(super) parallel: bool,
    /// With --parallel: how many at the same time [default: one per core].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256),
        requires = "parallel")]
    pub(super) workers: Option<u16>,
    /// Start this on each desktop; may be given more than once.
    #[arg(long = "app", value_name = "COMMAND")]
    pub(super) apps: Vec<String>,
    /// Size of the screens.
    #[arg(long, value_name = "WIDTHxHEIGHT", default_value_t = DesktopConfig::DEFAULT_SIZE)]
    pub(super) screen: Size,
    /// Play on this desktop or display instead of private ones.
    #[arg(long, value_name = "ID", conflicts_with_all = ["screen", "apps"])]
    pub(super) desktop: Option<String>,
    /// Append results here; what the original does not have goes to NAME.agon.jsonl beside it.
    #[arg(long, value_name = "FILE")]
    pub(super) report: Option<PathBuf>,
    /// Where the agent listens.
    #[arg(long, value_name = "H", default_value = NETWORK::DEFAULT_HOST)]
    pub(super) agent_host: String,
    /// Its port; with --parallel that of the first pair, each other has the next but one [default: any
    /// that is free].
    #[arg(long, value_name = "P", default_value_t = 0, hide_default_value = true)]
    pub(super) agent_port: u16,
    /// Where the evaluator listens.
    #[arg(long, value_name = "H", default_value = NETWORK::DEFAULT_HOST)]
    pub(super) evaluator_host: String,
    /// Its port, likewise [default: any that is free].
    #[arg(long, value_name = "P", default_value_t = 0, hide_default_value = true)]
    pub(super) evaluator_port: u16,
    #[command(flatten)]
    pub(super) token: TokenArgs,
    /// Carry out every action this much later, such as 200ms.
    #[arg(long, value_name = "TIME", value_parser = time, conflicts_with = "paused")]
    pub(super) latency: Option<Seconds>,
    /// The programs stand still while the agent thinks, and run this long between two steps.
    #[arg(long, value_name = "TIME", value_parser = time, num_args = 0..=1,
        default_missing_value = "0.25", conflicts_with = "desktop")]
    pub(super) paused: Option<Seconds>,
    #[command(flatten)]
    pub(super) judge: JudgeArgs,
    #[command(flatten)]
    pub(super) show: ShowArgs,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ListArgs {
    /// One JSON object per name and line.
    #[arg(long)]
    pub(super) json: bool,
}

fn dollars(text: &str) -> Result<Money, String> {
    Money::parse(text).ok_or_else(|| format!("`{text}` is no amount such as 2.50"))
}

/// `0.2`, `200ms`, `1.5s`.
fn time(text: &str) -> Result<Seconds, String> {
    Seconds::parse(text).ok_or_else(|| format!("`{text}` is no time such as 200ms, 1.5s or 2"))
}
