//! An agent entered for a list of tasks: everything that is decided before the first trial, and the
//! manifest that says so. `agon run` and `agon lint` both play through here.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use agon_agent::user::Users;
use agon_agent::{AgentFactory, AgentSpec, KINDS, Services};
use agon_core::check::{Check, CheckKind, ProseSubject};
use agon_core::environment::Network;
use agon_core::{Clock, Digest, Environment, EnvironmentKind, Money, Seed, Task, User};
use agon_engine::{
    Asked, Dispatch, Mode, Providers, Regraded, Removals, RunEnd, Shelf, Spent, Table, Watch,
    digests, dispatch, regrade, select,
};
use agon_grade::Judge;
use agon_llm::config::Config;
use agon_llm::{Account, Budget, Model, Session};
use agon_sandbox::container::ContainerProvider;
use agon_store::stored::FORMAT;
use agon_store::{
    AgentStamp, JudgeStamp, Manifest, ModelStamp, Progress, RunFolder, RunReader, RunWriter,
    TaskStamp,
};
use agon_suite::{AgentIdentity, Plan, PlanOptions};
use jiff::Timestamp;
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

use super::failure::Failure;
use super::host;
use super::known_answers;
use super::load::Loaded;
use super::model_stamp;
use super::output;
use super::own_files::answers_of;

/// A frozen working folder larger than this is graded but not kept.
const KEEP_WORK: u64 = 64 << 20;

/// What a user can choose about a contest.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) agent: String,
    /// The first is the agent's own; a gateway gives agents these and no other.
    pub(super) models: Vec<Model>,
    /// One that the agent asks without us.
    pub(super) model_elsewhere: Option<ModelStamp>,
    /// Where agents of ours find their settings and further models.
    pub(super) config: Option<Arc<Config>>,
    pub(super) session: Option<Arc<Session>>,
    /// Whom checks of prose are put to.
    pub(super) judge: Option<Judge>,
    /// Of the tape that answers instead of them.
    pub(super) tape: Option<Digest>,
    pub(super) seed: u64,
    pub(super) epochs: u32,
    pub(super) dates_from: Timestamp,
    pub(super) selection: BTreeMap<String, String>,
    /// What the command itself reads and writes beside suites and run folder.
    pub(super) own_files: Vec<PathBuf>,
    /// Globs of what belongs to a `cmd:` agent beside its program.
    pub(super) agent_files: Vec<String>,
    /// Nothing is played: this agent did, and need not be there any more.
    pub(super) played_by: Option<AgentStamp>,
}

#[derive(Debug)]
pub(super) struct Contest {
    pub(super) plan: Plan,
    pub(super) manifest: Manifest,
    /// What people should know before the first trial.
    pub(super) notes: Vec<String>,
    agents: AgentFactory,
    users: Users,
    judge: Option<Judge>,
    providers: Providers,
    clock: Arc<dyn Clock>,
}

impl Contest {
    /// Checks that everything is there that the tasks need, before anything is played.
    pub(super) async fn enter(
        loaded: Loaded,
        entry: &Entry,
        own_agent: Option<AgentFactory>,
        folder: &RunFolder,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, Failure> {
        let asked = entry
            .models
            .iter()
            .chain(entry.judge.as_ref().map(Judge::model));
        let answers = asked.filter_map(|model| answers_of(model.spec()));
        let mut hidden = loaded.hidden(folder);
        hidden.extend(entry.own_files.iter().cloned().chain(answers));
        let providers = agon_engine::providers(&hidden);
        let agents = match own_agent {
            Some(agents) => agents,
            None => enter_agent(entry, &providers)?,
        };
        let (stamp, notes) = identity(entry, &agents, &loaded.tasks)?;
        let options = PlanOptions {
            epochs: entry.epochs,
            seed: Seed(entry.seed),
            agent: AgentIdentity {
                spec: stamp.spec.clone(),
                digest: stamp.digest,
            },
            checkers: agon_grade::CHECKERS.to_owned(),
        };
        refuse_blind(entry.judge.as_ref(), &loaded.tasks)?;
        agon_engine::make_images(&loaded.builds, output::say).await;
        let plan = Plan::new(loaded.tasks, options).map_err(Failure::new)?;
        let (limits, engines, images) = match agents.elsewhere() {
            Some(_) => Default::default(),
            // What only a record is needed for needs nothing; a check that does need it says so.
            None if entry.played_by.is_some() => {
                preflight(&plan, &providers).await.unwrap_or_default()
            }
            None => preflight(&plan, &providers).await?,
        };
        let named = plan.tasks().to_vec();
        let programs = spawn_blocking(move || digests(named.iter().map(AsRef::as_ref)));
        let programs = programs.await.map_err(Failure::new)?;
        let tasks = plan.tasks().iter().map(|task| TaskStamp {
            task: task.id.clone(),
            name: task.name.clone(),
            level: task.level,
            weight: task.weight,
            steps: task.limits.steps,
            seconds: task.limits.seconds,
            environment: task.environment.kind.name().to_owned(),
            network: task.environment.network == Network::Open,
            image: task
                .environment
                .image
                .as_ref()
                .map(|image| match images.get(image) {
                    Some(digest) => format!("{image} ({digest})"),
                    None => image.clone(),
                }),
            key: plan.key(task),
            played: task.played,
        });
        let mut manifest = Manifest {
            format: FORMAT,
            run: folder.name(),
            created: clock.now(),
            agon: env!("CARGO_PKG_VERSION").to_owned(),
            suites: loaded.suites,
            agent: stamp,
            models: entry
                .models
                .iter()
                .map(|model| model_stamp::stamp(model, entry.tape))
                .chain(entry.model_elsewhere.clone().map(Ok))
                .collect::<Result<_, _>>()?,
            judge: judge_stamp(entry, &plan)?,
            seed: entry.seed,
            epochs: entry.epochs,
            dates_from: entry.dates_from,
            plan: Digest::of(b""),
            checkers: agon_grade::CHECKERS.to_owned(),
            selection: entry.selection.clone(),
            tasks: tasks.collect(),
            programs,
            host: host::stamp(limits, engines),
        };
        manifest.plan = manifest.plan_digest();
        let users = users(entry, plan.tasks())?;
        Ok(Self {
            plan,
            manifest,
            notes,
            agents,
            users,
            judge: entry.judge.clone(),
            providers,
            clock,
        })
    }

    /// Money that nobody can count stops nothing.
    pub(super) fn check_money(
        &self,
        models: &[Model],
        budget: Option<Money>,
    ) -> Result<(), Failure> {
        let limited = |task: &&Arc<Task>| task.limits.money.is_some();
        let what = match (budget, self.plan.tasks().iter().find(limited)) {
            (Some(_), _) => "--budget-money".to_owned(),
            (None, Some(task)) => format!("limits.money of {}", task.id),
            (None, None) => return Ok(()),
        };
        let Some(model) = models.iter().find(|model| !model.has_price()) else {
            return Ok(());
        };
        Err(Failure::new(format_args!(
            "{what} would stop nothing: nobody knows what calls of `{}` cost. Give a list of prices \
             with --prices FILE, or input_cost_per_token and output_cost_per_token in its section; or \
             limit tokens instead",
            model.spec().name
        )))
    }

    /// Plays what is left in a folder that holds this contest's manifest.
    pub(super) async fn play(
        self,
        folder: &RunFolder,
        mode: Mode,
        options: &Dispatch,
        watch: Arc<dyn Watch>,
        stop: &CancellationToken,
    ) -> Result<RunEnd, Failure> {
        let providers = self.providers.clone();
        let (run, programs) = {
            // What is not needed of it goes with this block: a stamp of each task.
            let manifest = self.manifest;
            (manifest.run, manifest.programs)
        };
        let table = Arc::new(Table {
            run,
            clock: self.clock,
            writer: RunWriter::open(folder)?,
            providers: self.providers,
            agents: self.agents,
            users: self.users,
            judge: self.judge,
            watch: Arc::clone(&watch),
            keep_work: KEEP_WORK,
            removals: Removals::default(),
            programs: Shelf::new(programs),
            account: Arc::new(Account::of_run(Budget {
                tokens: options.budget.tokens,
                money: options.budget.money,
            })),
        });
        // Before the first judge is asked. What this command asks is counted as it is asked.
        table.account.add(&Progress::read(folder)?.usage);
        let end = if mode == Mode::ValidateOnly {
            let reader = RunReader::open(folder.path())?;
            let all = Regraded::All;
            regrade(&table, &reader, &self.plan, all, options.workers, stop).await
        } else {
            let asked = Asked {
                mode,
                judge: table.judge.is_some(),
            };
            if asked.judge {
                let reader = RunReader::open(folder.path())?;
                let those = Regraded::Unjudged;
                regrade(&table, &reader, &self.plan, those, options.workers, stop).await?;
            }
            let selected = select(&table.writer, &self.plan, asked)?;
            if table.writer.cut_torn_line() {
                watch.note("the last line of trials.jsonl was torn: that attempt never counted");
            }
            watch.planned(selected.left, selected.done);
            let (steps, usage) = selected.spent();
            let mut used = usage.clone();
            used += selected.lost();
            table.account.add(selected.lost());
            let spent = Spent::new(steps, used);
            dispatch(&table, selected.jobs(), options, spent, stop).await
        };
        providers.settle().await;
        Ok(end?)
    }
}

/// Better said before hours of playing than after them.
fn refuse_blind(judge: Option<&Judge>, tasks: &[Task]) -> Result<(), Failure> {
    let blind = judge.filter(|judge| !judge.model().spec().sees());
    let shown = |task: &&Task| {
        let screens = task.environment.kind == EnvironmentKind::Desktop;
        let checks = &task.checks;
        checks.inspect(|checks| checks.iter().any(|check| needs_eyes(check, screens)))
    };
    let (Some(judge), Some(task)) = (blind, tasks.iter().find(shown)) else {
        return Ok(());
    };
    Err(Failure::new(format_args!(
        "the judge `{}` sees no pictures, and a check of {} is about what is on the screen: name one that \
         sees with --judge",
        judge.model().spec().name,
        task.id
    )))
}

/// Whether a judge is shown screens for a check, or for a part of it.
fn needs_eyes(check: &Check, screens: bool) -> bool {
    match &check.kind {
        CheckKind::Prose { subject, .. } => match subject {
            ProseSubject::FinalScreenshot => true,
            ProseSubject::ExpectedFlow => screens,
            ProseSubject::ReturnedResult | ProseSubject::CommandOutput { .. } => false,
        },
        CheckKind::All { checks, .. } | CheckKind::Any { checks } => {
            checks.iter().any(|check| needs_eyes(check, screens))
        }
        _ => false,
    }
}

/// The judge, if any task asks for one.
fn judge_stamp(entry: &Entry, plan: &Plan) -> Result<Option<JudgeStamp>, Failure> {
    let asked = plan.tasks().iter().any(|task| task.needs_judge());
    let Some(judge) = entry.judge.as_ref().filter(|_| asked) else {
        return Ok(None);
    };
    Ok(Some(JudgeStamp {
        model: model_stamp::stamp(judge.model(), entry.tape)?,
        votes: judge.options().votes,
        prompts: judge.prompts(),
    }))
}

/// Who plays, as the manifest says it, and what is to be said about the agent's files.
fn identity(
    entry: &Entry,
    agents: &AgentFactory,
    tasks: &[Task],
) -> Result<(AgentStamp, Vec<String>), Failure> {
    if let Some(stamp) = &entry.played_by {
        return Ok((stamp.clone(), Vec::new()));
    }
    let mut stamp = agents.stamp();
    let mut notes = Vec::new();
    if let (Some(bundle), Some(about)) = (agents.bundle(), &mut stamp.files) {
        known_answers::look(bundle, tasks, about)?;
        notes.extend(bundle.notes().iter().map(|note| format!("note: {note}")));
        notes.extend(known_answers::warning(about));
    }
    Ok((stamp, notes))
}

/// The agent, ready to be made for each trial.
fn enter_agent(entry: &Entry, providers: &Providers) -> Result<AgentFactory, Failure> {
    let name = if entry.played_by.is_some() {
        "noop"
    } else {
        &entry.agent
    };
    let kinds = KINDS
        .iter()
        .chain(agon_workflow::codeact::KINDS)
        .chain(agon_testcase::agents::KINDS);
    let spec = AgentSpec::parse_among(name, kinds)?;
    let services = Services {
        local: Arc::clone(&providers.local),
        hidden: providers.hidden.clone(),
        agent_files: entry.agent_files.clone(),
        models: entry.models.clone(),
        config: entry.config.clone(),
        session: entry.session.clone(),
    };
    Ok(AgentFactory::new(&spec, &services)?)
}

/// Who can speak for the tasks' users: the run's models, and those that personas name.
fn users(entry: &Entry, tasks: &[Arc<Task>]) -> Result<Users, Failure> {
    let mut models = entry.models.clone();
    for task in tasks {
        let User::Persona(persona) = task.user.on_host() else {
            continue;
        };
        let Some(name) = &persona.model else { continue };
        if models.iter().any(|model| model.spec().name == *name) {
            continue;
        }
        let (Some(config), Some(session)) = (&entry.config, &entry.session) else {
            return Err(Failure::new(format_args!(
                "the user of {} is played by the model `{name}`: give a configuration that has it, and a \
                 model for the agent with --model",
                task.id
            )));
        };
        models.push(session.model(config.model(name)?)?);
    }
    Ok(Users {
        models,
        person: None,
    })
}

/// Refuses tasks with an open network where the machine can't give them one of their own.
fn refuse_without_network(plan: &Plan) -> Result<(), Failure> {
    let here = |env: &Environment| env.kind != EnvironmentKind::None && !env.is_container();
    let open = plan.tasks().iter().filter(|task| {
        let env = &task.environment;
        here(env) && env.network == Network::Open
    });
    let names: Vec<String> = open.map(|task| format!("`{}`", task.id)).collect();
    if names.is_empty() {
        return Ok(());
    }
    let names = names.join(", ");
    let lacking = |error| Failure::new(format!("{names} with `network: open`: {error}"));
    agon_sandbox::local::open_networks()
        .map(drop)
        .map_err(lacking)
}

/// What enforces limits, which engines run, and the digests of the images: or what is missing.
async fn preflight(
    plan: &Plan,
    providers: &Providers,
) -> Result<(String, Vec<String>, BTreeMap<String, String>), Failure> {
    let environments = || plan.tasks().iter().map(|task| &task.environment);
    let on_screen = |env: &&Environment| env.kind == EnvironmentKind::Desktop;
    let mut limits = String::new();
    let mut engines = Vec::new();
    let mut images = BTreeMap::new();
    let mut missing = Vec::new();
    let screens_here = environments()
        .filter(on_screen)
        .any(|env| env.image.is_none());
    if screens_here {
        engines.push(agon_desktop::describe()?);
    }
    if screens_here || environments().any(|env| env.kind == EnvironmentKind::Local) {
        limits = agon_sandbox::limits::Enforcement::detect().to_string();
        engines.push(providers.local.describe().await?);
    }
    refuse_without_network(plan)?;
    if environments().any(Environment::is_container) {
        engines.push(providers.container.describe().await?);
        let engine = ContainerProvider::connect().await?;
        for task in plan.tasks() {
            let Some(image) = &task.environment.image else {
                continue;
            };
            if images.contains_key(image) || missing.iter().any(|(name, _)| name == image) {
                continue;
            }
            match engine.image_digest(image).await {
                Ok(digest) => drop(images.insert(image.clone(), digest)),
                Err(error) => missing.push((image.clone(), error)),
            }
        }
        // One that is missing faults its own trials; without any there is nothing to play in.
        match missing.pop() {
            Some((_, error)) if images.is_empty() => return Err(error.into()),
            last => {
                for (_, error) in missing.iter().chain(&last) {
                    output::say(&format!("agon: {error}"));
                }
            }
        }
    }
    Ok((limits, engines, images))
}
