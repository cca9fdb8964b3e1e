//! `agon arena run`: desktop, programs, agent, evaluator and client at once, one task after the other or
//! several at the same time.

use agon_agent::play::players;
use agon_arena::{ArenaError, Evaluation, PairOptions, Pairing, ServerOptions, Task};
use agon_core::WorldClock;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::args::RunArgs;
use super::judge::Judges;
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
    let judges = Judges::open(&args.evaluator, &args.judge)?;
    let stop = signals::stop_on_signal("stopping: what is played is scored as it stands")?;
    let workers = match args.workers {
        _ if !args.parallel => 1,
        Some(workers) => usize::from(workers),
        None => host::cpus(),
    };
    let done = play_all(Plans::new(args, judges)?, files, workers, &stop).await?;
    let exit = show::sum(&done);
    Ok(if stop.is_cancelled() {
        Exit::Interrupted
    } else {
        exit
    })
}

async fn play_all(
    plans: Plans,
    files: Vec<TaskFile>,
    workers: usize,
    stop: &CancellationToken,
) -> Result<Vec<Evaluation>, Failure> {
    // Each place has ports of its own, so it is free again only when its servers are gone.
    let (leave, mut places) = tokio::sync::mpsc::unbounded_channel();
    for place in 0..workers {
        leave.send(place).ok();
    }
    let mut playing = JoinSet::new();
    let mut done = Vec::new();
    for file in files {
        let Some(place) = places.recv().await else {
            break;
        };
        if stop.is_cancelled() {
            break;
        }
        let (plan, leave, stop) = (plans.of(place), leave.clone(), stop.clone());
        playing.spawn(async move {
            let evaluation = play(plan, file, &stop).await;
            leave.send(place).ok();
            evaluation
        });
        while let Some(ended) = playing.try_join_next() {
            done.push(ended.map_err(Failure::new)?);
        }
    }
    while let Some(ended) = playing.join_next().await {
        done.push(ended.map_err(Failure::new)?);
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
    judges: Judges,
    apps: Vec<String>,
    screen: agon_desktop::Size,
    /// Where to play instead of on a private desktop.
    display: Option<agon_desktop::DisplayAddress>,
    options: PairOptions,
    json: bool,
}

impl Plans {
    fn new(args: &RunArgs, judges: Judges) -> Result<Self, Failure> {
        let clock = match (args.latency, args.paused) {
            (Some(delay), _) => WorldClock::Latency { delay },
            (None, Some(slice)) => WorldClock::Paused { slice },
            (None, None) => WorldClock::Realtime,
        };
        let token = args.token.token()?;
        let display = args.desktop.as_deref().map(address_of).transpose()?;
        let server = |host: &str, port| ServerOptions {
            token: token.clone(),
            clock,
            ..ServerOptions::at(host, port)
        };
        Ok(Self {
            plan: Plan {
                agent: args.agent.clone(),
                judges,
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

/// One task. What goes wrong with it is its own business: the others are played all the same.
async fn play(plan: Plan, file: TaskFile, stop: &CancellationToken) -> Evaluation {
    let (task, json) = (file.task.clone(), plan.json);
    let show = |evaluation: &Evaluation| show::evaluation(evaluation, json);
    match evaluate(plan, file, stop, show).await {
        Ok(Some(evaluation)) => evaluation,
        Ok(None) => failed(task, "interrupted before it began".to_owned()),
        Err(why) => {
            let evaluation = failed(task, why);
            show(&evaluation);
            evaluation
        }
    }
}

fn failed(task: Task, why: String) -> Evaluation {
    Evaluation {
        task,
        result: Err(ArenaError::Unplayed(why)),
    }
}

async fn evaluate(
    mut plan: Plan,
    file: TaskFile,
    stop: &CancellationToken,
    show: impl FnMut(&Evaluation),
) -> Result<Option<Evaluation>, String> {
    let task = file.task;
    let apps = file.apps.unwrap_or_else(|| plan.apps.clone());
    let screen = file.screen.unwrap_or(plan.screen);
    let (stand, display) = match plan.display.take() {
        Some(display) => (None, display),
        None => {
            let stand = Stand::start(screen, &apps, &task.window_name).await;
            let stand = stand.map_err(|failure| failure.to_string())?;
            let display = stand.address();
            (Some(stand), display)
        }
    };
    let mut options = plan.options;
    for server in [&mut options.agent, &mut options.evaluator] {
        server.desktop = Some(display.clone());
        server.world = stand.as_ref().map(Stand::world);
    }
    let pairing = Pairing {
        agent: players::find(&plan.agent)?,
        evaluator: plan.judges.make()?,
        options,
        held: Box::new(()),
    };
    let done = pairing.evaluate([task], stop, show).await;
    if let Some(stand) = stand {
        stand.end().await;
    }
    let mut done = done.map_err(|error| error.to_string())?;
    Ok(done.pop())
}
