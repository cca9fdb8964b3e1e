//! What is wrong with a file: the first few things are named, the rest are counted.

use agon_core::Fault;
use agon_core::check::TextTest;

use crate::finding::Finding;
use crate::text::{self, Surround};

/// How many are named.
const NAMED: usize = 4;

#[derive(Debug, Default)]
pub(super) struct Wrongs {
    named: Vec<String>,
    more: usize,
}

impl Wrongs {
    pub(super) fn add(&mut self, wrong: impl Into<String>) {
        if self.named.len() < NAMED {
            self.named.push(wrong.into());
        } else {
            self.more += 1;
        }
    }

    pub(super) fn total(&self) -> usize {
        self.named.len() + self.more
    }

    /// So many that were named already, at another place.
    pub(super) fn again(&mut self, count: usize) {
        self.more += count;
    }

    pub(super) fn extend(&mut self, wrong: Option<String>) {
        if let Some(wrong) = wrong {
            self.add(wrong);
        }
    }

    pub(super) fn count(&mut self, what: &str, wanted: Option<u32>, found: usize) {
        if let Some(wanted) = wanted.filter(|wanted| usize::try_from(*wanted) != Ok(found)) {
            self.add(format!("expected {wanted} {what}; found {found}"));
        }
    }

    /// Carries out tests of a text that `place` names.
    pub(super) fn text(
        &mut self,
        place: &str,
        tests: &[TextTest],
        text: &str,
        surround: Surround,
    ) -> Result<(), Fault> {
        if tests.is_empty() {
            return Ok(());
        }
        let found = text::run(tests, text.as_bytes(), surround)?;
        if !found.passed {
            self.add(format!("{place}: {}", found.reason));
        }
        Ok(())
    }

    pub(super) fn finding(self, right: impl FnOnce() -> String) -> Finding {
        if self.named.is_empty() {
            return Finding::pass(right());
        }
        let mut reason = self.named.join("; ");
        if self.more > 0 {
            reason.push_str(&format!("; and {} more", self.more));
        }
        Finding::fail(reason)
    }
}
