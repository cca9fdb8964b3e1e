//! What a person remembers of a conversation, word by word: the last of it, of bounded length. An agent that
//! talks on and on must not make the person's model unable to read its part.

use std::collections::VecDeque;

use super::quote::cut;

/// Characters of all that is remembered.
const MOST: usize = 64_000;

/// A message of the agent and what the person said to it.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) heard: String,
    pub(super) said: String,
}

#[derive(Debug, Default)]
pub(super) struct Memory {
    exchanges: VecDeque<Exchange>,
}

impl Memory {
    pub(super) fn exchanges(&self) -> impl Iterator<Item = &Exchange> {
        self.exchanges.iter()
    }

    pub(super) fn add(&mut self, heard: &str, said: &str) {
        self.exchanges.push_back(Exchange {
            heard: cut(heard),
            said: said.to_owned(),
        });
        while self.length() > MOST {
            self.exchanges.pop_front();
        }
    }

    /// Only the later half stays.
    pub(super) fn forget_half(&mut self) {
        let older = self.exchanges.len().div_ceil(2);
        self.exchanges.drain(..older);
    }

    fn length(&self) -> usize {
        let lengths = self.exchanges.iter();
        lengths
            .map(|exchange| exchange.heard.chars().count() + exchange.said.chars().count())
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_bounded_by_characters_and_keeps_the_last() {
        let mut memory = Memory::default();
        for n in 0..100 {
            memory.add(&format!("{n} {}", "é".repeat(15_000)), "yes");
            assert!(memory.length() <= MOST);
        }
        let heard: Vec<_> = memory.exchanges().map(|e| &e.heard[..2]).collect();
        assert_eq!(heard, ["96", "97", "98", "99"]);
        memory.forget_half();
        assert_eq!(memory.exchanges().count(), 2);
        memory.forget_half();
        memory.forget_half();
        assert_eq!(memory.exchanges().count(), 0);
        for n in 0..100 {
            memory.add(&n.to_string(), "yes");
        }
        assert_eq!(memory.exchanges().count(), 100, "short ones are all kept");
    }
}
