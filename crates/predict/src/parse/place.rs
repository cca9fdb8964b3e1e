//! Where in an answer the actions are looked for: behind the thoughts, at an assignment, and rather in a
//! fenced block than elsewhere. Looks at the text alone; what is a value is not known here.

/// Ends of thoughts; some models are begun inside of them, so that there is no opening tag.
const THOUGHT: [&str; 2] = ["</think>", "</thinking>"];
const THINKING: [&str; 2] = ["<think>", "<thinking>"];
/// What the question asks for by name.
const ASKED: &str = "active_action_dict";
const FENCE: &str = "```";

/// Behind the last thought. `None`: there is nothing else.
pub(super) fn behind_thoughts(text: &str) -> Option<usize> {
    let ends = THOUGHT
        .iter()
        .filter_map(|tag| Some(text.rfind(tag)? + tag.len()));
    if let Some(end) = ends.max() {
        return Some(end);
    }
    let begins = text.trim_start();
    let thinks = THINKING.iter().any(|tag| begins.starts_with(tag));
    (!thinks).then_some(0)
}

/// Behind the last `active_action_dict =`, else behind the last line that begins with `actions =` or
/// `action =`; only where something follows.
pub(super) fn assignment(text: &str) -> Option<usize> {
    let whole = |at: usize| {
        let before = text[..at].chars().next_back();
        before.is_none_or(|letter| !letter.is_alphanumeric() && letter != '_' && letter != '.')
    };
    let asked = text
        .rmatch_indices(ASKED)
        .filter(|(at, _)| whole(*at))
        .find_map(|(at, name)| assigned(text, at + name.len()));
    asked.or_else(|| {
        let names = ["actions", "action"];
        let begins = |name: &'static str| {
            text.rmatch_indices(name)
                .filter(|(at, _)| begins_line(text, *at))
                .find_map(|(at, name)| assigned(text, at + name.len()))
        };
        names.into_iter().filter_map(begins).max()
    })
}

/// So much white space may stand before a statement.
const INDENT: usize = 64;

fn begins_line(text: &str, at: usize) -> bool {
    let start = at.saturating_sub(INDENT);
    let before = text.as_bytes().get(start..at).unwrap_or_default();
    let last = before
        .iter()
        .rev()
        .find(|byte| !matches!(byte, b' ' | b'\t'));
    match last {
        Some(byte) => *byte == b'\n',
        None => start == 0,
    }
}

/// Behind `=`, if it assigns something that may be a value.
fn assigned(text: &str, name_end: usize) -> Option<usize> {
    let rest = text[name_end..].trim_start_matches([' ', '\t']);
    let value = rest.strip_prefix('=')?;
    let begins = value.trim_start().chars().next()?;
    let holds = begins.is_ascii_alphabetic() || "_{[(\"'".contains(begins);
    holds.then_some(text.len() - value.len())
}

/// Where fences stand, in order.
#[derive(Debug)]
pub(super) struct Fences(Vec<usize>);

impl Fences {
    pub(super) fn of(text: &str, from: usize) -> Self {
        let fences = text[from..].match_indices(FENCE);
        Self(fences.map(|(at, _)| from + at).collect())
    }

    /// Whether a place is inside of a block; one that is never closed goes on to the end.
    pub(super) fn hold(&self, at: usize) -> bool {
        self.0.partition_point(|fence| *fence < at) % 2 == 1
    }
}

/// Where a list that can't be read as a whole ends: at its closing bracket, or with the text. `None`: it is no
/// list of objects.
pub(super) fn end_of_list(text: &str, start: usize) -> Option<usize> {
    let inner = text.get(start..)?.strip_prefix('[')?;
    if !inner.trim_start().starts_with('{') {
        return None;
    }
    let mut open = 0usize;
    for (at, byte) in text.bytes().enumerate().skip(start) {
        match byte {
            b'[' => open += 1,
            b']' => open -= 1,
            _ => {}
        }
        if open == 0 {
            return Some(at);
        }
    }
    Some(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thoughts_end_with_the_last_of_their_tags() {
        assert_eq!(behind_thoughts("a"), Some(0));
        assert_eq!(behind_thoughts("a</think>b</thinking>c"), Some(21));
        assert_eq!(behind_thoughts(" <think>a"), None);
        assert_eq!(behind_thoughts("<thinking>"), None);
    }

    #[test]
    fn an_assignment_has_a_value() {
        let value = |text: &str| assignment(text).map(|at| text[at..].to_owned());
        let found = |text: &str| Some(text.to_owned());
        assert_eq!(value("active_action_dict={}"), found("{}"));
        assert_eq!(
            value("active_action_dict = [1] active_action_dict= "),
            found(" [1] active_action_dict= ")
        );
        assert_eq!(value("active_action_dict == {}"), None);
        assert_eq!(value("my_active_action_dict = {}"), None);
        assert_eq!(value("f(actions={})"), None);
        assert_eq!(value("x\n  action = {}\nactions=[]"), found("[]"));
    }

    #[test]
    fn a_place_is_in_a_fence_or_not() {
        let text = "a ```b``` c ```d";
        let fences = Fences::of(text, 0);
        let inside: String = text
            .char_indices()
            .filter(|(at, letter)| fences.hold(*at) && letter.is_alphabetic())
            .map(|(_, letter)| letter)
            .collect();
        assert_eq!(inside, "bd");
    }
}
