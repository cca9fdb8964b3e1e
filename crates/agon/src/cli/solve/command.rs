//! From arguments to an agent at work, a session folder and an exit status.

use std::fs;
use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agon_agent::{AgentSpec, KINDS};
use agon_core::verdict::TurnEnd;
use agon_core::{Clock, Money, SystemClock};
use agon_llm::config::{Config, ConfigSource};
use agon_store::RunFolder;
use agon_workflow::codeact::{self, Options};
use agon_workflow::config::{AppConfig, LlmConfig, RuntimeKind};
use agon_workflow::controller::{Conversation, Session, trajectory};
use agon_workflow::eval::codeact_user_response;
use agon_workflow::runtime::Runtime;
use agon_workflow::state::State;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::args::SolveArgs;
use super::person::Keyboard;
use super::show::{Screen, last_words};
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::llm::OpenModels;
use crate::cli::own_files::own_files;
use crate::cli::report::RUNS;
use crate::cli::{output, signals};

/// What a user can want to be done, in bytes.
const LONGEST_TASK: u64 = 1 << 20;

pub(in crate::cli) async fn solve(args: &SolveArgs) -> Result<Exit, Failure> {
    let mut task = task(args)?;
    let named = named(args)?;
    let earlier = match &named {
        Some(folder) => Session::workspace_of(folder)?,
        None => None,
    };
    if earlier.is_none() && args.replay_trajectory.is_none() {
        said(&task)?;
    }
    let (mut config, open) = configured(args, earlier)?;
    if let Some(path) = config
        .replay_trajectory_path
        .as_deref()
        .filter(|_| task.is_empty())
    {
        task = trajectory(path)?.task;
    }
    let stop = signals::stop_on_signal("stopping; what was done so far is kept")?;
    let session = session(named, &config)?;
    config.session_folder = Some(session.path().to_owned());
    config
        .save_trajectory_path
        .get_or_insert_with(|| session.path().join("trajectory.json"));
    if let Some(open) = open {
        config.set_llm_config(open);
    }
    match converse(args, &config, &task, &session, stop).await {
        Ok(state) => conclude(args, session.path(), &state),
        Err(failure) => {
            session.discard_if_unused();
            Err(failure)
        }
    }
}

async fn converse(
    args: &SolveArgs,
    config: &AppConfig,
    task: &str,
    session: &Session,
    stop: CancellationToken,
) -> Result<State, Failure> {
    let task = match session.is_new() {
        true => said(task)?.to_owned(),
        false => session.next(task),
    };
    let mut runtime = Runtime::new(config, agon_engine::providers(&own_files(&args.models)))?;
    runtime.connect().await?;
    output::say(&format!("session folder: {}", session.path().display()));
    let screen = Screen::new(has_original_tools(config));
    let conversation = Conversation::new(config, &task)
        .in_session(session)
        .watched(move |event| screen.show(event))
        .stopped_by(stop);
    let conversation = match args.interactive {
        true => conversation.with_person(Arc::new(Keyboard)),
        false => conversation.with_user(codeact_user_response),
    };
    let state = conversation.run(&mut runtime).await;
    runtime.close().await;
    Ok(state?)
}

/// Others have Agon's own actions. Whatever a trajectory says is played by the agent of the original.
fn has_original_tools(config: &AppConfig) -> bool {
    config.replay_trajectory_path.is_some() || is_codeact(&config.default_agent)
}

fn is_codeact(agent: &str) -> bool {
    codeact::KINDS.iter().any(|kind| kind.name == agent)
}

/// What is to be done: a file, the command line, or standard input.
fn task(args: &SolveArgs) -> Result<String, Failure> {
    let mut text = String::new();
    if let Some(file) = &args.file {
        let failed = |error| Failure::new(format_args!("can't read {}: {error}", file.display()));
        let opened = fs::File::open(file).map_err(failed)?;
        let mut opened = opened.take(LONGEST_TASK + 1);
        opened.read_to_string(&mut text).map_err(failed)?;
    } else if let Some(task) = &args.task {
        text.clone_from(task);
    } else if !std::io::stdin().is_terminal() {
        let failed = |error| Failure::new(format_args!("can't read the task: {error}"));
        let mut input = std::io::stdin().take(LONGEST_TASK + 1);
        input.read_to_string(&mut text).map_err(failed)?;
    }
    if text.len() as u64 > LONGEST_TASK {
        return Err(Failure::new("the task is longer than 1 MiB"));
    }
    Ok(text)
}

/// Only a session that there is can go on without a word.
fn said(task: &str) -> Result<&str, Failure> {
    match task.trim() {
        "" => Err(Failure::new(
            "what is to be done? Say it with -t TEXT, -f FILE or on standard input",
        )),
        _ => Ok(task),
    }
}

/// `earlier`: the folder in which the session has worked before.
fn configured(
    args: &SolveArgs,
    earlier: Option<PathBuf>,
) -> Result<(AppConfig, Option<LlmConfig>), Failure> {
    let open = open(args)?;
    let mut config = AppConfig::of_sections(open.config.workflow()).map_err(Failure::new)?;
    let runtime = match &args.runtime {
        Some(kind) => Some(kind.parse::<RuntimeKind>().map_err(Failure::new)?),
        None => None,
    };
    let sections = open.config.workflow();
    let said = sections.core()?.runtime.is_some();
    config.runtime = match (runtime, said) {
        (Some(kind), _) => kind,
        (None, true) => config.runtime,
        (None, false) => RuntimeKind::Local,
    };
    if let Some(agent) = &args.agent_cls {
        config.default_agent.clone_from(agent);
    }
    // Before there is a session that would have to be given up.
    AgentSpec::parse_among(&config.default_agent, KINDS.iter().chain(codeact::KINDS))?;
    if let Some(most) = args.max_iterations {
        config.max_iterations = most;
    }
    if args.max_budget_per_task.is_some() {
        config.max_budget_per_task = args.max_budget_per_task;
    }
    // As in the original, none is no limit.
    config.max_budget_per_task = config
        .max_budget_per_task
        .filter(|most| *most > Money::ZERO);
    if args.replay_trajectory.is_some() {
        config
            .replay_trajectory_path
            .clone_from(&args.replay_trajectory);
    }
    config.workspace_base = Some(folder_to_work_in(args, earlier, &config)?);
    let llm = open.model.map(|model| LlmConfig {
        config: open.config,
        session: open.session,
        model,
    });
    if let (Some(_), Some(llm)) = (config.max_budget_per_task, &llm)
        && !llm.model.has_price()
    {
        return Err(Failure::new(format_args!(
            "-b would stop nothing: nobody knows what calls of `{}` cost. Give a list of prices with \
             --prices FILE, or input_cost_per_token and output_cost_per_token in its section",
            llm.spec().name
        )));
    }
    Ok((config, llm))
}

/// The model that is named, or the one of `[agent]`, or that of `[llm]`.
fn open(args: &SolveArgs) -> Result<OpenModels, Failure> {
    let mut models = args.models.clone();
    let config = Config::load(&ConfigSource::of_process(models.config.clone()))?;
    must_read(args, &config)?;
    if models.model.is_none() {
        let base = config.sections().into_iter().find(|name| *name == "llm");
        let of_agent = config.workflow().agent(None)?.llm_config.clone();
        models.model = of_agent.or_else(|| base.map(str::to_owned));
    }
    models.open()
}

/// What is wrong with the sections that are used. Told before models are opened: that warns of all that is
/// odd, and the same would be said twice.
fn must_read(args: &SolveArgs, config: &Config) -> Result<(), Failure> {
    let said = AppConfig::of_sections(config.workflow()).map_err(Failure::new)?;
    let agent = args.agent_cls.as_ref().unwrap_or(&said.default_agent);
    let replays = args.replay_trajectory.is_some() || said.replay_trajectory_path.is_some();
    if replays || is_codeact(agent) {
        Options::must_read(config)?;
    }
    Ok(())
}

/// The agent may change everything in it, so it must not be more than was meant.
fn folder_to_work_in(
    args: &SolveArgs,
    earlier: Option<PathBuf>,
    config: &AppConfig,
) -> Result<PathBuf, Failure> {
    let named = args
        .directory
        .clone()
        .or(earlier)
        .or_else(|| config.workspace_base.clone());
    let folder = named.unwrap_or_else(|| PathBuf::from("."));
    let folder = folder.canonicalize().map_err(|error| {
        Failure::new(format_args!(
            "{}, the folder to work in: {error}. Name another with -d DIR",
            folder.display()
        ))
    })?;
    let home = std::env::home_dir().and_then(|home| home.canonicalize().ok());
    if folder.parent().is_none() || home.as_deref() == Some(&folder) {
        return Err(Failure::new(format_args!(
            "{} is a whole home or disk, and the agent may change everything in it: name a folder to \
             work in with -d DIR",
            folder.display()
        )));
    }
    let records = Path::new(RUNS).canonicalize();
    if records.is_ok_and(|records| folder.starts_with(records)) {
        return Err(Failure::new(format_args!(
            "{} is in {RUNS}/, where the records of all sessions are, and the agent may change everything in \
             it: name another folder to work in with -d DIR",
            folder.display()
        )));
    }
    if !folder.is_dir() {
        return Err(Failure::new(format_args!(
            "{} is no folder",
            folder.display()
        )));
    }
    Ok(folder)
}

/// Where a session with a name is kept, beside the folders of runs.
fn named(args: &SolveArgs) -> Result<Option<PathBuf>, Failure> {
    let Some(name) = &args.name else {
        return Ok(None);
    };
    agon_core::id::check_name(name).map_err(Failure::new)?;
    Ok(Some(Path::new(RUNS).join(format!("solve-{name}"))))
}

/// The one of that name, or a new one.
fn session(named: Option<PathBuf>, config: &AppConfig) -> Result<Session, Failure> {
    let folder = match named {
        Some(folder) => folder,
        None => {
            let now = SystemClock::default().now();
            let fresh = RunFolder::fresh(Path::new(RUNS), now, "solve", &config.default_agent)?;
            fresh.path().to_owned()
        }
    };
    let workspace = config.workspace_base.as_deref();
    Ok(Session::open(&folder, workspace.unwrap_or(Path::new(".")))?)
}

fn conclude(args: &SolveArgs, folder: &Path, state: &State) -> Result<Exit, Failure> {
    let said = state.answer();
    if args.json {
        output::json(&json!({
            "agent_state": state.agent_state,
            "last_error": state.last_error,
            "iterations": state.iteration_flag.current_value,
            "message": said,
            "metrics": state.metrics,
            "session": folder,
        }))?;
    } else if let Some(said) = said {
        output::data(&last_words(said, output::to_terminal()))?;
    }
    if !state.last_error.is_empty() {
        output::say(&format!("agon: {}", output::plain(&state.last_error)));
    }
    Ok(match state.end {
        Some(TurnEnd::Finished) => Exit::Done,
        Some(TurnEnd::Rejected) => Exit::Rejected,
        Some(TurnEnd::Stuck) => Exit::Stuck,
        Some(TurnEnd::Operator) => Exit::Interrupted,
        Some(
            TurnEnd::StepLimit | TurnEnd::TimeLimit | TurnEnd::TokenLimit | TurnEnd::MoneyLimit,
        ) => Exit::Limit,
        _ => Exit::Faults,
    })
}
