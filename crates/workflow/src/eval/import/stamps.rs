//! What an imported run was, as far as its files tell: names, digests, the manifest.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use agon_core::{Digest, Seconds, TaskId};
use agon_store::stored::FORMAT;
use agon_store::{AgentStamp, HostStamp, Manifest, ModelStamp, SuiteStamp, TaskStamp};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde_json::Value;

use super::super::metadata::EvalMetadata;
use super::row::Head;

/// Which checks graded it: those of another system.
const CHECKERS: &str = "imported";

#[derive(Debug)]
pub(super) struct Stamps<'a> {
    pub(super) suite: String,
    path: String,
    metadata: &'a EvalMetadata,
    epochs: u32,
    /// By instance, in the order of the file.
    tasks: Vec<(String, TaskId, Digest)>,
    places: HashMap<String, usize>,
}

impl<'a> Stamps<'a> {
    pub(super) fn of(file: &Path, metadata: &'a EvalMetadata, rows: &[Head], epochs: u32) -> Self {
        let suite = metadata.dataset.clone().filter(|name| !name.is_empty());
        let suite = suite.unwrap_or_else(|| folder_name(file));
        let category = plain(&suite);
        let mut stamps = Self {
            suite,
            path: file.display().to_string(),
            metadata,
            epochs,
            tasks: Vec::new(),
            places: HashMap::new(),
        };
        let mut taken = HashSet::new();
        for row in rows {
            if stamps.places.contains_key(&row.id) {
                continue;
            }
            let task = free(&category, &row.id, &mut taken);
            let said = row.instruction.as_deref().unwrap_or_default();
            let key = Digest::of(format!("{}\n{}\n{said}", stamps.suite, row.id).as_bytes());
            stamps.places.insert(row.id.clone(), stamps.tasks.len());
            stamps.tasks.push((row.id.clone(), task, key));
        }
        stamps
    }

    fn at(&self, id: &str) -> Option<&(String, TaskId, Digest)> {
        self.tasks.get(*self.places.get(id)?)
    }

    pub(super) fn task(&self, id: &str) -> Option<&TaskId> {
        self.at(id).map(|(_, task, _)| task)
    }

    pub(super) fn key(&self, id: &str) -> Digest {
        self.at(id)
            .map_or_else(|| Digest::of(b""), |(_, _, key)| *key)
    }

    pub(super) fn manifest(&self, run: &str, created: Timestamp) -> Manifest {
        let keys: Vec<String> = self.tasks.iter().map(|(_, _, key)| key.to_hex()).collect();
        let suite = Digest::of(keys.join("\n").as_bytes());
        let agent = &self.metadata.agent_class;
        let agent = if agent.is_empty() { "unknown" } else { agent };
        let mut manifest = Manifest {
            format: FORMAT,
            run: run.to_owned(),
            created,
            agon: env!("CARGO_PKG_VERSION").to_owned(),
            suites: vec![SuiteStamp {
                name: self.suite.clone(),
                path: self.path.clone(),
                digest: suite,
            }],
            agent: AgentStamp {
                spec: agent.to_owned(),
                digest: None,
                unconfined: false,
                files: None,
            },
            models: self.model().into_iter().collect(),
            judge: None,
            seed: 0,
            epochs: self.epochs,
            dates_from: created,
            plan: Digest::of(b""),
            checkers: CHECKERS.to_owned(),
            selection: BTreeMap::new(),
            tasks: self.tasks.iter().map(|task| self.stamp(task)).collect(),
            programs: BTreeMap::new(),
            host: HostStamp::default(),
        };
        manifest.plan = manifest.plan_digest();
        manifest
    }

    fn stamp(&self, (id, task, key): &(String, TaskId, Digest)) -> TaskStamp {
        TaskStamp {
            task: task.clone(),
            name: id.clone(),
            level: None,
            weight: 1.0,
            steps: self.metadata.max_iterations,
            seconds: Seconds::whole(0),
            environment: "container".to_owned(),
            // Nobody knows, and nobody may say that it was open.
            network: false,
            image: None,
            key: *key,
            played: *key,
        }
    }

    fn model(&self) -> Option<ModelStamp> {
        let config = &self.metadata.llm_config;
        let text = |key: &str| config.get(key).and_then(Value::as_str);
        let model = text("model")?;
        let (provider, bare) = model.split_once('/').unwrap_or(("", model));
        let provider = text("custom_llm_provider").unwrap_or(provider);
        let kept = [
            "temperature",
            "top_p",
            "seed",
            "reasoning_effort",
            "max_output_tokens",
        ];
        let settings = kept
            .iter()
            .filter_map(|key| Some(((*key).to_owned(), config.get(*key)?.clone())))
            .filter(|(_, value)| !value.is_null());
        Some(ModelStamp {
            name: model.to_owned(),
            provider: provider.to_owned(),
            model: bare.to_owned(),
            host: None,
            settings: settings.collect(),
            tape: None,
        })
    }
}

/// When the evaluation began, as its files say; otherwise when its first row did.
pub(super) fn began(metadata: &EvalMetadata, rows: &[Head]) -> Timestamp {
    let said = DateTime::strptime("%Y-%m-%d %H:%M:%S", &metadata.start_time).ok();
    let said = said.and_then(|time| Some(time.to_zoned(TimeZone::UTC).ok()?.timestamp()));
    said.or_else(|| rows.iter().filter_map(|row| row.began).min())
        .unwrap_or(Timestamp::UNIX_EPOCH)
}

fn folder_name(file: &Path) -> String {
    let folder = file.parent().and_then(Path::file_name);
    folder.map_or_else(
        || "imported".to_owned(),
        |name| name.to_string_lossy().into_owned(),
    )
}

/// A name that can be part of a path.
fn plain(name: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let name: String = name
        .chars()
        .map(|c| if fits(c) { c } else { '_' })
        .take(80)
        .collect();
    match name.trim_start_matches('.') {
        "" => "instance".to_owned(),
        name => name.to_owned(),
    }
}

/// A task id that no other instance has.
fn free(category: &str, id: &str, taken: &mut HashSet<String>) -> TaskId {
    let base = plain(id);
    let mut name = base.clone();
    let mut count = 1;
    while !taken.insert(name.clone()) {
        count += 1;
        name = format!("{base}-{count}");
    }
    // Both parts are plain by now.
    TaskId::new(category, name).unwrap_or_else(|_| TaskId::alone())
}
