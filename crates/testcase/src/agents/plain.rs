//! What agents say to models that answer with text: the task, what came of an action, the screen.

use agon_llm::{Part, ToolResult};

use super::manner::{Done, Scene};
use super::sight::Sight;

/// The task and the first screen.
pub(super) fn opening(scene: &Scene<'_>, sight: &Sight) -> Vec<Part> {
    let text = format!(
        "Your task:\n{}\n\nThis is the screen.{}",
        scene.brief.instruction,
        pointer(sight)
    );
    vec![Part::Text(text), sight.part()]
}

/// What came of each wish, and the screen after the last.
pub(super) fn told(done: &[Done]) -> Vec<Part> {
    let mut lines: Vec<String> = done.iter().map(outcome).collect();
    let Some(last) = done.last() else {
        return vec![Part::Text("Nothing was done.".to_owned())];
    };
    lines.push(format!("This is the screen now.{}", pointer(&last.sight)));
    vec![Part::Text(lines.join("\n")), last.sight.part()]
}

fn outcome(done: &Done) -> String {
    match (done.failed, done.text.is_empty()) {
        (true, _) => format!("This was not done: {}", done.text),
        (false, true) => "Done.".to_owned(),
        (false, false) => format!("Done. {}", done.text),
    }
}

/// Where the pointer is, in the model's own grid.
fn pointer(sight: &Sight) -> String {
    let frame = sight.frame();
    frame.pointer().map_or_else(String::new, |_| {
        let (x, y) = frame.shown(frame.cursor());
        format!(" The pointer is at ({x}, {y}).")
    })
}

/// The words alone: nothing else of an answer is needed again, and calls by a provider's own means would have
/// to be answered by them.
pub(super) fn words(parts: Vec<Part>) -> Vec<Part> {
    let text = |part: Part| match part {
        Part::Text(text) if !text.trim().is_empty() => Some(Part::Text(text)),
        Part::ToolResult(ToolResult { .. }) | Part::Image(_) | Part::Text(_) => None,
        Part::ToolCall(call) => Some(Part::Text(format!("{} {}", call.name, call.input))),
        Part::Reasoning(_) | Part::Other { .. } => None,
    };
    parts.into_iter().filter_map(text).collect()
}
