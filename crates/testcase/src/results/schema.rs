//! The file of one case as OSUniverse writes and reads it: keys, their order, and what may be missing. Knows
//! nothing of run folders.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::bounded;
use super::error::ResultsError;

/// A hundred steps with a screen of noise each would be as large.
pub const MOST_OF_A_FILE: u64 = 512 << 20;
/// A longer trajectory is none.
pub const MOST_STEPS: usize = 10_000;
/// More checks than any case has, and more commands.
const MOST_CHECKS: usize = 1000;
/// A score that nobody gave.
pub const NO_SCORE: f64 = -1.0;
/// What the original writes where the agent gave no answer.
pub const NO_ANSWER: &str = "No result found; run is complete.";

/// What is asked for: a test case as runners get it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TestCase {
    pub id: String,
    pub name: String,
    pub category: String,
    pub level: String,
    pub task: String,
    pub setup_cmd: String,
    pub desktop_image: String,
    pub checks: Vec<CheckRow>,
}

/// One of the four types that the original's reader knows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckRow {
    #[serde(rename = "type", default)]
    pub kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    #[serde(default)]
    pub value: String,
    /// How the check that it stands for is called in verdicts.
    #[serde(skip)]
    pub(crate) label: String,
}

/// One step. Both texts may be `null`; where the key is missing they are empty.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Seconds since 1970.
    #[serde(default, deserialize_with = "or_default")]
    pub timestamp: f64,
    #[serde(default, deserialize_with = "or_default")]
    pub action: String,
    #[serde(default = "empty")]
    pub thought: Option<String>,
    /// A `data:` URI.
    #[serde(default = "empty")]
    pub screenshot: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CommandOutput {
    pub command: String,
    /// A text; the original's own runner writes the object that its desktop has answered.
    #[serde(default, deserialize_with = "bounded::value")]
    pub output: Value,
}

/// The whole file. What may be missing is filled in; keys that it does not know are ignored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TestCaseRun {
    #[serde(deserialize_with = "or_default")]
    pub id: String,
    #[serde(deserialize_with = "or_default")]
    pub name: String,
    #[serde(deserialize_with = "or_default")]
    pub category: String,
    #[serde(deserialize_with = "or_default")]
    pub level: String,
    #[serde(deserialize_with = "or_default")]
    pub task: String,
    #[serde(deserialize_with = "or_default")]
    pub setup_cmd: String,
    #[serde(deserialize_with = "or_default")]
    pub desktop_image: String,
    #[serde(deserialize_with = "bounded::list::<_, _, MOST_CHECKS>")]
    pub checks: Vec<CheckRow>,
    #[serde(deserialize_with = "or_default")]
    pub agent_yaml: String,
    #[serde(deserialize_with = "or_default")]
    pub agent_model: String,
    #[serde(deserialize_with = "or_default")]
    pub max_steps: u32,
    pub status: Option<String>,
    pub result: Option<Step>,
    #[serde(deserialize_with = "bounded::list::<_, _, MOST_STEPS>")]
    pub trajectory: Vec<Step>,
    #[serde(deserialize_with = "bounded::list::<_, _, MOST_CHECKS>")]
    pub command_output_check_results: Vec<CommandOutput>,
    #[serde(deserialize_with = "or_default")]
    pub input_tokens: u64,
    #[serde(deserialize_with = "or_default")]
    pub output_tokens: u64,
    #[serde(deserialize_with = "score")]
    pub ai_score: f64,
    pub ai_comment: Option<String>,
    #[serde(deserialize_with = "score")]
    pub human_score: f64,
    pub human_comment: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub validation_input_tokens: u64,
    #[serde(deserialize_with = "or_default")]
    pub validation_output_tokens: u64,
}

impl Default for TestCaseRun {
    fn default() -> Self {
        Self::of(TestCase::default(), 0)
    }
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "the key may be there with null, which is something else"
)]
fn empty() -> Option<String> {
    Some(String::new())
}

fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

fn score<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let score: Option<f64> = Option::deserialize(deserializer)?;
    Ok(score.unwrap_or(NO_SCORE))
}

impl Step {
    pub fn new(timestamp: f64, action: impl Into<String>) -> Self {
        Self {
            timestamp,
            action: action.into(),
            thought: empty(),
            screenshot: empty(),
        }
    }
}

impl TestCaseRun {
    /// A case of which nothing was played yet.
    pub fn of(case: TestCase, max_steps: u32) -> Self {
        Self {
            id: case.id,
            name: case.name,
            category: case.category,
            level: case.level,
            task: case.task,
            setup_cmd: case.setup_cmd,
            desktop_image: case.desktop_image,
            checks: case.checks,
            agent_yaml: String::new(),
            agent_model: String::new(),
            max_steps,
            status: None,
            result: None,
            trajectory: Vec::new(),
            command_output_check_results: Vec::new(),
            input_tokens: 0,
            output_tokens: 0,
            ai_score: NO_SCORE,
            ai_comment: None,
            human_score: NO_SCORE,
            human_comment: None,
            validation_input_tokens: 0,
            validation_output_tokens: 0,
        }
    }

    /// Of a file, of which no more is read than one may hold.
    pub fn read(path: &Path) -> Result<Self, ResultsError> {
        let text = bytes_of(path).map_err(ResultsError::io("can't read", path))?;
        Self::of_json(&text).map_err(|why| ResultsError::Broken {
            path: path.to_owned(),
            why,
        })
    }

    /// What is wrong is told with where it stands.
    pub(crate) fn of_json(text: &[u8]) -> Result<Self, String> {
        let mut json = serde_json::Deserializer::from_slice(text);
        let run = serde_path_to_error::deserialize(&mut json).map_err(|error| error.to_string())?;
        json.end().map_err(|error| error.to_string())?;
        Ok(run)
    }

    /// What counts: a person's word over that of a judge. `None`: nobody has said anything.
    pub fn passed(&self) -> Option<bool> {
        let said = [self.human_score, self.ai_score];
        said.into_iter()
            .find(|score| *score >= 0.0)
            .map(|score| score > 0.0)
    }
}

/// No more of a file than one may hold.
pub(crate) fn bytes_of(path: &Path) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    let file = File::open(path)?;
    file.take(MOST_OF_A_FILE + 1).read_to_end(&mut text)?;
    if text.len() as u64 > MOST_OF_A_FILE {
        return Err(io::Error::other(format!(
            "it is larger than {MOST_OF_A_FILE} bytes"
        )));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_stand_in_the_order_of_the_original() {
        let text = serde_json::to_string(&TestCaseRun::default()).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        let mut at: Vec<(usize, &String)> = value
            .as_object()
            .unwrap()
            .keys()
            .map(|key| (text.find(&format!("\"{key}\":")).unwrap(), key))
            .collect();
        at.sort();
        let keys: Vec<&str> = at.into_iter().map(|(_, key)| key.as_str()).collect();
        let original = "id name category level task setup_cmd desktop_image checks agent_yaml agent_model \
             max_steps status result trajectory command_output_check_results input_tokens output_tokens \
             ai_score ai_comment human_score human_comment validation_input_tokens \
             validation_output_tokens";
        assert_eq!(keys.join(" "), original);
    }

    #[test]
    fn old_files_lack_keys_and_newer_ones_have_more() {
        let old = json!({ "id": "a", "category": "b", "from_the_future": {},
            "trajectory": [{ "timestamp": 1, "action": "x" }, { "timestamp": 2.5, "action": "y", "thought": null }],
            "human_score": null, "ai_score": 1 });
        let run: TestCaseRun = serde_json::from_value(old).unwrap();
        assert_eq!((run.ai_score, run.human_score), (1.0, NO_SCORE));
        assert_eq!(run.trajectory[0].thought, Some(String::new()));
        assert_eq!(run.trajectory[1].thought, None);
        assert_eq!(run.validation_input_tokens, 0);
        assert_eq!(run.passed(), Some(true));
    }

    #[test]
    fn nothing_is_read_that_grows_beyond_its_file() {
        // What comes behind would be an error of its own if it was read.
        for (key, item, most) in [
            ("trajectory", "{}", MOST_STEPS),
            ("checks", "{}", MOST_CHECKS),
            (
                "command_output_check_results",
                r#"{"command":""}"#,
                MOST_CHECKS,
            ),
        ] {
            let text = format!("{{\"{key}\":[{}!", format!("{item},").repeat(most + 1));
            let error = TestCaseRun::of_json(text.as_bytes()).unwrap_err();
            assert!(error.contains(&format!("more than {most}")), "{error}");
            assert!(error.starts_with(key), "{error}");
        }
        let output = format!("[{}", "0,".repeat(20_000));
        let text =
            format!(r#"{{"command_output_check_results":[{{"command":"x","output":{output}"#);
        let error = TestCaseRun::of_json(text.as_bytes()).unwrap_err();
        assert!(error.contains("more than 10000 values"), "{error}");
    }

    #[test]
    fn a_person_is_believed_first() {
        let scores = |human_score, ai_score| {
            let run = TestCaseRun {
                human_score,
                ai_score,
                ..TestCaseRun::default()
            };
            run.passed()
        };
        assert_eq!(scores(0.0, 1.0), Some(false));
        assert_eq!(scores(1.0, 0.0), Some(true));
        assert_eq!(scores(NO_SCORE, 0.0), Some(false));
        assert_eq!(scores(NO_SCORE, NO_SCORE), None);
    }
}
