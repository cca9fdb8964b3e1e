//! What the model said and what came of it. Every call stands together with its result, so that neither can
//! be forgotten without the other.

use std::collections::HashSet;
use std::ops::Range;

use agon_core::Condensation;
use agon_llm::{Image, Part, ToolCall};

use super::cut;

/// What the system prompt and the task count as, where lengths are counted in events.
const OPENING: usize = 2;

/// What a call came to.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Outcome {
    pub(super) text: String,
    pub(super) pictures: Vec<Image>,
    /// It had pictures, which are too old to be kept.
    pub(super) drawn_before: bool,
    pub(super) is_error: bool,
    /// Shows a page of the browser.
    pub(super) page: bool,
}

/// One answer of the model and everything that it led to.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Exchange {
    /// Texts, thoughts and calls, in the model's order.
    pub(super) said: Vec<Part>,
    /// Of each call, in the same order.
    pub(super) outcomes: Vec<Option<Outcome>>,
    /// The answer to words without calls.
    pub(super) reply: Option<String>,
    /// What the user asked for after it. Never cut, and kept when the rest is forgotten.
    pub(super) asked: Option<String>,
    first: u32,
    last: u32,
}

impl Exchange {
    pub(super) fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.said.iter().filter_map(|part| match part {
            Part::ToolCall(call) => Some(call),
            _ => None,
        })
    }

    /// An action and an observation each.
    pub(super) fn events(&self) -> usize {
        let asked = usize::from(self.asked.is_some());
        match self.outcomes.len() {
            0 => 1 + usize::from(self.reply.is_some()) + asked,
            calls => 2 * calls + asked,
        }
    }
}

/// A place at which something is missing.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Gap {
    /// So many exchanges stand before it.
    pub(super) after: usize,
    pub(super) summary: Option<String>,
    /// What the user asked for in what is missing.
    pub(super) asked: Vec<String>,
}

#[derive(Debug, Default)]
pub(super) struct History {
    task: String,
    exchanges: Vec<Exchange>,
    gap: Option<Gap>,
    steps: u32,
    /// Of calls, those that were forgotten included.
    ids: HashSet<String>,
}

impl History {
    pub(super) fn new(task: String) -> Self {
        Self {
            task,
            ..Self::default()
        }
    }

    pub(super) fn task(&self) -> &str {
        &self.task
    }

    pub(super) fn exchanges(&self) -> &[Exchange] {
        &self.exchanges
    }

    pub(super) fn gap(&self) -> Option<&Gap> {
        self.gap.as_ref()
    }

    pub(super) fn last_mut(&mut self) -> Option<&mut Exchange> {
        self.exchanges.last_mut()
    }

    /// The user wants something: the task, or more of it.
    pub(super) fn asked(&mut self, text: &str) {
        match self.exchanges.last_mut() {
            None => add(&mut self.task, text),
            Some(last) => add(last.asked.get_or_insert_default(), text),
        }
    }

    /// Adds an answer of the model. Ids of calls are made unique: results are told apart by them.
    pub(super) fn said(&mut self, mut parts: Vec<Part>) -> &mut Exchange {
        let next = self.steps + 1;
        let mut calls = 0;
        for part in &mut parts {
            let Part::ToolCall(call) = part else { continue };
            calls += 1;
            self.name(call, calls);
        }
        self.exchanges.push(Exchange {
            said: parts,
            outcomes: vec![None; calls],
            reply: None,
            asked: None,
            first: next,
            last: next,
        });
        let last = self.exchanges.len() - 1;
        &mut self.exchanges[last]
    }

    /// Adds a call to the last answer, and says which of its calls it is.
    pub(super) fn called(&mut self, mut call: ToolCall) -> usize {
        let nth = self.exchanges.last().map_or(0, |last| last.outcomes.len());
        if nth == 0 {
            self.said(vec![Part::ToolCall(call)]);
            return 0;
        }
        self.name(&mut call, nth + 1);
        if let Some(last) = self.exchanges.last_mut() {
            last.said.push(Part::ToolCall(call));
            last.outcomes.push(None);
        }
        nth
    }

    /// Sees to it that no other call has the same id.
    fn name(&mut self, call: &mut ToolCall, nth: usize) {
        let next = self.steps + 1;
        // An item in the provider's own form has its id in there as well.
        if call.raw.is_none() && (call.id.is_empty() || self.ids.contains(&call.id)) {
            call.id = format!("call_{next}_{nth}");
            while self.ids.contains(&call.id) {
                call.id.push('x');
            }
        }
        self.ids.insert(call.id.clone());
    }

    /// The agent answers the engine once more, for its last exchange.
    pub(super) fn step(&mut self) {
        self.steps += 1;
        if let Some(last) = self.exchanges.last_mut() {
            last.last = self.steps;
        }
    }

    /// Keeps the newest pictures: older ones are never shown again. All of a result or none.
    pub(super) fn keep_pictures(&mut self, most: usize) {
        let mut pictures = 0;
        let exchanges = self.exchanges.iter_mut().rev();
        for outcome in exchanges.flat_map(|exchange| exchange.outcomes.iter_mut().rev().flatten()) {
            pictures += outcome.pictures.len();
            if pictures > most && !outcome.pictures.is_empty() {
                outcome.pictures = Vec::new();
                outcome.drawn_before = true;
            }
        }
    }

    /// How long the longest result is, in characters.
    pub(super) fn longest(&self) -> usize {
        let each = self.exchanges.iter().map(|exchange| {
            let outcomes = exchange.outcomes.iter().flatten();
            let results = outcomes.map(|outcome| outcome.text.chars().count());
            let reply = exchange.reply.iter().map(|reply| reply.chars().count());
            results.chain(reply).max().unwrap_or(0)
        });
        each.max().unwrap_or(0)
    }

    /// Cuts what is longer, for good: what did not fit once would not fit the next time.
    pub(super) fn shorten(&mut self, most: usize) {
        for exchange in &mut self.exchanges {
            let outcomes = exchange.outcomes.iter_mut().flatten();
            let texts = outcomes.map(|outcome| &mut outcome.text);
            for text in texts.chain(&mut exchange.reply) {
                if text.chars().count() > most {
                    *text = cut::middle(text, most).into_owned();
                }
            }
        }
    }

    /// Its length in events: an action is one, what it led to is another.
    pub(super) fn events(&self) -> usize {
        OPENING + self.exchanges.iter().map(Exchange::events).sum::<usize>()
    }

    /// The exchanges between the first `keep_first` events and the last ones, so that `target` events stay.
    /// The newest exchange always does.
    pub(super) fn middle(&self, keep_first: usize, target: usize) -> Range<usize> {
        let mut room = keep_first.saturating_sub(OPENING);
        let mut kept = OPENING;
        let mut head = 0;
        for exchange in &self.exchanges {
            if exchange.events() > room {
                break;
            }
            room -= exchange.events();
            kept += exchange.events();
            head += 1;
        }
        let mut left = target.saturating_sub(kept);
        let mut tail = 0;
        for exchange in self.exchanges.iter().rev() {
            if tail > 0 && exchange.events() > left {
                break;
            }
            left = left.saturating_sub(exchange.events());
            tail += 1;
        }
        head..(self.exchanges.len() - tail).max(head)
    }

    /// Forgets them. A new summary takes the place of the old one, which it is made from.
    pub(super) fn forget(
        &mut self,
        range: Range<usize>,
        summary: Option<String>,
    ) -> Option<Condensation> {
        let last = self.exchanges.len().checked_sub(1)?;
        let range = range.start..range.end.min(last);
        let gone = self.exchanges.get(range.clone())?;
        let condensation = Condensation {
            from: gone.first()?.first,
            to: gone.last()?.last,
            summary: summary.clone(),
        };
        let gone = self.exchanges.drain(range.clone());
        let old = self.gap.take().unwrap_or(Gap {
            after: range.start,
            summary: None,
            asked: Vec::new(),
        });
        let asked = gone.filter_map(|exchange| exchange.asked);
        self.gap = Some(Gap {
            after: old.after.min(range.start),
            summary: summary.or(old.summary),
            asked: old.asked.into_iter().chain(asked).collect(),
        });
        Some(condensation)
    }

    /// Forgets again what was forgotten in an earlier conversation.
    pub(super) fn forget_steps(&mut self, gone: &Condensation) {
        let inside = |exchange: &Exchange| exchange.first >= gone.from && exchange.last <= gone.to;
        if let Some(start) = self.exchanges.iter().position(inside) {
            let rest = self.exchanges.iter().skip(start);
            let end = start + rest.take_while(|exchange| inside(exchange)).count();
            self.forget(start..end, gone.summary.clone());
        }
    }
}

/// Another paragraph.
fn add(text: &mut String, more: &str) {
    if !text.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(more);
}

/// Both, as one.
pub(super) fn joined(
    one: Option<Condensation>,
    other: Option<Condensation>,
) -> Option<Condensation> {
    match (one, other) {
        (Some(one), Some(other)) => Some(Condensation {
            from: one.from.min(other.from),
            to: one.to.max(other.to),
            summary: other.summary.or(one.summary),
        }),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(id: &str) -> Part {
        Part::ToolCall(ToolCall {
            id: id.to_owned(),
            name: "execute_bash".to_owned(),
            input: json!({"command": id}),
            raw: None,
        })
    }

    /// Exchanges with so many calls each.
    fn history(calls: &[usize]) -> History {
        let mut history = History::new("task".to_owned());
        for count in calls {
            history.said((0..*count).map(|n| call(&n.to_string())).collect());
            for _ in 0..(*count).max(1) {
                history.step();
            }
        }
        history
    }

    #[test]
    fn ids_are_unique_also_against_what_was_forgotten() {
        let mut history = history(&[2, 2, 1]);
        history.forget(0..2, None);
        history.said(vec![call("0"), call("")]);
        let mut ids = HashSet::new();
        for exchange in history.exchanges() {
            for call in exchange.calls() {
                assert!(
                    !call.id.is_empty() && ids.insert(call.id.clone()),
                    "{call:?}"
                );
            }
        }
        assert!(!ids.contains("0"));
    }

    #[test]
    fn the_middle_leaves_the_first_and_the_newest() {
        let ten = history(&[1; 10]);
        assert_eq!(ten.events(), 22);
        // 2 + 10 events stay.
        assert_eq!(ten.middle(1, 12), 0..5);
        assert_eq!(ten.middle(4, 12), 1..6);
        assert_eq!(ten.middle(1, 0), 0..9);
        assert_eq!(ten.middle(1, 100), 0..0);
        assert_eq!(ten.middle(100, 100), 10..10);
        assert_eq!(history(&[]).middle(1, 10), 0..0);
        // Never half of an answer.
        assert_eq!(history(&[1, 3, 1]).middle(0, 6), 0..2);
    }

    #[test]
    fn only_the_newest_pictures_are_kept() {
        let image = || Image {
            media: agon_llm::MediaType::Png,
            bytes: b"png".as_slice().into(),
        };
        let mut history = history(&[1, 2, 1]);
        for (exchange, pictures) in history.exchanges.iter_mut().zip([3, 2, 3]) {
            let outcome = Outcome {
                pictures: vec![image(); pictures],
                ..Outcome::default()
            };
            exchange.outcomes[0] = Some(outcome);
        }
        history.keep_pictures(6);
        let kept: Vec<_> = history
            .exchanges()
            .iter()
            .filter_map(|exchange| exchange.outcomes[0].as_ref())
            .map(|outcome| (outcome.pictures.len(), outcome.drawn_before))
            .collect();
        assert_eq!(kept, [(0, true), (2, false), (3, false)]);
    }

    #[test]
    fn steps_that_are_forgotten_are_told() {
        let mut history = history(&[1, 2, 0, 1]);
        let told = history.forget(1..3, Some("s".to_owned())).unwrap();
        assert_eq!((told.from, told.to), (2, 4));
        assert_eq!(
            history.gap(),
            Some(&Gap {
                after: 1,
                summary: Some("s".to_owned()),
                asked: Vec::new(),
            })
        );
        // The newest stays, whatever is asked.
        let told = history.forget(0..9, None).unwrap();
        assert_eq!((told.from, told.to), (1, 1));
        assert_eq!(history.exchanges().len(), 1);
        assert_eq!(history.gap().unwrap().summary.as_deref(), Some("s"));
        assert_eq!(history.forget(0..1, None), None);
    }

    #[test]
    fn what_the_user_asks_for_outlives_what_is_forgotten() {
        let mut history = history(&[]);
        history.asked("all of it");
        assert_eq!(history.task(), "task\n\nall of it");
        for ask in [Some("more"), None, Some("the rest"), None] {
            history.said(vec![call("0")]);
            history.step();
            ask.inspect(|text| history.asked(text));
        }
        history.asked("now");
        history.asked("quick");
        history.forget(0..2, None);
        history.forget(0..9, None);
        assert_eq!(history.gap().unwrap().asked, ["more", "the rest"]);
        let last = history.exchanges().last().unwrap();
        assert_eq!(last.asked.as_deref(), Some("now\n\nquick"));
        assert_eq!(last.events(), 3);
    }

    #[test]
    fn what_was_forgotten_once_is_forgotten_again() {
        let mut history = history(&[1, 2, 1, 1]);
        history.forget_steps(&Condensation {
            from: 2,
            to: 4,
            summary: Some("s".to_owned()),
        });
        let left: Vec<u32> = history.exchanges().iter().map(|e| e.first).collect();
        assert_eq!(left, [1, 5]);
        assert_eq!(history.gap().unwrap().summary.as_deref(), Some("s"));
        history.forget_steps(&Condensation {
            from: 70,
            to: 90,
            summary: None,
        });
        assert_eq!(history.exchanges().len(), 2);
    }

    #[test]
    fn a_call_is_added_to_its_answer() {
        let mut history = history(&[1]);
        let Part::ToolCall(another) = call("0") else {
            panic!("a call is a call");
        };
        assert_eq!(history.called(another.clone()), 1);
        let ids: HashSet<&str> = history.exchanges()[0].calls().map(|c| &*c.id).collect();
        assert_eq!((ids.len(), history.exchanges()[0].outcomes.len()), (2, 2));
        let mut none = super::History::new("task".to_owned());
        assert_eq!(none.called(another), 0);
        assert_eq!(none.exchanges().len(), 1);
    }
}
