//! The messages themselves.

use agon_agent::play::Task;
use agon_core::PlayStats;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::lax::Fields;
use super::unprocessable::Unprocessable;
use crate::result::StopReason;

/// The answer of both `status` routes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Status {
    pub state: &'static str,
    /// The last task that was started, also after its end.
    pub current_task: Option<Task>,
    /// Addition, the agent's: how its last task ended. Absent while one is played.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<AgentFinished>,
}

/// How a task ended for the agent: the body of `agent_finished`, which the original neither sends nor
/// reads, and part of the answers of `task/stop` and `status`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct AgentFinished {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// `None`: it was asked to stop, and only who asked knows why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<StopReason>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stats: Option<PlayStats>,
}

/// Another server's status, the original's or ours. Nothing in it is believed to be short or sane.
#[derive(Debug, Clone, PartialEq)]
pub struct PeerStatus {
    pub state: String,
    /// The id of its current task.
    pub task_id: Option<String>,
    /// Only ours say it.
    pub ended: Option<AgentFinished>,
}

impl PeerStatus {
    pub fn parse(body: &[u8]) -> Option<Self> {
        let body: Value = serde_json::from_slice(body).ok()?;
        let ended = body.get("ended").cloned();
        Some(Self {
            state: body.get("state")?.as_str()?.to_owned(),
            task_id: (body.get("current_task"))
                .and_then(|task| task.get("task_id")?.as_str())
                .map(str::to_owned),
            ended: ended.and_then(|ended| serde_json::from_value(ended).ok()),
        })
    }

    pub fn is(&self, state: &str) -> bool {
        self.state == state
    }

    /// Whether it is an agent's that plays, or has not stopped yet.
    pub fn is_busy(&self) -> bool {
        self.is("RUNNING") || self.is("STOPPING")
    }
}

/// Where the other side is, as it was told to us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registration {
    pub url: String,
}

impl Registration {
    pub(super) fn parse(body: Value, key: &str) -> Result<Self, Unprocessable> {
        let mut fields = Fields::of(body)?;
        let url = fields.text(key);
        fields.finish()?;
        url.map(|url| Self { url })
            .ok_or_else(|| Unprocessable::no_object(&Value::Null))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_of_the_original_is_read() {
        let body = br#"{"state":"RUNNING","current_task":{"task_id":"a","timeout":-3}}"#;
        let status = PeerStatus::parse(body).unwrap();
        assert!(status.is("RUNNING"));
        assert_eq!(status.task_id.as_deref(), Some("a"));
        assert_eq!(status.ended, None);
        let idle = PeerStatus::parse(br#"{"state":"INIT","current_task":null}"#).unwrap();
        assert_eq!(idle.task_id, None);
        for bad in [&b""[..], b"[]", b"{}", b"{\"state\":3}"] {
            assert_eq!(PeerStatus::parse(bad), None);
        }
    }

    #[test]
    fn our_own_status_comes_back_as_it_was() {
        let ended = AgentFinished {
            task_id: Some("a".to_owned()),
            reason: Some(StopReason::AgentError),
            error: Some("broken".to_owned()),
            stats: None,
        };
        let status = Status {
            state: "READY",
            current_task: None,
            ended: Some(ended.clone()),
        };
        let body = serde_json::to_vec(&status).unwrap();
        assert_eq!(PeerStatus::parse(&body).unwrap().ended, Some(ended));
    }
}
