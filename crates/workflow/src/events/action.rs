//! What an agent, a user or the controller can do: every type of action with its keys, in their order.

use serde_json::{Map, Value};

use super::fields::{fields, kinds};
use super::parts::{ConfirmationState, EditSource, ReadSource, RecallType, SecurityRisk};

type Object = Map<String, Value>;

fields! {
    /// Runs a command in the shell. An empty one fetches more output.
    CmdRunAction = "run" {
        command: String,
        ;
        /// Goes to the program that is running.
        is_input: bool = false,
        thought: String = String::new(),
        /// Does not come back early when the command is silent.
        blocking: bool = false,
        /// Runs in a shell of its own, in `cwd`.
        is_static: bool = false,
        cwd: Option<String> = None,
        hidden: bool = false,
        confirmation_state: ConfirmationState = ConfirmationState::Confirmed,
        security_risk: SecurityRisk = SecurityRisk::Unknown,
        /// Seconds; stands beside the other keys in a file.
        #[serde(skip)]
        timeout: Option<f64> = None,
    }

    /// Runs code in the persistent Python interpreter.
    IPythonRunCellAction = "run_ipython" {
        code: String,
        ;
        thought: String = String::new(),
        include_extra: bool = true,
        confirmation_state: ConfirmationState = ConfirmationState::Confirmed,
        security_risk: SecurityRisk = SecurityRisk::Unknown,
        kernel_init_code: String = String::new(),
        #[serde(skip)]
        timeout: Option<f64> = None,
    }

    FileReadAction = "read" {
        path: String,
        ;
        /// From 0.
        start: i64 = 0,
        /// The first line that is left out; -1: none.
        end: i64 = -1,
        thought: String = String::new(),
        security_risk: SecurityRisk = SecurityRisk::Unknown,
        impl_source: ReadSource = ReadSource::Default,
        /// First and last line, from 1; for `oh_aci` only.
        view_range: Option<Vec<i64>> = None,
        #[serde(skip)]
        timeout: Option<f64> = None,
    }

    FileWriteAction = "write" {
        path: String,
        content: String,
        ;
        start: i64 = 0,
        end: i64 = -1,
        thought: String = String::new(),
        security_risk: SecurityRisk = SecurityRisk::Unknown,
        #[serde(skip)]
        timeout: Option<f64> = None,
    }

    FileEditAction = "edit" {
        path: String,
        ;
        /// `create`, `str_replace`, `insert`, `undo_edit`, `write` or `view`.
        command: String = String::new(),
        file_text: Option<String> = None,
        old_str: Option<String> = None,
        new_str: Option<String> = None,
        insert_line: Option<i64> = None,
        content: String = String::new(),
        start: i64 = 1,
        end: i64 = -1,
        thought: String = String::new(),
        security_risk: SecurityRisk = SecurityRisk::Unknown,
        impl_source: EditSource = EditSource::OhAci,
        #[serde(skip)]
        timeout: Option<f64> = None,
    }

    BrowseURLAction = "browse" {
        url: String,
        ;
        thought: String = String::new(),
        security_risk: SecurityRisk = SecurityRisk::Unknown,
        return_axtree: bool = false,
        #[serde(skip)]
        timeout: Option<f64> = None,
    }

    BrowseInteractiveAction = "browse_interactive" {
        browser_actions: String,
        ;
        thought: String = String::new(),
        browsergym_send_msg_to_user: String = String::new(),
        security_risk: SecurityRisk = SecurityRisk::Unknown,
        return_axtree: bool = false,
        #[serde(skip)]
        timeout: Option<f64> = None,
    }

    MCPAction = "call_tool_mcp" {
        name: String,
        ;
        arguments: Object = Map::new(),
        thought: String = String::new(),
        security_risk: SecurityRisk = SecurityRisk::Unknown,
        #[serde(skip)]
        timeout: Option<f64> = None,
    }

    MessageAction = "message" {
        content: String,
        ;
        file_urls: Option<Vec<String>> = None,
        image_urls: Option<Vec<String>> = None,
        wait_for_response: bool = false,
        security_risk: SecurityRisk = SecurityRisk::Unknown,
    }

    SystemMessageAction = "system" {
        content: String,
        ;
        tools: Option<Vec<Value>> = None,
        openhands_version: Option<String> = None,
        agent_class: Option<String> = None,
    }

    AgentFinishAction = "finish" {
        ;
        final_thought: String = String::new(),
        outputs: Object = Map::new(),
        thought: String = String::new(),
    }

    AgentRejectAction = "reject" {
        ;
        outputs: Object = Map::new(),
        thought: String = String::new(),
    }

    AgentThinkAction = "think" {
        ;
        thought: String = String::new(),
    }

    AgentDelegateAction = "delegate" {
        agent: String,
        inputs: Object,
        ;
        thought: String = String::new(),
    }

    TaskTrackingAction = "task_tracking" {
        ;
        /// `view` or `plan`.
        command: String = "view".to_owned(),
        /// Each with `id`, `title`, `status` and `notes`.
        task_list: Vec<Object> = Vec::new(),
        thought: String = String::new(),
    }

    RecallAction = "recall" {
        recall_type: RecallType,
        ;
        query: String = String::new(),
        thought: String = String::new(),
    }

    /// Events that the model is not shown any more: by number, or from the first to the last.
    CondensationAction = "condensation" {
        ;
        forgotten_event_ids: Option<Vec<i64>> = None,
        forgotten_events_start_id: Option<i64> = None,
        forgotten_events_end_id: Option<i64> = None,
        summary: Option<String> = None,
        summary_offset: Option<i64> = None,
    }

    CondensationRequestAction = "condensation_request" {
        ;
    }

    ChangeAgentStateAction = "change_agent_state" {
        agent_state: String,
        ;
        thought: String = String::new(),
    }

    LoopRecoveryAction = "loop_recovery" {
        ;
        option: i64 = 1,
    }

    NullAction = "null" {
        ;
    }
}

kinds! {
    Action {
        Run(CmdRunAction),
        RunIPython(IPythonRunCellAction),
        Read(FileReadAction),
        Write(FileWriteAction),
        Edit(FileEditAction),
        Browse(BrowseURLAction),
        BrowseInteractive(BrowseInteractiveAction),
        Mcp(MCPAction),
        Message(MessageAction),
        System(SystemMessageAction),
        Finish(AgentFinishAction),
        Reject(AgentRejectAction),
        Think(AgentThinkAction),
        Delegate(AgentDelegateAction),
        TaskTracking(TaskTrackingAction),
        Recall(RecallAction),
        Condensation(CondensationAction),
        CondensationRequest(CondensationRequestAction),
        ChangeAgentState(ChangeAgentStateAction),
        LoopRecovery(LoopRecoveryAction),
        Null(NullAction),
    }
}

impl CmdRunAction {
    pub fn new(command: impl Into<String>) -> Self {
        Self {
            command: command.into(),
            ..Self::default()
        }
    }

    /// Waits this long, silent or not; then the command is left running.
    pub fn set_hard_timeout(&mut self, seconds: f64) {
        self.timeout = Some(seconds);
        self.blocking = true;
    }
}

impl IPythonRunCellAction {
    pub fn new(code: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            ..Self::default()
        }
    }
}

impl MessageAction {
    pub fn new(content: impl Into<String>) -> Self {
        Self {
            content: content.into(),
            ..Self::default()
        }
    }
}

impl Action {
    /// Whether a runtime carries it out.
    pub const fn runnable(&self) -> bool {
        matches!(
            self,
            Self::Run(_)
                | Self::RunIPython(_)
                | Self::Read(_)
                | Self::Write(_)
                | Self::Edit(_)
                | Self::Browse(_)
                | Self::BrowseInteractive(_)
                | Self::Mcp(_)
        )
    }

    /// Seconds after which it is no longer waited for.
    pub fn timeout(&self) -> Option<f64> {
        match self {
            Self::Run(action) => action.timeout,
            Self::RunIPython(action) => action.timeout,
            Self::Read(action) => action.timeout,
            Self::Write(action) => action.timeout,
            Self::Edit(action) => action.timeout,
            Self::Browse(action) => action.timeout,
            Self::BrowseInteractive(action) => action.timeout,
            Self::Mcp(action) => action.timeout,
            _ => None,
        }
    }

    /// Means something for actions that are carried out only.
    pub fn set_timeout(&mut self, seconds: Option<f64>) {
        match self {
            Self::Run(action) => action.timeout = seconds,
            Self::RunIPython(action) => action.timeout = seconds,
            Self::Read(action) => action.timeout = seconds,
            Self::Write(action) => action.timeout = seconds,
            Self::Edit(action) => action.timeout = seconds,
            Self::Browse(action) => action.timeout = seconds,
            Self::BrowseInteractive(action) => action.timeout = seconds,
            Self::Mcp(action) => action.timeout = seconds,
            _ => {}
        }
    }

    /// What the agent said beside the action.
    pub fn thought(&self) -> Option<&str> {
        let thought = match self {
            Self::Run(action) => &action.thought,
            Self::RunIPython(action) => &action.thought,
            Self::Read(action) => &action.thought,
            Self::Write(action) => &action.thought,
            Self::Edit(action) => &action.thought,
            Self::Browse(action) => &action.thought,
            Self::BrowseInteractive(action) => &action.thought,
            Self::Mcp(action) => &action.thought,
            Self::Finish(action) => &action.thought,
            Self::Reject(action) => &action.thought,
            Self::Delegate(action) => &action.thought,
            Self::TaskTracking(action) => &action.thought,
            _ => return None,
        };
        (!thought.is_empty()).then_some(thought)
    }
}
