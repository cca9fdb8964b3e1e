//! What comes back: every type of observation with its extras, in their order. `content` stands beside the
//! extras in a file.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::fields::{fields, kinds};
use super::parts::{CmdOutputMetadata, EditSource, MicroagentKnowledge, ReadSource, RecallType};

type Object = Map<String, Value>;

fields! {
    CmdOutputObservation = "run" {
        command: String,
        ;
        metadata: CmdOutputMetadata = CmdOutputMetadata::default(),
        hidden: bool = false,
        #[serde(skip)]
        content: String = String::new(),
    }

    IPythonRunCellObservation = "run_ipython" {
        code: String,
        ;
        image_urls: Option<Vec<String>> = None,
        #[serde(skip)]
        content: String = String::new(),
    }

    FileReadObservation = "read" {
        path: String,
        ;
        impl_source: ReadSource = ReadSource::Default,
        #[serde(skip)]
        content: String = String::new(),
    }

    FileWriteObservation = "write" {
        path: String,
        ;
        #[serde(skip)]
        content: String = String::new(),
    }

    FileEditObservation = "edit" {
        ;
        path: String = String::new(),
        prev_exist: bool = false,
        old_content: Option<String> = None,
        new_content: Option<String> = None,
        impl_source: EditSource = EditSource::LlmBasedEdit,
        diff: Option<String> = None,
        #[serde(rename = "_diff_cache")]
        diff_cache: Option<String> = None,
        #[serde(skip)]
        content: String = String::new(),
    }

    BrowserOutputObservation = "browse" {
        ;
        url: String = String::new(),
        trigger_by_action: String = String::new(),
        screenshot: String = String::new(),
        screenshot_path: Option<String> = None,
        set_of_marks: String = String::new(),
        error: bool = false,
        goal_image_urls: Vec<Value> = Vec::new(),
        open_pages_urls: Vec<String> = Vec::new(),
        active_page_index: i64 = -1,
        dom_object: Object = Map::new(),
        axtree_object: Object = Map::new(),
        extra_element_properties: Object = Map::new(),
        last_browser_action: String = String::new(),
        last_browser_action_error: String = String::new(),
        focused_element_bid: String = String::new(),
        filter_visible_only: bool = false,
        #[serde(skip)]
        content: String = String::new(),
    }

    FileDownloadObservation = "download" {
        ;
        file_path: String = String::new(),
        #[serde(skip)]
        content: String = String::new(),
    }

    MCPObservation = "mcp" {
        ;
        name: String = String::new(),
        arguments: Object = Map::new(),
        #[serde(skip)]
        content: String = String::new(),
    }

    TaskTrackingObservation = "task_tracking" {
        ;
        command: String = String::new(),
        task_list: Vec<Object> = Vec::new(),
        #[serde(skip)]
        content: String = String::new(),
    }

    AgentDelegateObservation = "delegate" {
        ;
        outputs: Object = Map::new(),
        #[serde(skip)]
        content: String = String::new(),
    }

    AgentThinkObservation = "think" {
        ;
        #[serde(skip)]
        content: String = String::new(),
    }

    SuccessObservation = "success" {
        ;
        #[serde(skip)]
        content: String = String::new(),
    }

    ErrorObservation = "error" {
        ;
        error_id: String = String::new(),
        #[serde(skip)]
        content: String = String::new(),
    }

    UserRejectObservation = "user_rejected" {
        ;
        #[serde(skip)]
        content: String = String::new(),
    }

    NullObservation = "null" {
        ;
        #[serde(skip)]
        content: String = String::new(),
    }

    AgentStateChangedObservation = "agent_state_changed" {
        agent_state: String,
        ;
        reason: String = String::new(),
        #[serde(skip)]
        content: String = String::new(),
    }

    AgentCondensationObservation = "condense" {
        ;
        #[serde(skip)]
        content: String = String::new(),
    }

    LoopDetectionObservation = "loop_detection" {
        ;
        #[serde(skip)]
        content: String = String::new(),
    }

    RecallObservation = "recall" {
        recall_type: RecallType,
        ;
        repo_name: String = String::new(),
        repo_directory: String = String::new(),
        repo_branch: String = String::new(),
        repo_instructions: String = String::new(),
        runtime_hosts: BTreeMap<String, i64> = BTreeMap::new(),
        additional_agent_instructions: String = String::new(),
        date: String = String::new(),
        custom_secrets_descriptions: BTreeMap<String, String> = BTreeMap::new(),
        conversation_instructions: String = String::new(),
        working_dir: String = String::new(),
        microagent_knowledge: Vec<MicroagentKnowledge> = Vec::new(),
        #[serde(skip)]
        content: String = String::new(),
    }
}

kinds! {
    Observation {
        Run(CmdOutputObservation),
        RunIPython(IPythonRunCellObservation),
        Read(FileReadObservation),
        Write(FileWriteObservation),
        Edit(FileEditObservation),
        Browse(BrowserOutputObservation),
        Download(FileDownloadObservation),
        Mcp(MCPObservation),
        TaskTracking(TaskTrackingObservation),
        Delegate(AgentDelegateObservation),
        Think(AgentThinkObservation),
        Success(SuccessObservation),
        Error(ErrorObservation),
        UserReject(UserRejectObservation),
        Null(NullObservation),
        AgentStateChanged(AgentStateChangedObservation),
        Condense(AgentCondensationObservation),
        LoopDetection(LoopDetectionObservation),
        Recall(RecallObservation),
    }
}

/// The same arm for every type.
macro_rules! each {
    ($value:expr, $bound:ident => $arm:expr) => {
        match $value {
            Observation::Run($bound) => $arm,
            Observation::RunIPython($bound) => $arm,
            Observation::Read($bound) => $arm,
            Observation::Write($bound) => $arm,
            Observation::Edit($bound) => $arm,
            Observation::Browse($bound) => $arm,
            Observation::Download($bound) => $arm,
            Observation::Mcp($bound) => $arm,
            Observation::TaskTracking($bound) => $arm,
            Observation::Delegate($bound) => $arm,
            Observation::Think($bound) => $arm,
            Observation::Success($bound) => $arm,
            Observation::Error($bound) => $arm,
            Observation::UserReject($bound) => $arm,
            Observation::Null($bound) => $arm,
            Observation::AgentStateChanged($bound) => $arm,
            Observation::Condense($bound) => $arm,
            Observation::LoopDetection($bound) => $arm,
            Observation::Recall($bound) => $arm,
        }
    };
}

impl Observation {
    pub fn content(&self) -> &str {
        each!(self, seen => &seen.content)
    }

    pub(super) fn set_content(&mut self, content: String) {
        each!(self, seen => seen.content = content);
    }

    /// Only commands and cells say whether they succeeded.
    pub const fn success(&self) -> Option<bool> {
        match self {
            Self::Run(seen) => Some(seen.metadata.exit_code == 0),
            Self::RunIPython(_) => Some(true),
            _ => None,
        }
    }
}

impl CmdOutputObservation {
    /// -1: the command has not ended.
    pub const fn exit_code(&self) -> i64 {
        self.metadata.exit_code
    }

    /// As the agent is told of it.
    pub fn to_agent_text(&self) -> String {
        let CmdOutputMetadata {
            exit_code,
            working_dir,
            py_interpreter_path,
            prefix,
            suffix,
            ..
        } = &self.metadata;
        let mut text = format!("{prefix}{}{suffix}", self.content);
        if let Some(folder) = working_dir {
            text.push_str(&format!("\n[Current working directory: {folder}]"));
        }
        if let Some(python) = py_interpreter_path {
            text.push_str(&format!("\n[Python interpreter: {python}]"));
        }
        if *exit_code != -1 {
            text.push_str(&format!("\n[Command finished with exit code {exit_code}]"));
        }
        text
    }
}

impl ErrorObservation {
    pub fn new(content: impl Into<String>) -> Self {
        Self {
            error_id: String::new(),
            content: content.into(),
        }
    }
}
