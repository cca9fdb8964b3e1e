//! The words that are ours: what a judge is told before and after the evidence. The texts are files, so
//! that they can be read as what they are.

use agon_core::Digest;
use agon_core::check::ProseSubject;

/// Raised whenever a verdict could change by something that the texts don't show.
pub(super) const VERSION: &str = "3";

const SYSTEM: &str = include_str!("prompt/system.md");
const RETURNED_RESULT: &str = include_str!("prompt/returned_result.md");
const FINAL_SCREENSHOT: &str = include_str!("prompt/final_screenshot.md");
const EXPECTED_FLOW: &str = include_str!("prompt/expected_flow.md");
const COMMAND_OUTPUT: &str = include_str!("prompt/command_output.md");

/// What follows the evidence.
pub(super) const DECIDE: &str = include_str!("prompt/decide.md");
/// What follows that where an answer could not be read.
pub(super) const AGAIN: &str = include_str!("prompt/again.md");

pub(super) fn system(subject: &ProseSubject) -> String {
    let own = match subject {
        ProseSubject::ReturnedResult => RETURNED_RESULT,
        ProseSubject::FinalScreenshot => FINAL_SCREENSHOT,
        ProseSubject::ExpectedFlow => EXPECTED_FLOW,
        ProseSubject::CommandOutput { .. } => COMMAND_OUTPUT,
    };
    format!("{SYSTEM}\n{own}")
}

/// Of all texts.
pub(super) fn digest() -> Digest {
    let texts = [
        VERSION,
        SYSTEM,
        RETURNED_RESULT,
        FINAL_SCREENSHOT,
        EXPECTED_FLOW,
        COMMAND_OUTPUT,
        DECIDE,
        AGAIN,
    ];
    Digest::of_parts(texts.map(str::as_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_subject_has_its_own_words_after_the_common_ones() {
        let command = ProseSubject::CommandOutput {
            command: "ls".into(),
        };
        let subjects = [
            (ProseSubject::ReturnedResult, "the answer that the program"),
            (ProseSubject::FinalScreenshot, "the screen at the end"),
            (ProseSubject::ExpectedFlow, "mistakes that were put right"),
            (command, "exit status"),
        ];
        for (subject, words) in subjects {
            let system = system(&subject);
            assert!(system.starts_with(SYSTEM) && system.contains(words));
        }
    }
}
