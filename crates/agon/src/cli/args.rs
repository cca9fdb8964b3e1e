//! Arguments and help texts. Nothing else lives here, so that the whole command line can be read in
//! one go.

use std::path::PathBuf;

use agon_core::Money;
use agon_engine::Mode;
use agon_suite::MaxSteps;
use clap::{Args, Parser, Subcommand, ValueEnum};

use super::arena::ArenaCommand;
use super::bench::BenchCommand;
use super::desktop::DesktopArgs;
use super::export::{ExportArgs, ImportArgs};
use super::judge::{JudgeArgs, JudgeCommand};
use super::llm::{LlmCommand, ModelArgs};
use super::ocr::OcrCommand;
use super::predict::PredictArgs;
use super::review::ReviewArgs;
use super::solve::SolveArgs;
use super::suite::SuiteCommand;
use super::validate::ValidateArgs;
use super::version::VERSION;
use super::view::ViewArgs;

/// Evaluates autonomous agents: puts them in front of tasks in real environments, records
/// everything, and gives a score that can be trusted.
#[derive(Debug, Parser)]
#[command(name = "agon", version = VERSION.as_str(), propagate_version = true, after_help = EXAMPLES)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  agon run suites/demo --agent oracle            play the reference solutions
  agon run suites/demo --agent 'cmd:python3 my_agent.py' --workers 4
  agon run suites/demo --agent noop --level gold --json
  agon report runs/latest --format html > report.html
  agon view latest                               look at it in a browser

Exit status: 0 every trial graded, 1 faults remain, 2 bad usage, suite or manifest,
3 score under --fail-under, 130 interrupted.";

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Play an agent against the tasks of suites and grade it.
    Run(Box<RunArgs>),
    /// Let a model predict single actions, and score them.
    Predict(Box<PredictArgs>),
    /// Let an agent work on one task in a folder of yours.
    Solve(Box<SolveArgs>),
    /// Run an agent over a benchmark, with the flags and result files of OpenHands.
    #[command(subcommand)]
    Bench(BenchCommand),
    /// List the tasks of suites.
    List(ListArgs),
    /// Check suites: schema, and that doing nothing fails and the solution passes.
    Lint(LintArgs),
    /// Grade a run again from its record, with a judge where checks are prose.
    Validate(Box<ValidateArgs>),
    /// Find out how far a judge can be trusted.
    #[command(subcommand)]
    Judge(JudgeCommand),
    /// Say yourself which trials passed.
    Review(ReviewArgs),
    /// Look at suites as a whole.
    #[command(subcommand)]
    Suite(SuiteCommand),
    /// Report on runs; several are compared.
    Report(ReportArgs),
    /// Look at runs in a browser: live, step by step, side by side.
    View(ViewArgs),
    /// Write a run in another system's form.
    Export(ExportArgs),
    /// Make a run folder of another system's results.
    Import(ImportArgs),
    /// Serve agents and evaluators that play and judge in real time, and bring them together.
    #[command(subcommand)]
    Arena(ArenaCommand),
    /// Start desktops, and see and control their screens.
    Desktop(DesktopArgs),
    /// List language models, ask one, and see whether they answer.
    #[command(subcommand)]
    Llm(LlmCommand),
    /// Say what works on this machine and what is missing.
    Doctor(JsonArgs),
    /// Remove what processes that no longer live have left behind.
    Clean(JsonArgs),
    /// Make and list the images of container desktops.
    #[command(subcommand)]
    Image(ImageCommand),
    /// Read text in pictures, and fetch the models that do it.
    #[command(subcommand)]
    Ocr(OcrCommand),
    /// Print the JSON Schema of a format.
    Schema(SchemaArgs),
    /// Print a shell completion script.
    Completions(CompletionArgs),
    /// Write the manual pages, one per command, into a folder. For those who pack Agon.
    #[command(hide = true)]
    Man(ManArgs),
}

#[derive(Debug, Args)]
#[command(after_help = RUN_EXAMPLES)]
pub(super) struct RunArgs {
    /// Suite folders, task folders or task files. With --resume they may be left out.
    #[arg(value_name = "SUITE")]
    pub(super) suites: Vec<PathBuf>,
    /// noop, oracle, random, replay:RUN, codeact, cmd:PROGRAM ARGS, cmd-host:PROGRAM ARGS, http://URL; for
    /// desktops also react, qwen, openai-computer-use, anthropic-computer-use; in real time also one-key[:KEY],
    /// random-keys, hexagon [default: noop].
    #[arg(long, short, value_name = "A")]
    pub(super) agent: Option<String>,
    /// Files beside the program of a cmd: agent that belong to it, too: names or globs in its folder. Can be
    /// given often.
    #[arg(long, value_name = "GLOB")]
    pub(super) agent_files: Vec<String>,
    #[command(flatten)]
    pub(super) selection: SelectionArgs,
    #[command(flatten)]
    pub(super) play: PlayArgs,
    #[command(flatten)]
    pub(super) judge: JudgeArgs,
    #[command(flatten)]
    pub(super) cases: CaseArgs,
    /// Only list what would be played.
    #[arg(long)]
    pub(super) dry_run: bool,
}

/// What desktop test cases know beside the rest.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct CaseArgs {
    /// Somebody else plays each task in an environment of his own: cmd:PROGRAM ARGS or http://URL.
    #[arg(long, value_name = "R", conflicts_with = "agent")]
    pub(super) runner: Option<String>,
    /// Given to the runner as it is.
    #[arg(long, value_name = "FILE")]
    pub(super) agent_yaml: Option<String>,
    /// The run folder, with a file CATEGORY/ID.json per task beside its own, as OSUniverse writes them.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["out", "resume"])]
    pub(super) results: Option<PathBuf>,
    /// Take another image, derived from the one that tasks name. Can be given often.
    #[arg(long = "image", value_name = "OLD=NEW")]
    pub(super) images: Vec<String>,
}

/// How a run is played, whatever is played in it.
#[derive(Debug, Clone, Args)]
pub(super) struct PlayArgs {
    /// Trials at a time [default: one per core; 32 for predictions].
    #[arg(long, visible_alias = "runners", value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) workers: Option<u16>,
    /// Trials per task [default: 1].
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(super) epochs: Option<u32>,
    /// Seed of everything random [default: 0].
    #[arg(long, value_name = "S")]
    pub(super) seed: Option<u64>,
    #[command(flatten)]
    pub(super) models: ModelArgs,
    /// The run folder itself [default: a new one under runs/]. If it holds this run already, it is
    /// gone on with.
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    pub(super) out: Option<PathBuf>,
    /// Go on with a run: its folder, its name under runs/, or `latest`.
    #[arg(long, value_name = "RUN")]
    pub(super) resume: Option<String>,
    /// What to play.
    #[arg(long, value_enum, default_value_t)]
    pub(super) mode: ModeArg,
    /// How often a faulted trial is tried again on a fresh environment.
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub(super) retries: u32,
    /// Exit with status 3 if the score (0 to 1) is lower.
    #[arg(long, value_name = "X", value_parser = share)]
    pub(super) fail_under: Option<f64>,
    /// Start no further trial after this many steps of all trials together.
    #[arg(long, value_name = "N")]
    pub(super) budget_steps: Option<u64>,
    /// Start no further trial after this many seconds.
    #[arg(long, value_name = "S")]
    pub(super) budget_seconds: Option<u64>,
    /// Start no further trial, and ask no model, after this many tokens of all trials together.
    #[arg(long, value_name = "N")]
    pub(super) budget_tokens: Option<u64>,
    /// Start no further trial, and ask no model, after this much money (dollars) of all trials together.
    #[arg(long, value_name = "USD", value_parser = dollars)]
    pub(super) budget_money: Option<Money>,
    /// End with one JSON object on standard output.
    #[arg(long)]
    pub(super) json: bool,
}

const RUN_EXAMPLES: &str = "\
Examples:
  agon run suites/demo --agent oracle
  agon run suites/demo --agent 'cmd:python3 agent.py' --epochs 5 --workers 4 --out runs/mine
  agon run --resume latest                       go on with the newest run
  agon run suites/demo --out runs/mine --mode rerun-failed
  agon run suites/demo --filter 'category(text) and level(>=bronze)' --dry-run
  agon run suites/demo --agent http://127.0.0.1:9000/act --fail-under 0.8
  agon run suites/demo --agent 'cmd:python3 agent.py' --model eval_gpt4 --budget-money 2.50";

/// Which tasks of the suites.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct SelectionArgs {
    /// Only tasks of these categories.
    #[arg(
        long,
        visible_alias = "categories",
        value_name = "A,B",
        value_delimiter = ','
    )]
    pub(super) category: Vec<String>,
    /// Only tasks of these levels: paper, wood, bronze, silver, gold; none: without a level.
    #[arg(
        long,
        visible_alias = "levels",
        value_name = "A,B",
        value_delimiter = ','
    )]
    pub(super) level: Vec<String>,
    /// Only tasks that an expression picks, such as 'tag(network) and not name(/draft/)'.
    #[arg(long, value_name = "EXPR")]
    pub(super) filter: Option<String>,
    /// Only the first so many tasks.
    #[arg(long, value_name = "N")]
    pub(super) limit: Option<usize>,
    /// Steps by level, paper to gold; the last number is repeated, and those beyond gold count for nothing.
    #[arg(long, value_name = "5,25,50")]
    pub(super) max_steps: Option<MaxSteps>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum ModeArg {
    /// Play what was not graded yet.
    #[default]
    RunAll,
    /// Play what was not graded or failed.
    RerunFailed,
    /// Play nothing, grade again what was recorded.
    ValidateOnly,
}

impl From<ModeArg> for Mode {
    fn from(mode: ModeArg) -> Self {
        match mode {
            ModeArg::RunAll => Self::RunAll,
            ModeArg::RerunFailed => Self::RerunFailed,
            ModeArg::ValidateOnly => Self::ValidateOnly,
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  agon list suites/demo --level gold --json")]
pub(super) struct ListArgs {
    /// Suite folders, task folders or task files.
    #[arg(required = true, value_name = "SUITE")]
    pub(super) suites: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) selection: SelectionArgs,
    /// One JSON object per task and line.
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  agon lint suites/demo\n  agon lint my_suite --static")]
pub(super) struct LintArgs {
    /// Suite folders, task folders or task files.
    #[arg(required = true, value_name = "SUITE")]
    pub(super) suites: Vec<PathBuf>,
    /// Only read the files; play nothing.
    #[arg(long = "static")]
    pub(super) only_static: bool,
    /// Trials at a time [default: one per core].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) workers: Option<u16>,
    /// One JSON object per finding and line.
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  agon report runs/latest
  agon report runs/a runs/b --format md
  agon report runs/latest --format html --output report.html")]
pub(super) struct ReportArgs {
    /// Run folders, names under runs/, or `latest`.
    #[arg(required = true, value_name = "RUN")]
    pub(super) runs: Vec<String>,
    /// What to write.
    #[arg(long, value_name = "FORMAT", default_value = "table",
        value_parser = agon_report::Format::NAMES)]
    pub(super) format: String,
    /// Short for --format json.
    #[arg(long, conflicts_with = "format")]
    pub(super) json: bool,
    /// Write to a file instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Compare every line with its events, of runs with more than 10,000 trials too.
    #[arg(long)]
    pub(super) verify: bool,
}

#[derive(Debug, Args)]
pub(super) struct JsonArgs {
    /// JSON instead of text.
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Subcommand)]
pub(super) enum ImageCommand {
    /// Make an image from Debian's packages; no registry is needed.
    Build(ImageBuildArgs),
    /// List the images that were made here.
    List(JsonArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  agon image build desktop
  agon image build desktop --with-office         makes agon-desktop-office:12
  agon image build desktop --with-browser --tag agon-desktop-browser:12
  agon image build desktop --from-registry       where debian:12-slim can be pulled")]
pub(super) struct ImageBuildArgs {
    /// What to make.
    #[arg(value_enum)]
    pub(super) what: ImageKind,
    /// The name of the image [default: agon-desktop:12, with office programs agon-desktop-office:12].
    #[arg(long, value_name = "NAME:TAG", value_parser = image_tag)]
    pub(super) tag: Option<String>,
    /// Put a browser (Chromium) into it.
    #[arg(long)]
    pub(super) with_browser: bool,
    /// Put office programs (LibreOffice Calc and Writer) and a browser into it.
    #[arg(long)]
    pub(super) with_office: bool,
    /// From Debian's packages, with mmdebstrap; this is what happens by default.
    #[arg(long, conflicts_with = "from_registry")]
    pub(super) from_packages: bool,
    /// From the image debian:12-slim of a registry, with a Dockerfile.
    #[arg(long)]
    pub(super) from_registry: bool,
    /// Where Debian's packages come from [default: deb.debian.org].
    #[arg(long, value_name = "URL", conflicts_with = "from_registry")]
    pub(super) mirror: Option<String>,
    /// Make it again even if it is up to date.
    #[arg(long)]
    pub(super) force: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum ImageKind {
    /// An X server, a window manager, a terminal, an editor, a calculator, a file manager and games.
    Desktop,
}

#[derive(Debug, Args)]
pub(super) struct SchemaArgs {
    #[arg(value_enum)]
    pub(super) what: SchemaOf,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum SchemaOf {
    /// A task file.
    Task,
    /// benchmark.toml.
    Benchmark,
    /// A line of events.jsonl.
    Event,
    /// run.json.
    Run,
    /// A line of trials.jsonl.
    Trial,
    /// A line of reviews.jsonl.
    Review,
    /// A line of begun.jsonl.
    Begun,
    /// A line of running.jsonl.
    Running,
    /// A line of control.jsonl.
    Control,
    /// The JSON report.
    Report,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  agon completions bash > /etc/bash_completion.d/agon")]
pub(super) struct CompletionArgs {
    #[arg(value_enum)]
    pub(super) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(super) struct ManArgs {
    /// The folder; it is made if it is not there.
    #[arg(value_name = "DIR")]
    pub(super) folder: PathBuf,
}

pub(super) fn share(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| format!("`{text}` is no number"))?;
    if (0.0..=1.0).contains(&value) {
        Ok(value)
    } else {
        Err("use a number from 0 to 1".to_owned())
    }
}

/// What an engine takes for the name of an image.
fn image_tag(text: &str) -> Result<String, String> {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "._-/:".contains(c);
    let (name, tag) = text.rsplit_once(':').unwrap_or((text, "latest"));
    let ends = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let good = text.len() <= 128
        && name.chars().all(allowed)
        && name.starts_with(ends)
        && name.ends_with(ends)
        && !tag.is_empty()
        && tag.chars().all(allowed);
    if good {
        Ok(text.to_owned())
    } else {
        Err("use lower-case letters, digits, dots and dashes, such as agon-desktop:12".to_owned())
    }
}

pub(super) fn dollars(text: &str) -> Result<Money, String> {
    Money::parse(text).ok_or_else(|| format!("`{text}` is no amount such as 2.50"))
}
