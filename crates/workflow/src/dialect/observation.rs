//! What Agon saw, as the observation that OpenHands would have of it.

use agon_core::observation::ObservationKind;
use agon_core::{ActionKind, Observation as Core, Picture};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use super::names::in_names_of_tools;
use crate::events::{
    Action, AgentThinkObservation, BrowserOutputObservation, CmdOutputMetadata,
    CmdOutputObservation, ErrorObservation, FileEditObservation, FileReadObservation,
    FileWriteObservation, IPythonRunCellObservation, MCPObservation, NullObservation, Observation,
    TaskTrackingObservation,
};

/// `cause` is the action that was carried out. Pictures whose bytes are not there are left out.
pub fn observation(seen: &Core, cause: &Action) -> Observation {
    let kind = match cause {
        Action::Run(_) => Some(ActionKind::Run),
        // They all belong to the editor.
        Action::Read(_) | Action::Write(_) | Action::Edit(_) => Some(ActionKind::Edit),
        _ => None,
    };
    let content = in_names_of_tools(seen, kind);
    match seen.kind {
        ObservationKind::Error | ObservationKind::Refused => {
            // A page that can't be acted upon is shown all the same.
            if let Action::Browse(_) | Action::BrowseInteractive(_) = cause {
                return page(seen, cause).into();
            }
            return ErrorObservation::new(content).into();
        }
        ObservationKind::Reply => return NullObservation::default().into(),
        ObservationKind::Ready
        | ObservationKind::Output
        | ObservationKind::Content
        | ObservationKind::Done => {}
    }
    match cause {
        Action::Run(run) => CmdOutputObservation {
            command: run.command.clone(),
            metadata: metadata(seen),
            hidden: run.hidden,
            content,
        }
        .into(),
        Action::RunIPython(cell) => IPythonRunCellObservation {
            code: cell.code.clone(),
            image_urls: urls(&seen.pictures),
            content,
        }
        .into(),
        Action::Read(read) => FileReadObservation {
            path: read.path.clone(),
            impl_source: read.impl_source,
            content: urls(&seen.pictures).map_or(content, |urls| urls.concat()),
        }
        .into(),
        Action::Write(write) => FileWriteObservation {
            path: write.path.clone(),
            content,
        }
        .into(),
        Action::Edit(edit) => {
            let changed = seen.changed.as_deref();
            FileEditObservation {
                path: edit.path.clone(),
                prev_exist: changed.is_some_and(|change| change.existed),
                impl_source: edit.impl_source,
                diff: changed.map(|change| change.diff.clone()),
                content,
                ..FileEditObservation::default()
            }
            .into()
        }
        Action::Browse(_) | Action::BrowseInteractive(_) => page(seen, cause).into(),
        Action::Mcp(call) => MCPObservation {
            name: call.name.clone(),
            arguments: call.arguments.clone(),
            content,
        }
        .into(),
        Action::TaskTracking(tasks) => TaskTrackingObservation {
            command: tasks.command.clone(),
            task_list: tasks.task_list.clone(),
            content,
        }
        .into(),
        Action::Think(_) => AgentThinkObservation {
            content: match &*content {
                "" => "Your thought has been noted.".to_owned(),
                _ => content,
            },
        }
        .into(),
        _ => NullObservation { content }.into(),
    }
}

fn metadata(seen: &Core) -> CmdOutputMetadata {
    let ended = match seen.exit_status {
        Some(status) if !seen.running => Some(i64::from(status)),
        _ => None,
    };
    CmdOutputMetadata {
        exit_code: ended.unwrap_or(-1),
        working_dir: seen.cwd.clone(),
        suffix: ended.map_or_else(String::new, |status| {
            format!("\n[The command completed with exit code {status}.]")
        }),
        ..CmdOutputMetadata::default()
    }
}

fn page(seen: &Core, cause: &Action) -> BrowserOutputObservation {
    let error = match seen.kind {
        ObservationKind::Error | ObservationKind::Refused => Some(&*seen.text),
        _ => error_of_page(&seen.text),
    };
    let last = match cause {
        Action::Browse(browse) => format!("goto({})", serde_json::Value::from(&*browse.url)),
        Action::BrowseInteractive(browse) => browse.browser_actions.clone(),
        _ => String::new(),
    };
    let url = seen
        .text
        .lines()
        .find_map(|line| line.strip_prefix("url: ").or(line.strip_prefix("URL: ")));
    let url = url.map_or_else(String::new, |url| url.trim().to_owned());
    BrowserOutputObservation {
        open_pages_urls: match &*url {
            "" => Vec::new(),
            url => vec![url.to_owned()],
        },
        active_page_index: if url.is_empty() { -1 } else { 0 },
        url,
        trigger_by_action: cause.kind().to_owned(),
        screenshot: seen.pictures.iter().find_map(data_url).unwrap_or_default(),
        error: error.is_some(),
        last_browser_action: last,
        last_browser_action_error: error.unwrap_or_default().to_owned(),
        content: seen.text.clone(),
        ..BrowserOutputObservation::default()
    }
}

/// A page that could be seen says in its third line what went wrong with the last action; below of that it
/// is the page that speaks.
fn error_of_page(text: &str) -> Option<&str> {
    let mut lines = text.lines();
    let known = |line: &str, name: &str| line.starts_with(name).then_some(());
    known(lines.next()?, "url: ")?;
    known(lines.next()?, "title: ")?;
    lines.next()?.strip_prefix("error: ")
}

fn urls(pictures: &[Picture]) -> Option<Vec<String>> {
    let urls: Vec<String> = pictures.iter().filter_map(data_url).collect();
    (!urls.is_empty()).then_some(urls)
}

fn data_url(picture: &Picture) -> Option<String> {
    let data = BASE64_STANDARD.encode(picture.data()?);
    Some(format!("data:image/{};base64,{data}", picture.format))
}
