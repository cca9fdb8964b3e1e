//! What an observation is to the model: its text with the trailing lines that users of OpenHands know, and
//! its pictures.

use agon_core::observation::ObservationKind;
use agon_core::{Observation, Picture, PictureFormat};
use agon_llm::{Image, MediaType};

use super::history::Outcome;
use super::tools::ToolKind;
use crate::dialect::in_names_of_tools;

/// What a call of a tool came to.
pub(super) fn outcome(seen: &Observation, tool: Option<ToolKind>) -> Outcome {
    let is_error = matches!(seen.kind, ObservationKind::Error | ObservationKind::Refused);
    let cause = tool.and_then(|tool| tool.actions().first().copied());
    let mut text = in_names_of_tools(seen, cause);
    let mut lines = Vec::new();
    if seen.omitted > 0 && seen.kind == ObservationKind::Content {
        lines.push(format!(
            "[{} bytes left out: see them with `view_range`]",
            seen.omitted
        ));
    }
    // The interpreter says it itself.
    if let Some(cwd) = seen.cwd.as_ref().filter(|_| tool == Some(ToolKind::Bash)) {
        lines.push(format!("[Current working directory: {cwd}]"));
    }
    if let Some(status) = seen.exit_status {
        lines.push(format!("[Command finished with exit code {status}]"));
    }
    for line in lines {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text += &line;
    }
    if text.trim().is_empty() {
        text = match tool {
            Some(ToolKind::Think) => "Noted.".to_owned(),
            _ => "Done.".to_owned(),
        };
    }
    Outcome {
        text,
        pictures: seen.pictures.iter().filter_map(image).collect(),
        drawn_before: false,
        is_error,
        page: tool == Some(ToolKind::Browser) && !is_error,
    }
}

/// What words of the agent came to.
pub(super) fn reply(seen: &Observation) -> String {
    match seen.kind {
        ObservationKind::Reply if !seen.text.trim().is_empty() => seen.text.clone(),
        ObservationKind::Error | ObservationKind::Refused => format!("Error: {}", seen.text),
        _ => "Nobody answered. Go on by yourself, with the tools that you have.".to_owned(),
    }
}

fn image(picture: &Picture) -> Option<Image> {
    Some(Image {
        media: match picture.format {
            PictureFormat::Png => MediaType::Png,
            PictureFormat::Webp => MediaType::Webp,
            PictureFormat::Jpeg => MediaType::Jpeg,
        },
        bytes: picture.data()?.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_ends_with_its_folder_and_its_exit_code() {
        let mut seen = Observation::new(ObservationKind::Output, "hello");
        seen.exit_status = Some(3);
        seen.cwd = Some("/work".to_owned());
        let outcome = outcome(&seen, Some(ToolKind::Bash));
        assert_eq!(
            outcome.text,
            "hello\n[Current working directory: /work]\n[Command finished with exit code 3]"
        );
        assert!(!outcome.is_error);
        seen.exit_status = None;
        assert_eq!(super::outcome(&seen, Some(ToolKind::Ipython)).text, "hello");
    }

    #[test]
    fn arguments_have_the_names_of_the_tool() {
        let seen = Observation::error("`old` occurs twice: give more `lines`");
        assert_eq!(
            outcome(&seen, Some(ToolKind::Editor)).text,
            "`old_str` occurs twice: give more `view_range`"
        );
        assert_eq!(outcome(&seen, Some(ToolKind::Bash)).text, seen.text);
        let there = Observation::error("a is there already: change it with `edit`");
        assert_eq!(
            outcome(&there, Some(ToolKind::Editor)).text,
            "a is there already: change it with `str_replace`"
        );
        let mut seen = Observation::new(ObservationKind::Output, "");
        seen.running = true;
        seen.text = "say `wait`\n[still running: `input: true` answers, `wait` waits]".to_owned();
        assert_eq!(
            outcome(&seen, Some(ToolKind::Bash)).text,
            "say `wait`\n[still running: `is_input: true` answers, `timeout` waits]"
        );
    }

    #[test]
    fn nothing_is_said_with_words() {
        let of = |seen: &Observation, tool| outcome(seen, Some(tool)).text;
        assert_eq!(of(&Observation::done(), ToolKind::Think), "Noted.");
        assert_eq!(of(&Observation::done(), ToolKind::Editor), "Done.");
        assert!(outcome(&Observation::error("no"), None).is_error);
        assert!(outcome(&Observation::refused("no"), None).is_error);
        assert!(reply(&Observation::done()).starts_with("Nobody answered"));
        let words = Observation::new(ObservationKind::Reply, "yes");
        assert_eq!(reply(&words), "yes");
    }

    #[test]
    fn pictures_come_along() {
        let mut seen = Observation::new(ObservationKind::Output, "");
        seen.pictures = vec![Picture::new(PictureFormat::Png, *b"png")];
        let outcome = outcome(&seen, Some(ToolKind::Ipython));
        assert_eq!(outcome.pictures.len(), 1);
        assert_eq!(&*outcome.pictures[0].bytes, b"png");
    }
}
