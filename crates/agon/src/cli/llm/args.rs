//! Arguments and help texts of `agon llm`, and those by which every command chooses a model.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::install::InstallArgs;

const MODELS: &str = "Models";

/// Which model, from where, and what it costs. Flattened into every command that asks one.
#[derive(Debug, Clone, Default, Args)]
pub(in crate::cli) struct ModelArgs {
    /// The model: a section of config.toml (NAME, llm.NAME or [llm.NAME]; llm is the base section), or
    /// PROVIDER/MODEL such as openai/gpt-4o, anthropic/claude-sonnet-4-5, local/smollm2 or mock/echo.
    #[arg(long, short, visible_short_alias = 'l', visible_aliases = ["llm-config", "agent-model"], value_name = "NAME",
        help_heading = MODELS)]
    pub(in crate::cli) model: Option<String>,
    /// Where the model's service is, in place of what the configuration says.
    #[arg(long, visible_alias = "agent-model-base-url", value_name = "URL", help_heading = MODELS)]
    pub(in crate::cli) base_url: Option<String>,
    /// The configuration [default: $AGON_CONFIG, ./config.toml, ~/.config/agon/config.toml].
    #[arg(long, visible_alias = "config-file", value_name = "FILE", help_heading = MODELS)]
    pub(in crate::cli) config: Option<PathBuf>,
    /// Take all answers from a tape: no service is asked and no key is needed.
    #[arg(long, value_name = "FILE", help_heading = MODELS)]
    pub(in crate::cli) tape: Option<PathBuf>,
    /// Write every call to a tape.
    #[arg(long, value_name = "FILE", conflicts_with = "tape", help_heading = MODELS)]
    pub(in crate::cli) record_tape: Option<PathBuf>,
    /// Further prices of models, which win over the built-in ones.
    #[arg(long, value_name = "FILE", help_heading = MODELS)]
    pub(in crate::cli) prices: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum LlmCommand {
    /// List the models of config.toml and the forms of names that need no section.
    List(ListArgs),
    /// Ask a model one question.
    Ask(Box<AskArgs>),
    /// Ask models for one word each, and say what is wrong with those that do not answer.
    Check(CheckArgs),
    /// Fetch a small model that runs on this machine, unless it is there.
    Install(InstallArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  agon llm list
  agon llm list --config other.toml --json

A key is never shown, only where it comes from.")]
pub(in crate::cli) struct ListArgs {
    /// The configuration [default: $AGON_CONFIG, ./config.toml, ~/.config/agon/config.toml].
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// Further prices of models, which win over the built-in ones.
    #[arg(long, value_name = "FILE")]
    pub(super) prices: Option<PathBuf>,
    /// One JSON object per line.
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  agon llm ask --model mock/echo hello
  agon llm ask -l eval_gpt4 'What is a monad?' --stream
  agon llm ask -m openai/gpt-4o --image screen.png 'What does the title bar say?'
  agon llm ask -m llm --schema answer.json --json - < question.txt
  agon llm ask -m llm --record-tape calls.tape hello; agon llm ask -m llm --tape calls.tape hello

The answer goes to standard output; tokens and cost go to standard error.")]
pub(in crate::cli) struct AskArgs {
    #[command(flatten)]
    pub(super) models: ModelArgs,
    /// What the model is told before the question.
    #[arg(long, value_name = "TEXT")]
    pub(super) system: Option<String>,
    /// A picture (PNG, JPEG, WebP or GIF) to go with the question. Can be given often.
    #[arg(long = "image", value_name = "FILE")]
    pub(super) images: Vec<PathBuf>,
    /// A JSON Schema that the answer must obey.
    #[arg(long, value_name = "FILE")]
    pub(super) schema: Option<PathBuf>,
    /// Show the answer as it comes.
    #[arg(long, conflicts_with = "json")]
    pub(super) stream: bool,
    /// One JSON object: text, tool calls, usage, cost.
    #[arg(long)]
    pub(super) json: bool,
    /// The question; several words are joined by blanks; - reads it from standard input.
    #[arg(required = true, value_name = "PROMPT")]
    pub(super) prompt: Vec<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  agon llm check                                 every section of config.toml
  agon llm check eval_gpt4 anthropic/claude-sonnet-4-5

Each model is really asked, which costs a few tokens. Exit status 1 if any does not answer.")]
pub(in crate::cli) struct CheckArgs {
    /// Names as for --model [default: all sections].
    #[arg(value_name = "NAME")]
    pub(super) names: Vec<String>,
    /// The configuration [default: $AGON_CONFIG, ./config.toml, ~/.config/agon/config.toml].
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// One JSON object per model and line.
    #[arg(long)]
    pub(super) json: bool,
}
