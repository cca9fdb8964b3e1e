//! Actions and observations in the shapes of OpenHands, with the JSON of its event files: read and written
//! as it does. Knows nothing of Agon's own actions; `dialect` converts.

mod action;
mod error;
mod event;
mod fields;
mod history;
mod json;
mod legacy;
mod message;
mod observation;
mod parts;
#[cfg(test)]
mod tests;
mod trajectory;

pub use action::{
    Action, AgentDelegateAction, AgentFinishAction, AgentRejectAction, AgentThinkAction,
    BrowseInteractiveAction, BrowseURLAction, ChangeAgentStateAction, CmdRunAction,
    CondensationAction, CondensationRequestAction, FileEditAction, FileReadAction, FileWriteAction,
    IPythonRunCellAction, LoopRecoveryAction, MCPAction, MessageAction, NullAction, RecallAction,
    SystemMessageAction, TaskTrackingAction,
};
pub use error::EventError;
pub use event::{Event, EventBody, EventSource, ToolCallMetadata};
pub use history::History;
pub(crate) use history::pairs;
pub use observation::{
    AgentCondensationObservation, AgentDelegateObservation, AgentStateChangedObservation,
    AgentThinkObservation, BrowserOutputObservation, CmdOutputObservation, ErrorObservation,
    FileDownloadObservation, FileEditObservation, FileReadObservation, FileWriteObservation,
    IPythonRunCellObservation, LoopDetectionObservation, MCPObservation, NullObservation,
    Observation, RecallObservation, SuccessObservation, TaskTrackingObservation,
    UserRejectObservation,
};
pub use parts::{
    CmdOutputMetadata, ConfirmationState, EditSource, MicroagentKnowledge, ReadSource, RecallType,
    SecurityRisk,
};
pub use trajectory::{read_trajectory, write_trajectory};
