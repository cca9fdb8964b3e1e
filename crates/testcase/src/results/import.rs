//! A folder of the original's results becomes a run.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agon_core::clock::FixedClock;
use agon_core::{Clock, Digest, Level, Seconds, TaskId};
use agon_store::stored::FORMAT;
use agon_store::{
    AgentStamp, HostStamp, Manifest, ModelStamp, Recorder, RunFolder, RunWriter, SuiteStamp,
    TaskStamp,
};
use jiff::Timestamp;

use super::error::ResultsError;
use super::find::{files, named};
use super::imported::Imported as Trial;
use super::kept::KeptRun;
use super::schema::TestCaseRun;
use super::told::time;

/// Which checks graded it, as the manifest says: those of another system.
pub const IMPORTED: &str = "imported";
const UNKNOWN: &str = "unknown";

/// The run that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    pub run: PathBuf,
    pub from: PathBuf,
    pub cases: usize,
    /// Cases that nobody has judged.
    pub ungraded: usize,
    /// Cases that a person has judged.
    pub reviewed: usize,
    /// Files that were left out, and why.
    pub left_out: Vec<String>,
}

/// What must be known of a file before the first is taken over.
#[derive(Debug)]
struct Head {
    path: PathBuf,
    task: TaskId,
    stamp: TaskStamp,
    agent_yaml: String,
    agent_model: String,
    began: Option<Timestamp>,
}

/// Makes one run below `runs` of all result files at or below `from`. A file that can't be read does not
/// keep the others from it.
pub fn import(from: &Path, runs: &Path) -> Result<Imported, ResultsError> {
    if from.join("run.json").exists() {
        return Err(ResultsError::RunFolder(from.to_owned()));
    }
    let mut heads: Vec<Head> = Vec::new();
    let mut left_out = Vec::new();
    for path in files(from)? {
        // Read again when it is taken over, so that all of them need not fit into memory.
        match TestCaseRun::read(&path).and_then(|run| Head::of(path, &run)) {
            Ok(head) if heads.iter().any(|other| other.task == head.task) => {
                let path = head.path.display();
                left_out.push(format!(
                    "{path} is left out: {} was told of before",
                    head.task
                ));
            }
            Ok(head) => heads.push(head),
            Err(error) => left_out.push(format!("{error}: left out")),
        }
    }
    let Some(first) = heads.first() else {
        return Err(ResultsError::Nothing(from.to_owned()));
    };
    let began = heads.iter().filter_map(|head| head.began).min();
    let began = began.unwrap_or(Timestamp::UNIX_EPOCH);
    let suite = from.file_name().map_or_else(
        || "results".to_owned(),
        |name| name.to_string_lossy().into_owned(),
    );
    let folder = RunFolder::fresh(runs, began, &suite, &first.agent_model)?;
    let lock = folder.lock()?;
    let mut imported = Imported {
        run: folder.path().to_owned(),
        from: from.to_owned(),
        cases: 0,
        ungraded: 0,
        reviewed: 0,
        left_out,
    };
    let taken = folder
        .write_manifest(&manifest(&suite, from, &folder, &heads, began))
        .map_err(ResultsError::from)
        .and_then(|()| take_over(&mut imported, &heads, &folder, began));
    drop(lock);
    if let Err(error) = taken {
        // Half a run looks like a whole one.
        fs::remove_dir_all(folder.path()).ok();
        return Err(error);
    }
    Ok(imported)
}

fn take_over(
    imported: &mut Imported,
    heads: &[Head],
    folder: &RunFolder,
    began: Timestamp,
) -> Result<(), ResultsError> {
    let failed = || ResultsError::io("can't write", folder.path());
    let writer = RunWriter::open(folder)?;
    for head in heads {
        let run = TestCaseRun::read(&head.path)?;
        let trial = Trial::of(&run, head.began.unwrap_or(began));
        for picture in trial.pictures() {
            writer.keep_picture(picture).map_err(failed())?;
        }
        let kept = KeptRun::of(run.clone());
        // One that is no screen of a step, such as that of the result.
        for picture in kept.pictures() {
            writer.keep_picture(picture).map_err(failed())?;
        }
        let kept = kept.keep(&writer).map_err(failed())?;
        let events = trial.events(kept);
        let ended = events.last().map_or(began, |event| event.at);
        let clock: Arc<dyn Clock> = Arc::new(FixedClock(ended));
        let mut recorder = Recorder::of_the_past(&writer, clock, &head.task, 1, 1);
        for event in &events {
            recorder.copy(event).map_err(failed())?;
        }
        let at = recorder.finish(trial.verdict.as_ref()).map_err(failed())?;
        let line = trial.line(&head.task, at, head.stamp.key, ended);
        imported.ungraded += usize::from(line.fault.is_some());
        writer.append_trial(&line).map_err(failed())?;
        if let Some(review) = trial.review(&head.task, ended) {
            review.append(folder)?;
            imported.reviewed += 1;
        }
        imported.cases += 1;
    }
    writer.flush().map_err(failed())
}

impl Head {
    fn of(path: PathBuf, run: &TestCaseRun) -> Result<Self, ResultsError> {
        let broken = |why: String| ResultsError::Broken {
            path: path.clone(),
            why,
        };
        if run.task.is_empty() && run.trajectory.is_empty() {
            return Err(broken("it has neither a task nor a trajectory".to_owned()));
        }
        let (category, id) = named(&path).unwrap_or_default();
        let or = |own: &str, other: String| match own.is_empty() {
            true => other,
            false => own.to_owned(),
        };
        let task = TaskId::new(or(&run.category, category), or(&run.id, id));
        let task = task.map_err(|error| broken(error.to_string()))?;
        let level: Option<Level> = run.level.parse().ok();
        let facts = [
            &run.task,
            &run.setup_cmd,
            &run.desktop_image,
            &run.agent_model,
        ];
        let name = task.to_string();
        let parts = facts.into_iter().map(|fact| fact.as_bytes());
        let key = Digest::of_parts(parts.chain([name.as_bytes()]));
        let times = run.trajectory.iter().map(|step| step.timestamp);
        let result = run.result.iter().map(|step| step.timestamp);
        Ok(Self {
            stamp: TaskStamp {
                task: task.clone(),
                name: or(&run.name, task.id().to_owned()),
                level,
                weight: level.map_or(1.0, Level::default_weight),
                steps: run.max_steps,
                seconds: Seconds::whole(0),
                environment: "desktop".to_owned(),
                // Nobody tells: it is no claim that it was closed, either.
                network: false,
                image: Some(run.desktop_image.clone()).filter(|image| !image.is_empty()),
                key,
                played: key,
            },
            agent_yaml: run.agent_yaml.clone(),
            agent_model: run.agent_model.clone(),
            began: times.chain(result).filter_map(time).min(),
            path,
            task,
        })
    }
}

fn manifest(
    suite: &str,
    from: &Path,
    folder: &RunFolder,
    heads: &[Head],
    created: Timestamp,
) -> Manifest {
    let keys: Vec<&[u8]> = heads
        .iter()
        .map(|head| head.stamp.key.bytes().as_slice())
        .collect();
    let digest = Digest::of_parts(keys);
    let first = |of: fn(&Head) -> &String| {
        let mut named = heads.iter().map(of).filter(|name| !name.is_empty());
        named.next().cloned()
    };
    let model = first(|head| &head.agent_model);
    let mut manifest = Manifest {
        format: FORMAT,
        run: folder.name(),
        created,
        agon: env!("CARGO_PKG_VERSION").to_owned(),
        suites: vec![SuiteStamp {
            name: suite.to_owned(),
            path: from.display().to_string(),
            digest,
        }],
        agent: AgentStamp {
            spec: first(|head| &head.agent_yaml).unwrap_or_else(|| UNKNOWN.to_owned()),
            digest: None,
            unconfined: false,
            files: None,
        },
        models: model
            .map(|model| ModelStamp {
                name: model.clone(),
                provider: UNKNOWN.to_owned(),
                model,
                host: None,
                settings: BTreeMap::new(),
                tape: None,
            })
            .into_iter()
            .collect(),
        seed: 0,
        epochs: 1,
        dates_from: created,
        plan: digest,
        checkers: IMPORTED.to_owned(),
        selection: BTreeMap::new(),
        tasks: heads.iter().map(|head| head.stamp.clone()).collect(),
        programs: BTreeMap::new(),
        judge: None,
        host: HostStamp::default(),
    };
    manifest.plan = manifest.plan_digest();
    manifest
}
