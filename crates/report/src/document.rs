//! The JSON report. `format` counts up when a field changes its meaning; new fields may appear at
//! any time.

use agon_store::{AgentStamp, HostStamp, JudgeStamp, ModelStamp, SuiteStamp};
use jiff::Timestamp;
use schemars::{JsonSchema, Schema, schema_for};
use serde::Serialize;

use crate::comparison::{Comparison, paired};
use crate::error::ReportError;
use crate::run_report::RunReport;
use crate::summary::Summary;

const FORMAT: u32 = 1;

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Document {
    pub format: u32,
    pub runs: Vec<RunDocument>,
    /// The runs paired by task; left out where there is only one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comparison: Option<Comparison>,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RunDocument {
    pub run: String,
    pub created: Timestamp,
    /// Version of `agon` that began the run.
    pub agon: String,
    pub suites: Vec<SuiteStamp>,
    pub agent: AgentStamp,
    /// Those of the agent; left out where it asked none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<ModelStamp>,
    /// Left out where none was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge: Option<JudgeStamp>,
    /// Tasks whose environment had an open network.
    pub open_network_tasks: u64,
    pub seed: u64,
    pub epochs: u32,
    pub host: HostStamp,
    pub summary: Summary,
}

impl RunDocument {
    fn of(run: &RunReport<'_>) -> Self {
        let manifest = run.manifest;
        let open = manifest.tasks.iter().filter(|task| task.network);
        Self {
            run: manifest.run.clone(),
            created: manifest.created,
            agon: manifest.agon.clone(),
            suites: manifest.suites.clone(),
            agent: manifest.agent.clone(),
            models: manifest.models.clone(),
            judge: manifest.judge.clone(),
            open_network_tasks: open.count() as u64,
            seed: manifest.seed,
            epochs: manifest.epochs,
            host: manifest.host.clone(),
            summary: run.summary.clone(),
        }
    }
}

/// The JSON Schema of the report.
pub fn document_schema() -> Schema {
    schema_for!(Document)
}

pub(crate) fn render(runs: &[RunReport<'_>]) -> Result<String, ReportError> {
    let document = Document {
        format: FORMAT,
        runs: runs.iter().map(RunDocument::of).collect(),
        comparison: paired(runs)?,
    };
    let mut json = serde_json::to_string_pretty(&document)?;
    json.push('\n');
    Ok(json)
}
