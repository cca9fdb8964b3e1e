//! What was said between the user and the model: the user first, then in turns. Bounded in pictures, and
//! halved when it is too long. Knows no provider: an answer and what it is told stay together.

use agon_core::Condensation;
use agon_llm::{Message, Part, Role};

/// Put to the first message when answers are left out for the first time.
const SHORTER: &str = "(Earlier steps are not shown any more.)";

#[derive(Debug)]
pub(crate) struct Conversation {
    /// The user's first, then an answer and what came of it, again and again.
    messages: Vec<Message>,
    /// Pictures that are kept, the newest.
    window: usize,
    /// Answers that are kept, the newest.
    answers: usize,
    instead: Part,
    /// The agent's steps when each answer came; what is forgotten is told by them.
    steps: Vec<u32>,
}

impl Conversation {
    /// With so many pictures and answers at most; `instead` stands for an older picture.
    pub(crate) fn new(window: usize, answers: usize, instead: Part) -> Self {
        Self {
            messages: Vec::new(),
            window: window.max(1),
            answers: answers.max(1),
            instead,
            steps: Vec::new(),
        }
    }

    pub(crate) fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// The user's words. Pictures and answers that are too old go; the answers are told.
    pub(crate) fn told(&mut self, parts: Vec<Part>) -> Option<Condensation> {
        self.messages.push(Message::new(Role::User, parts));
        let gone = self.drop_answers(self.steps.len().saturating_sub(self.answers));
        let mut left = self.window;
        for message in self.messages.iter_mut().rev() {
            keep(&mut message.parts, &mut left, &self.instead);
        }
        self.mark();
        gone
    }

    /// What comes before the oldest picture stays as it is: worth keeping in a provider's cache.
    fn mark(&mut self) {
        let oldest = self
            .messages
            .iter()
            .position(|message| shows(&message.parts));
        for (nth, message) in self.messages.iter_mut().enumerate() {
            message.cache = Some(nth + 1) == oldest;
        }
    }

    /// The model's answer; `step` is the agent's that it leads to, from 1.
    pub(crate) fn said(&mut self, parts: Vec<Part>, step: u32) {
        self.messages.push(Message::new(Role::Assistant, parts));
        self.steps.push(step);
    }

    /// Forgets the older half of the answers; `None`: only the newest is left.
    pub(crate) fn forget(&mut self) -> Option<Condensation> {
        self.drop_answers(self.steps.len() / 2)
    }

    /// The oldest ones, each with what it was told. The newest stays.
    fn drop_answers(&mut self, count: usize) -> Option<Condensation> {
        let next = *self.steps.get(count).filter(|_| count > 0)?;
        let from = *self.steps.first()?;
        self.steps.drain(..count);
        self.messages.drain(1..=count * 2);
        let note = Part::Text(SHORTER.to_owned());
        if let Some(opening) = self.messages.first_mut()
            && !opening.parts.contains(&note)
        {
            opening.parts.push(note);
        }
        Some(Condensation {
            from,
            to: next.saturating_sub(1).max(from),
            summary: None,
        })
    }
}

fn shows(parts: &[Part]) -> bool {
    parts.iter().any(|part| match part {
        Part::Image(_) => true,
        Part::ToolResult(result) => shows(&result.parts),
        _ => false,
    })
}

/// Leaves the newest pictures, as many as are `left`.
fn keep(parts: &mut [Part], left: &mut usize, instead: &Part) {
    for part in parts.iter_mut().rev() {
        match part {
            Part::Image(_) if *left > 0 => *left -= 1,
            Part::Image(_) => *part = instead.clone(),
            Part::ToolResult(result) => keep(&mut result.parts, left, instead),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use agon_llm::{Image, MediaType, ToolResult};

    use super::*;

    fn picture(n: u8) -> Part {
        Part::Image(Image {
            media: MediaType::Png,
            bytes: vec![n].into(),
        })
    }

    fn text(words: &str) -> Part {
        Part::Text(words.to_owned())
    }

    fn conversation(window: usize, answers: u8) -> Conversation {
        let mut conversation = Conversation::new(window, usize::MAX, text("gone"));
        conversation.told(vec![text("do it"), picture(0)]);
        for n in 1..=answers {
            conversation.said(vec![text("answer")], u32::from(n));
            conversation.told(vec![text("then"), picture(n)]);
        }
        conversation
    }

    fn pictures(conversation: &Conversation) -> Vec<u8> {
        let parts = conversation.messages().iter().flat_map(|m| &m.parts);
        let of = |part: &Part| match part {
            Part::Image(image) => Some(image.bytes[0]),
            _ => None,
        };
        parts.filter_map(of).collect()
    }

    #[test]
    fn only_the_newest_pictures_are_kept() {
        assert_eq!(pictures(&conversation(1, 3)), [3]);
        assert_eq!(pictures(&conversation(3, 4)), [2, 3, 4]);
        assert_eq!(pictures(&conversation(9, 2)), [0, 1, 2]);
        let two = conversation(1, 1);
        assert_eq!(two.messages()[0].parts, [text("do it"), text("gone")]);
    }

    #[test]
    fn pictures_in_results_of_tools_count_as_well() {
        let mut conversation = Conversation::new(1, usize::MAX, text("gone"));
        let result = |n| {
            Part::ToolResult(ToolResult {
                call: "1".to_owned(),
                name: "computer".to_owned(),
                parts: vec![picture(n)],
                is_error: false,
            })
        };
        conversation.told(vec![result(1), result(2)]);
        let Part::ToolResult(first) = &conversation.messages()[0].parts[0] else {
            panic!("no result");
        };
        assert_eq!(first.parts, [text("gone")]);
    }

    #[test]
    fn what_stays_the_same_is_marked_for_the_cache() {
        let marked = |conversation: &Conversation| {
            let messages = conversation.messages().iter();
            messages.map(|message| message.cache).collect::<Vec<_>>()
        };
        assert_eq!(marked(&conversation(1, 0)), [false]);
        assert_eq!(marked(&conversation(1, 1)), [false, true, false]);
        let second = conversation(2, 2);
        assert_eq!(marked(&second), [false, true, false, false, false]);
    }

    #[test]
    fn only_the_newest_answers_are_kept_and_the_task_stays() {
        let mut conversation = Conversation::new(1, 2, text("gone"));
        conversation.told(vec![text("do it")]);
        let mut gone = Vec::new();
        for n in 1..=4 {
            conversation.said(vec![text("answer")], n);
            gone.extend(conversation.told(vec![text("then")]));
        }
        let steps: Vec<_> = gone.iter().map(|gone| (gone.from, gone.to)).collect();
        assert_eq!(steps, [(1, 1), (2, 2)]);
        assert_eq!(conversation.messages().len(), 5);
        assert_eq!(
            conversation.messages()[0].parts,
            [text("do it"), text(SHORTER)]
        );
    }

    #[test]
    fn the_older_half_is_forgotten_in_whole_answers() {
        let mut conversation = conversation(1, 5);
        let gone = conversation.forget().unwrap();
        assert_eq!((gone.from, gone.to), (1, 2));
        assert_eq!(conversation.messages().len(), 7);
        assert_eq!(conversation.messages()[1].role, Role::Assistant);
        assert_eq!(conversation.forget().unwrap().to, 3);
        assert_eq!(conversation.forget().unwrap().to, 4);
        assert_eq!(conversation.forget(), None);
        assert_eq!(conversation.messages().len(), 3);
    }
}
