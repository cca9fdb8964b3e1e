//! The tools that the model is offered: names and parameters as users of OpenHands know them, words of our
//! own. What a call of one means is in `calls`.

use agon_core::ActionKind;
use agon_llm::Tool;
use agon_llm::config::AgentSection;
use serde_json::{Map, Value, json};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ToolKind {
    Bash,
    Think,
    Finish,
    Condensation,
    Browser,
    Ipython,
    Tracker,
    Editor,
}

/// What the editor can do, and the action that each needs.
pub(super) const EDITOR_COMMANDS: [(&str, ActionKind); 5] = [
    ("view", ActionKind::Read),
    ("create", ActionKind::Write),
    ("str_replace", ActionKind::Edit),
    ("insert", ActionKind::Insert),
    ("undo_edit", ActionKind::Undo),
];

impl ToolKind {
    /// In the order in which they are offered.
    pub(super) const ALL: [Self; 8] = [
        Self::Bash,
        Self::Think,
        Self::Finish,
        Self::Condensation,
        Self::Browser,
        Self::Ipython,
        Self::Tracker,
        Self::Editor,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Bash => "execute_bash",
            Self::Think => "think",
            Self::Finish => "finish",
            Self::Condensation => "request_condensation",
            Self::Browser => "browser",
            Self::Ipython => "execute_ipython_cell",
            Self::Tracker => "task_tracker",
            Self::Editor => "str_replace_editor",
        }
    }

    /// The tools that the settings switch on and whose actions the task allows.
    pub(super) fn offered(section: &AgentSection, allowed: &[ActionKind]) -> Vec<Self> {
        let on = |tool: &Self| match tool {
            Self::Bash => section.enable_cmd,
            Self::Think => section.enable_think,
            Self::Finish => section.enable_finish,
            Self::Condensation => section.enable_condensation_request,
            Self::Browser => section.enable_browsing,
            Self::Ipython => section.enable_jupyter,
            Self::Tracker => section.enable_plan_mode,
            Self::Editor => section.enable_editor,
        };
        let possible = |tool: &Self| tool.actions().iter().any(|kind| allowed.contains(kind));
        let tools = Self::ALL.into_iter();
        tools.filter(on).filter(possible).collect()
    }

    /// One of these is needed. What the agent does for itself is recorded as a thought.
    pub(super) const fn actions(self) -> &'static [ActionKind] {
        match self {
            Self::Bash => &[ActionKind::Run],
            Self::Think | Self::Condensation | Self::Tracker => &[ActionKind::Think],
            Self::Finish => &[ActionKind::Finish],
            Self::Browser => &[ActionKind::Browse],
            Self::Ipython => &[ActionKind::Cell],
            Self::Editor => &[
                ActionKind::Read,
                ActionKind::Write,
                ActionKind::Edit,
                ActionKind::Insert,
                ActionKind::Undo,
            ],
        }
    }

    pub(super) fn definition(self, allowed: &[ActionKind]) -> Tool {
        let (required, properties) = self.parameters(allowed);
        Tool::Function {
            name: self.name().to_owned(),
            description: self.description().to_owned(),
            parameters: json!({
                "type": "object",
                "properties": properties,
                "required": required,
            }),
            strict: false,
        }
    }

    const fn description(self) -> &'static str {
        match self {
            Self::Bash => {
                "Runs a command in a shell that stays open: its working folder and variables are kept \
                 from one call to the next. The answer ends with the exit code.\n\
                 - Only one command runs at a time; join several with && or ;.\n\
                 - A command that prints nothing for a while, or runs past `timeout`, is left running. Then \
                 call again with an empty `command` to see more of its output, with `is_input` set to send \
                 it a line, or with `C-c`, `C-d` or `C-z` and `is_input` set to press that key.\n\
                 - Start servers and other endless programs in the background with their output in a file: \
                 `server > server.log 2>&1 &`.\n\
                 - Long output is cut in the middle: write it to a file if you need all of it."
            }
            Self::Think => {
                "Writes down a thought and changes nothing. For weighing causes, plans and test results \
                 before acting."
            }
            Self::Finish => {
                "Ends the task. Call it when the task is done, or when you are sure that it can't be done. \
                 If the task asks for an answer, `message` must hold it in full."
            }
            Self::Condensation => {
                "Asks for the history of this conversation to be made shorter, when too much of it no longer \
                 matters."
            }
            Self::Browser => {
                "Controls a browser page that stays open. `code` is one or more calls, one per line:\n\
                 goto(url), go_back(), go_forward(), noop(wait_ms), scroll(delta_x, delta_y), \
                 fill(bid, value), select_option(bid, options), click(bid), dblclick(bid), hover(bid), \
                 press(bid, key_comb), focus(bid), clear(bid), drag_and_drop(from_bid, to_bid), \
                 upload_file(bid, file).\n\
                 A bid is the number, as text, of an element in the last answer. Example: \
                 goto('http://localhost:8000')"
            }
            Self::Ipython => {
                "Runs Python code in an interpreter that stays open: variables, imports and functions are \
                 kept from one call to the next. The value of the last expression is shown. Use it to \
                 compute and to try things out."
            }
            Self::Tracker => {
                "Keeps your list of tasks. `plan` replaces the whole list by `task_list`, `view` shows it. \
                 Use it for work of several steps: write the list first, have one task in progress at a \
                 time, and set a task to done only when it is."
            }
            Self::Editor => {
                "Shows and changes files. Changes can be taken back.\n\
                 - `view`: a text file with numbered lines (`view_range` picks some), a picture, or a \
                 folder two levels deep.\n\
                 - `create`: a new file with `file_text`; a file that is there is not replaced.\n\
                 - `str_replace`: replaces `old_str` by `new_str`. `old_str` must occur exactly once, blanks \
                 and line ends included: give enough lines around the place.\n\
                 - `insert`: puts `new_str` after line `insert_line`.\n\
                 - `undo_edit`: takes back the last change of the file."
            }
        }
    }

    fn parameters(self, allowed: &[ActionKind]) -> (Vec<&'static str>, Map<String, Value>) {
        let text = |about: &str| json!({"type": "string", "description": about});
        let (required, properties, risk) = match self {
            Self::Bash => (
                vec!["command"],
                json!({
                    "command": text("The command. Empty: more output of the one that is still running."),
                    "is_input": {
                        "type": "string",
                        "enum": ["true", "false"],
                        "description": "true: `command` is input, or a key such as C-c, for the program \
                            that is still running. Default: false.",
                    },
                    "timeout": {
                        "type": "number",
                        "description": "Seconds to wait for the command, silent or not, before it is left \
                            running.",
                    },
                }),
                true,
            ),
            Self::Think => (
                vec!["thought"],
                json!({"thought": text("The thought.")}),
                false,
            ),
            Self::Finish => (
                vec!["message"],
                json!({"message": text("The answer, or what was done.")}),
                false,
            ),
            Self::Condensation => (vec![], json!({}), false),
            Self::Browser => (
                vec!["code"],
                json!({"code": text("Calls of the functions above, one per line.")}),
                true,
            ),
            Self::Ipython => (
                vec!["code"],
                json!({"code": text("The Python code.")}),
                true,
            ),
            Self::Tracker => (vec!["command"], tracker(), false),
            Self::Editor => (vec!["command", "path"], editor(allowed), true),
        };
        let Value::Object(mut properties) = properties else {
            return (required, Map::new());
        };
        if risk {
            let risk = json!({
                "type": "string",
                "enum": ["LOW", "MEDIUM", "HIGH"],
                "description": "How much harm this call could do.",
            });
            properties.insert("security_risk".to_owned(), risk);
        }
        (required, properties)
    }
}

fn tracker() -> Value {
    json!({
        "command": {
            "type": "string",
            "enum": ["view", "plan"],
            "description": "view: show the list; plan: replace it.",
        },
        "task_list": {
            "type": "array",
            "description": "The whole list, for `plan`.",
            "items": {
                "type": "object",
                "properties": {
                    "id": {"type": "string", "description": "A name of the task."},
                    "title": {"type": "string", "description": "What is to be done."},
                    "status": {"type": "string", "enum": ["todo", "in_progress", "done"]},
                    "notes": {"type": "string", "description": "Anything worth keeping."},
                },
                "required": ["id", "title", "status"],
            },
        },
    })
}

fn editor(allowed: &[ActionKind]) -> Value {
    let commands: Vec<&str> = EDITOR_COMMANDS
        .iter()
        .filter(|(_, kind)| allowed.contains(kind))
        .map(|(name, _)| *name)
        .collect();
    json!({
        "command": {
            "type": "string",
            "enum": commands,
            "description": "What to do.",
        },
        "path": {
            "type": "string",
            "description": "The file or folder, best as an absolute path.",
        },
        "file_text": {"type": "string", "description": "The whole file, for `create`."},
        "old_str": {"type": "string", "description": "What is replaced, for `str_replace`."},
        "new_str": {
            "type": "string",
            "description": "What takes its place, for `str_replace`; what is put in, for `insert`.",
        },
        "insert_line": {
            "type": "integer",
            "description": "The line after which to insert; 0 is the beginning of the file.",
        },
        "view_range": {
            "type": "array",
            "items": {"type": "integer"},
            "description": "First and last line for `view`, from 1; -1 is the end: [11, 20], [50, -1].",
        },
    })
}
