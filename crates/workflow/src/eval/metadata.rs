//! What an evaluation was: agent, model, limits, dataset. Decides the name of its folder, and is written
//! there as `metadata.json`.

use std::fs;
use std::path::{Component, Path, PathBuf};

use agon_core::{Clock, SystemClock};
use agon_llm::ModelSpec;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::error::EvalFileError;
use super::{mask, model_json, revision};

/// Where the commit is not known.
const NO_COMMIT: &str = "unknown";

/// Stands in the folder's name for the model of an agent that asks none.
const NO_MODEL: &str = "no-model";

/// The twelve keys of `metadata.json`, in their order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EvalMetadata {
    pub agent_class: String,
    #[serde(serialize_with = "mask::fields")]
    pub llm_config: Map<String, Value>,
    #[serde(serialize_with = "mask::optional")]
    pub agent_config: Option<Map<String, Value>>,
    pub max_iterations: u32,
    pub eval_output_dir: String,
    /// `2026-11-16 10:00:00`, in UTC.
    pub start_time: String,
    pub git_commit: String,
    pub dataset: Option<String>,
    pub data_split: Option<String>,
    #[serde(serialize_with = "mask::optional")]
    pub details: Option<Map<String, Value>>,
    #[serde(serialize_with = "mask::optional")]
    pub condenser_config: Option<Map<String, Value>>,
    pub instruction_template_name: Option<String>,
}

/// Everything that metadata is made from.
#[derive(Debug, Clone)]
pub struct MetadataOptions<'a> {
    /// `None`: the agent asks none.
    pub llm: Option<&'a ModelSpec>,
    pub dataset_name: &'a str,
    pub agent_class: &'a str,
    pub max_iterations: u32,
    pub eval_note: Option<&'a str>,
    /// The root of all outputs, not yet the folder of this one.
    pub eval_output_dir: &'a Path,
    pub data_split: Option<String>,
    pub details: Option<Map<String, Value>>,
    pub agent_config: Option<Map<String, Value>>,
    pub condenser_config: Option<Map<String, Value>>,
    pub instruction_template_name: Option<String>,
}

/// Makes the folder of an evaluation and its `metadata.json`. One that is there already is kept if it says
/// the same, so that a resume does not change when the evaluation began; if not, it is refused.
pub fn make_metadata(
    llm: &ModelSpec,
    dataset_name: &str,
    agent_class: &str,
    max_iterations: u32,
    eval_note: Option<&str>,
    eval_output_dir: &Path,
) -> Result<EvalMetadata, EvalFileError> {
    MetadataOptions {
        llm: Some(llm),
        dataset_name,
        agent_class,
        max_iterations,
        eval_note,
        eval_output_dir,
        data_split: None,
        details: None,
        agent_config: None,
        condenser_config: None,
        instruction_template_name: None,
    }
    .make(&SystemClock::default())
}

/// `<root>/<dataset>/<agent>/<model>_maxiter_<N>[_N_<note>]`.
pub fn output_folder(
    root: &Path,
    dataset_name: &str,
    agent_class: &str,
    model: &str,
    max_iterations: u32,
    eval_note: Option<&str>,
) -> Result<PathBuf, EvalFileError> {
    let model = model.rsplit('/').next().unwrap_or(model);
    let model = model.replace(':', "_").replace('@', "-");
    let note = match eval_note {
        Some(note) if !note.is_empty() => format!("_N_{note}"),
        _ => String::new(),
    };
    // Of an agent that is a command line, and of a note, a slash makes no folder: the layout has three levels.
    let agent = agent_class.replace('/', "_");
    let leaf = format!("{model}_maxiter_{max_iterations}{note}").replace('/', "_");
    let mut folder = root.to_owned();
    for name in [dataset_name, &agent, &leaf] {
        let plain = |part| matches!(part, Component::Normal(_));
        if name.is_empty() || !Path::new(name).components().all(plain) {
            return Err(EvalFileError::Name(name.to_owned()));
        }
        folder.push(name);
    }
    Ok(folder)
}

impl MetadataOptions<'_> {
    /// Where the evaluation's files go.
    pub fn folder(&self) -> Result<PathBuf, EvalFileError> {
        output_folder(
            self.eval_output_dir,
            self.dataset_name,
            self.agent_class,
            self.llm.map_or(NO_MODEL, |llm| &llm.model),
            self.max_iterations,
            self.eval_note,
        )
    }

    pub fn make(&self, clock: &dyn Clock) -> Result<EvalMetadata, EvalFileError> {
        let folder = self.folder()?;
        let logs = folder.join("logs");
        fs::create_dir_all(&logs).map_err(EvalFileError::io("can't create", &logs))?;
        self.describe(clock)?.settle(&folder.join("metadata.json"))
    }

    /// The same, without writing anything.
    pub fn describe(&self, clock: &dyn Clock) -> Result<EvalMetadata, EvalFileError> {
        let folder = self.folder()?;
        let here = std::env::current_dir().ok();
        let commit = here.as_deref().and_then(revision::commit_of);
        let now = clock.now().to_zoned(TimeZone::UTC);
        Ok(EvalMetadata {
            agent_class: self.agent_class.to_owned(),
            llm_config: self
                .llm
                .map(model_json::llm_config_json)
                .unwrap_or_default(),
            agent_config: self.agent_config.clone(),
            max_iterations: self.max_iterations,
            eval_output_dir: folder.display().to_string(),
            start_time: now.strftime("%Y-%m-%d %H:%M:%S").to_string(),
            git_commit: commit.unwrap_or_else(|| NO_COMMIT.to_owned()),
            dataset: Some(self.dataset_name.to_owned()),
            data_split: self.data_split.clone(),
            details: self.details.clone(),
            condenser_config: self.condenser_config.clone(),
            instruction_template_name: self.instruction_template_name.clone(),
        })
    }
}

impl EvalMetadata {
    pub fn read(path: &Path) -> Result<Self, EvalFileError> {
        let text = fs::read_to_string(path).map_err(EvalFileError::io("can't read", path))?;
        serde_json::from_str(&text).map_err(|error| EvalFileError::Broken {
            path: path.to_owned(),
            line: error.line(),
            why: error.to_string(),
        })
    }

    /// The same, without the keys whose values are not what they are here; their names are told.
    pub(super) fn read_leniently(path: &Path) -> Result<(Self, Vec<String>), EvalFileError> {
        let broken = |line: usize, why: String| EvalFileError::Broken {
            path: path.to_owned(),
            line,
            why,
        };
        let text = fs::read_to_string(path).map_err(EvalFileError::io("can't read", path))?;
        let fields: Map<String, Value> =
            serde_json::from_str(&text).map_err(|error| broken(error.line(), error.to_string()))?;
        Ok(Self::of_fields(fields))
    }

    /// As much as can be read.
    pub(super) fn of_fields(mut fields: Map<String, Value>) -> (Self, Vec<String>) {
        let fits = |(key, value): (&String, &Value)| {
            let alone = Map::from_iter([(key.clone(), value.clone())]);
            serde_json::from_value::<Self>(alone.into()).is_ok()
        };
        let unread: Vec<String> = fields
            .iter()
            .filter(|field| !fits(*field))
            .map(|(key, _)| key.clone())
            .collect();
        fields.retain(|key, _| !unread.contains(key));
        let metadata = serde_json::from_value(fields.into()).unwrap_or_default();
        (metadata, unread)
    }

    /// As it is on disk now: what was there, if it is of the same experiment.
    fn settle(self, path: &Path) -> Result<Self, EvalFileError> {
        if !path.exists() {
            self.write(path)?;
            return Ok(self);
        }
        let before = Self::read(path)?;
        let keys = self.differences(&before);
        if keys.is_empty() {
            return Ok(before);
        }
        Err(EvalFileError::OtherExperiment {
            path: path.to_owned(),
            keys: keys.join(", "),
        })
    }

    /// Readers see what was there before, or all of this.
    pub fn write(&self, path: &Path) -> Result<(), EvalFileError> {
        let failed = || EvalFileError::io("can't write", path);
        let text = serde_json::to_vec(self).map_err(|error| failed()(error.into()))?;
        let folder = path.parent().unwrap_or(Path::new("."));
        let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed())?;
        std::io::Write::write_all(&mut file, &text).map_err(failed())?;
        let readable = std::os::unix::fs::PermissionsExt::from_mode(0o644);
        file.as_file().set_permissions(readable).map_err(failed())?;
        file.persist(path)
            .map_err(|error| failed()(error.error))
            .map(drop)
    }

    /// Whether both are of one run, wherever their files are.
    pub(crate) fn is_of_same_run(&self, other: &Self) -> bool {
        let began = (&self.start_time, &self.git_commit);
        let keys = self.differences(other);
        began == (&other.start_time, &other.git_commit)
            && keys.iter().all(|key| key == "eval_output_dir")
    }

    /// Keys that say different things; when and on which commit it began does not matter.
    fn differences(&self, other: &Self) -> Vec<String> {
        let shown = |metadata: &Self| match serde_json::to_value(metadata) {
            Ok(Value::Object(fields)) => fields,
            _ => Map::new(),
        };
        let (ours, theirs) = (shown(self), shown(other));
        let matters = |key: &&String| !matches!(key.as_str(), "start_time" | "git_commit");
        let differs = |key: &&String| !same(ours.get(*key), theirs.get(*key));
        let keys = ours.keys().filter(matters).filter(differs);
        keys.cloned().collect()
    }
}

/// Numbers are the same however they are written.
fn same(one: Option<&Value>, other: Option<&Value>) -> bool {
    match (one, other) {
        (Some(Value::Number(a)), Some(Value::Number(b))) => a.as_f64() == b.as_f64(),
        (Some(Value::Object(a)), Some(Value::Object(b))) => {
            let keys = a.keys().chain(b.keys());
            keys.into_iter().all(|key| same(a.get(key), b.get(key)))
        }
        (one, other) => one.unwrap_or(&Value::Null) == other.unwrap_or(&Value::Null),
    }
}
