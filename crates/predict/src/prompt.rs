//! The questions, as text. Windows and actions are written as Python dicts, which is the form that the
//! answer is to have.

use agon_core::prediction::{UiAction, Window};
use serde::Serialize;

use crate::item::Question;
use crate::parse::to_python;
use crate::score::PointUnit;

/// Changes whenever a question is put in other words.
pub(crate) const VERSION: u32 = 2;

/// Goes with a question about windows and actions.
pub const SYSTEM: &str = "\
You control a keyboard and a mouse. You are shown a reference window, the actions that were done in it, \
and the active window: the same application, which may stand elsewhere and have another size. Answer \
with the actions that have the same effect in the active window, and with nothing else: the same format, \
the same order, as a Python 3 dict or a list of dicts.";

/// Goes with a question about a picture.
pub const PICTURE_SYSTEM: &str = "\
You see a picture of a screen and control its mouse. Answer with the one point to click, and with \
nothing else.";

/// Which of them goes with a question: windows may have a picture too.
pub(crate) const fn system(question: &Question) -> &'static str {
    match question {
        Question::Windows { .. } => SYSTEM,
        Question::Point { .. } => PICTURE_SYSTEM,
    }
}

/// The three as text, then the beginning of the answer.
pub fn windows(reference: &Window, actions: &[UiAction], active: &Window) -> String {
    let done = match actions {
        [action] => literal(action),
        actions => format!("{{'actions': {}}}", literal(actions)),
    };
    format!(
        "ref_window={} action={done} active_window={} # Provide valid Python3 code containing the \
         action dicts by completing the following, and nothing else: active_action_dict=",
        literal(reference),
        literal(active)
    )
}

pub fn picture(instruction: &str, width: u32, height: u32, unit: PointUnit) -> String {
    let numbers = match unit {
        PointUnit::Pixels => "in pixels",
        PointUnit::Relative => "from 0 to 1, as shares of its width and height",
        PointUnit::Percent => "from 0 to 100, as percentages of its width and height",
        PointUnit::Thousandths => "from 0 to 1000, as thousandths of its width and height",
    };
    format!(
        "The picture is {width} pixels wide and {height} pixels high; (0, 0) is its upper left corner. \
         Where do you click to do this: {instruction}\n\
         Answer with JSON: {{\"x\": X, \"y\": Y}}, {numbers}."
    )
}

/// A window or an action as Python writes it.
pub fn literal<T: Serialize + ?Sized>(value: &T) -> String {
    // Windows and actions have no maps with other keys than text, so that this can't fail.
    to_python(&serde_json::to_value(value).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::Group;

    #[test]
    fn the_first_fixture_is_asked_as_python_writes_it() {
        let fixture = Group::SingleMouse.fixture();
        let actions = &fixture.actions.actions;
        let text = windows(&fixture.reference_window, actions, &fixture.active_window);
        insta::assert_snapshot!(text);
    }

    #[test]
    fn the_question_decides_what_goes_before_it() {
        let windows = Question::Windows {
            reference: Window::default(),
            actions: Vec::new(),
            active: Window::default(),
        };
        let point = Question::Point {
            instruction: "close".to_owned(),
            unit: PointUnit::Pixels,
        };
        insta::assert_snapshot!(format!("{}\n\n{}", system(&windows), system(&point)));
    }

    #[test]
    fn many_actions_are_a_list() {
        let fixture = Group::MultiClick.fixture();
        let actions = &fixture.actions.actions;
        let text = windows(&fixture.reference_window, actions, &fixture.active_window);
        assert!(text.contains("action={'actions': [{"), "{text}");
        assert!(text.ends_with("active_action_dict="), "{text}");
    }
}
