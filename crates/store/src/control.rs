//! What an operator asks of a run that goes on: `control.jsonl` of the run folder, appended only. Who plays
//! the run reads it; knows nothing of how a trial is ended.

use agon_core::TaskId;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::folder::RunFolder;
use crate::shared_lines::{self, LONGEST_NAME, Last, one_line};

/// Requests that are given at once: the last ones.
const MOST: usize = 10_000;

/// One line of `control.jsonl`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Request {
    pub at: Timestamp,
    pub order: Order,
    pub task: TaskId,
    pub epoch: u32,
    pub attempt: u32,
    /// When the attempt began that is meant, as `running.jsonl` says it: a run that was killed and goes on
    /// plays another one of the same number. Left out: whichever is being played.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began: Option<Timestamp>,
    /// Who asks; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub by: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// End the agent's turn; what it left is graded as it stands.
    Stop,
}

impl Request {
    /// One write, which others' can't cut in two. The name is cleaned and cut to what is kept.
    pub fn append(&self, folder: &RunFolder) -> Result<(), StoreError> {
        let path = folder.control_file();
        let cleaned = self.clone().cleaned();
        shared_lines::append(&path, &cleaned).map_err(StoreError::io("can't write", &path))
    }

    fn cleaned(mut self) -> Self {
        self.by = one_line(&self.by, LONGEST_NAME);
        self
    }
}

/// Every request from a place in the file on, and the place after the last whole line. Lines that can't be
/// read are passed over; names are cleaned, whoever wrote them.
pub fn requests(folder: &RunFolder, from: u64) -> Result<(Vec<Request>, u64), StoreError> {
    let path = folder.control_file();
    let mut found = Last::of(MOST);
    let end = shared_lines::each_from(&path, from, |line| {
        if let Some(Ok(request)) = line.map(serde_json::from_slice::<Request>) {
            found.add(request.cleaned());
        }
    });
    let end = end.map_err(StoreError::io("can't read", &path))?;
    Ok((found.into_vec(), end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(id: &str, by: &str) -> Request {
        Request {
            at: "2026-11-16T10:00:00Z".parse().unwrap(),
            order: Order::Stop,
            task: TaskId::new("test", id).unwrap(),
            epoch: 1,
            attempt: 2,
            began: None,
            by: by.to_owned(),
        }
    }

    #[test]
    fn requests_are_read_once_each_and_what_is_none_is_passed_over() {
        let root = tempfile::tempdir().unwrap();
        let folder = RunFolder::at(root.path());
        assert_eq!(requests(&folder, 0).unwrap(), (Vec::new(), 0));
        request("a", "  Ada\u{1b}[31m ").append(&folder).unwrap();
        let (found, end) = requests(&folder, 0).unwrap();
        assert_eq!(found, [request("a", "Ada[31m")]);
        let strange = "{\"order\":\"explode\",\"task\":\"test/a\"}\n[1]\n\u{0}\ntorn";
        let mut text = std::fs::read_to_string(folder.control_file()).unwrap();
        text.push_str(strange);
        std::fs::write(folder.control_file(), text).unwrap();
        request("b", "").append(&folder).unwrap();
        let (found, end) = requests(&folder, end).unwrap();
        assert_eq!(found, [request("b", "")]);
        assert_eq!(requests(&folder, end).unwrap(), (Vec::new(), end));
    }

    #[test]
    fn a_request_may_say_which_play_it_means_and_old_ones_do_not() {
        let root = tempfile::tempdir().unwrap();
        let folder = RunFolder::at(root.path());
        let old =
            r#"{"at":"2026-11-16T10:00:00Z","order":"stop","task":"test/a","epoch":1,"attempt":2}"#;
        std::fs::write(folder.control_file(), format!("{old}\n")).unwrap();
        let exact = Request {
            began: Some("2026-11-16T09:59:58.123456789Z".parse().unwrap()),
            ..request("a", "")
        };
        exact.append(&folder).unwrap();
        assert_eq!(requests(&folder, 0).unwrap().0, [request("a", ""), exact]);
        let text = std::fs::read_to_string(folder.control_file()).unwrap();
        let told = r#""attempt":2,"began":"2026-11-16T09:59:58.123456789Z"}"#;
        assert!(text.trim_end().ends_with(told), "{text}");
        // What is not said is not written.
        request("b", "").append(&folder).unwrap();
        let text = std::fs::read_to_string(folder.control_file()).unwrap();
        assert_eq!(
            text.lines().last().map(|line| line.contains("began")),
            Some(false)
        );
    }

    #[test]
    fn a_name_is_cut_and_cleaned_though_a_stranger_wrote_the_line() {
        let root = tempfile::tempdir().unwrap();
        let folder = RunFolder::at(root.path());
        let long = request("a", &"x\u{7}".repeat(1000));
        let line = serde_json::to_string(&long).unwrap();
        std::fs::write(folder.control_file(), format!("{line}\n")).unwrap();
        let (found, _) = requests(&folder, 0).unwrap();
        assert_eq!(found, [request("a", &"x".repeat(LONGEST_NAME))]);
    }
}
