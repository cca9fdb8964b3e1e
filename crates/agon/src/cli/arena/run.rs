//! `agon arena run`: desktop, programs, agent, evaluator and client at once, one task after the other or
//! several at the same time.

use std::sync::Arc;

use agon_agent::play::players;
use agon_arena::{Evaluation, PairOptions, Pairing, ServerOptions, Token, evaluators};
use agon_core::WorldClock;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::args::RunArgs;
use super::show;
use super::stand::Stand;
use super::task_file::{self, TaskFile};
use crate::cli::desktop::address_of;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::{host, signals};

pub(super) async fn run(args: &RunArgs) -> Result<Exit, Failure> {
    let files = task_file::read(&args.tasks, args.show.times)?;
    // Wrong names show before anything is started.
    players::find(&args.agent).map_err(Failure::new)?;
    evaluators::find(&args.evaluator).map_err(Failure::new)?;
    let stop = signals::stop_on_signal("stopping: what is played is scored as it stands")?;
    let workers = match args.workers {
        _ if !args.parallel => 1,
        Some(workers) => usize::from(workers),
        None => host::cpus(),
    };
    let done = play_all(args, files, workers, &stop).await?;
    let exit = show::sum(&done);
    Ok(if stop.is_cancelled() {
        Exit::Interrupted
    } else {
        exit
    })
}

async fn play_all(
    args: &RunArgs,
    files: Vec<TaskFile>,
    workers: usize,
    stop: &CancellationToken,
) -> Result<Vec<Evaluation>, Failure> {
    let room = Arc::new(Semaphore::new(workers));
    let plans = Plans::new(args)?;
    let mut playing = JoinSet::new();
    let mut done = Vec::new();
    for (number, file) in files.into_iter().enumerate() {
        let Ok(place) = Arc::clone(&room).acquire_owned().await else {
            break;
        };
        if stop.is_cancelled() {
            break;
        }
        let plan = plans.of(number % workers);
        let stop = stop.clone();
        playing.spawn(async move {
            let evaluation = play(plan, file, &stop).await;
            drop(place);
            evaluation
        });
        while let Some(ended) = playing.try_join_next() {
            done.push(ended.map_err(Failure::new)??);
        }
    }
    while let Some(ended) = playing.join_next().await {
        done.push(ended.map_err(Failure::new)??);
    }
    Ok(done)
}

/// How pairs are made from the arguments.
struct Plans {
    plan: Plan,
}

/// One pair.
#[derive(Debug, Clone)]
struct Plan {
    agent: String,
    evaluator: String,
    apps: Vec<String>,
    screen: agon_desktop::Size,
    /// Where to play instead of on a private desktop.
    display: Option<agon_desktop::DisplayAddress>,
    options: PairOptions,
    json: bool,
}

impl Plans {
    fn new(args: &RunArgs) -> Result<Self, Failure> {
        let clock = match (args.latency, args.paused) {
            (Some(delay), _) => WorldClock::Latency { delay },
            (None, Some(slice)) => WorldClock::Paused { slice },
            (None, None) => WorldClock::Realtime,
        };
        let token = args.token.token.clone().map(Token::new);
        let display = args.desktop.as_deref().map(address_of).transpose()?;
        let server = |host: &str, port| ServerOptions {
            token: token.clone(),
            clock,
            ..ServerOptions::at(host, port)
        };
        Ok(Self {
            plan: Plan {
                agent: args.agent.clone(),
                evaluator: args.evaluator.clone(),
                apps: args.apps.clone(),
                screen: args.screen,
                display,
                options: PairOptions {
                    agent: server(&args.agent_host, args.agent_port),
                    evaluator: server(&args.evaluator_host, args.evaluator_port),
                    report: args.report.clone(),
                },
                json: args.show.json,
            },
        })
    }

    /// Ports that were given are those of the first pair; each other pair has the next two.
    fn of(&self, pair: usize) -> Plan {
        let mut plan = self.plan.clone();
        let step = u16::try_from(pair * 2).unwrap_or(u16::MAX);
        for server in [&mut plan.options.agent, &mut plan.options.evaluator] {
            if server.port != 0 {
                server.port = server.port.saturating_add(step);
            }
        }
        plan
    }
}

async fn play(
    mut plan: Plan,
    file: TaskFile,
    stop: &CancellationToken,
) -> Result<Evaluation, Failure> {
    let task = file.task;
    let apps = file.apps.unwrap_or_else(|| plan.apps.clone());
    let screen = file.screen.unwrap_or(plan.screen);
    let stand = match &plan.display {
        Some(_) => None,
        None => Some(Stand::start(screen, &apps, &task.window_name).await?),
    };
    let display = match &stand {
        Some(stand) => Some(stand.address()),
        None => plan.display.take(),
    };
    let mut options = plan.options;
    for server in [&mut options.agent, &mut options.evaluator] {
        server.desktop = display.clone();
        server.world = stand.as_ref().map(Stand::world);
    }
    let pairing = Pairing {
        agent: players::find(&plan.agent).map_err(Failure::new)?,
        evaluator: evaluators::find(&plan.evaluator).map_err(Failure::new)?,
        options,
        held: Box::new(()),
    };
    let show = |evaluation: &Evaluation| show::evaluation(evaluation, plan.json);
    let done = pairing.evaluate([task.clone()], stop, show).await;
    if let Some(stand) = stand {
        stand.end().await;
    }
    match done.map(|mut done| done.pop()) {
        Ok(Some(evaluation)) => Ok(evaluation),
        Ok(None) => Err(Failure::new("interrupted before the first task")),
        Err(error) => {
            let evaluation = Evaluation {
                task,
                result: Err(error),
            };
            show(&evaluation);
            Ok(evaluation)
        }
    }
}
