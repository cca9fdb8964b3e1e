//! What an event says to a person in one line or two. Made from the event, never read.

use std::borrow::Cow;

use serde_json::Value;

use super::action::Action;
use super::event::{Event, EventBody};
use super::observation::Observation;
use super::parts::RecallType;

/// How much of a question to the memory is shown.
const SHOWN: usize = 50;

impl Event {
    pub fn message(&self) -> Cow<'_, str> {
        match &self.body {
            EventBody::Action(action) => of_action(action),
            EventBody::Observation(seen) => of_observation(seen),
        }
    }
}

fn of_action(action: &Action) -> Cow<'_, str> {
    match action {
        Action::Run(run) => format!("Running command: {}", run.command).into(),
        Action::RunIPython(cell) => {
            format!("Running Python code interactively: {}", cell.code).into()
        }
        Action::Read(read) => format!("Reading file: {}", read.path).into(),
        Action::Write(write) => format!("Writing file: {}", write.path).into(),
        Action::Browse(browse) => format!("Browsing {}", browse.url).into(),
        Action::BrowseInteractive(browse) => {
            format!("In the browser: {}", browse.browser_actions).into()
        }
        Action::Mcp(call) => format!("Calling the tool {}", call.name).into(),
        Action::Message(message) => (&*message.content).into(),
        Action::System(system) => (&*system.content).into(),
        Action::Finish(finish) => match (&*finish.thought, &*finish.final_thought) {
            ("", "") => "The task is done.".into(),
            ("", said) | (said, _) => said.into(),
        },
        Action::Reject(reject) => match reject.outputs.get("reason").and_then(Value::as_str) {
            Some(reason) => format!("The agent rejects the task: {reason}").into(),
            None => "The agent rejects the task.".into(),
        },
        Action::Think(think) => format!("Thinking: {}", think.thought).into(),
        Action::Delegate(delegate) => format!("Asking {} for help", delegate.agent).into(),
        Action::TaskTracking(tasks) => match tasks.task_list.len() {
            0 => "Looking at the list of tasks".into(),
            count => format!("Planning {count} tasks").into(),
        },
        Action::Recall(recall) => {
            let shown: String = recall.query.chars().take(SHOWN).collect();
            format!("Retrieving content for: {shown}").into()
        }
        Action::Condensation(condensation) => match &condensation.summary {
            Some(summary) => format!("Summary: {summary}").into(),
            None => "Some events are not shown to the model any more.".into(),
        },
        Action::CondensationRequest(_) => "Asking for a shorter history".into(),
        Action::ChangeAgentState(change) => {
            format!("Agent state changed to {}", change.agent_state).into()
        }
        Action::LoopRecovery(_) => "Leaving the loop".into(),
        Action::Null(_) => "No action".into(),
        Action::Edit(_) => "".into(),
    }
}

fn of_observation(seen: &Observation) -> Cow<'_, str> {
    match seen {
        Observation::Run(output) => format!(
            "Command `{}` executed with exit code {}.",
            output.command, output.metadata.exit_code
        )
        .into(),
        Observation::RunIPython(_) => "Code executed in IPython cell.".into(),
        Observation::Read(read) => format!("I read the file {}.", read.path).into(),
        Observation::Write(write) => format!("I wrote to the file {}.", write.path).into(),
        Observation::Edit(edit) => format!("I edited the file {}.", edit.path).into(),
        Observation::Browse(page) => format!("Visited {}", page.url).into(),
        Observation::Download(file) => format!("Downloaded the file {}", file.file_path).into(),
        Observation::Recall(recall) => match recall.recall_type {
            RecallType::WorkspaceContext => "Added workspace context".into(),
            RecallType::Knowledge => "Added knowledge".into(),
        },
        Observation::Null(_) => "No observation".into(),
        Observation::Delegate(_) | Observation::AgentStateChanged(_) => "".into(),
        Observation::Mcp(_)
        | Observation::TaskTracking(_)
        | Observation::Think(_)
        | Observation::Success(_)
        | Observation::Error(_)
        | Observation::UserReject(_)
        | Observation::Condense(_)
        | Observation::LoopDetection(_) => seen.content().into(),
    }
}
