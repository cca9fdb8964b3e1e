//! Goes through trials with whoever sits at the other end of standard input, a line at a time: the same
//! from a terminal as from a script. Every verdict is on disk before the next trial is shown.

use std::io::{BufRead, IsTerminal, Read};

use agon_core::{Clock, SystemClock};
use agon_store::{Review, ReviewVerdict, Reviews, RunReader};

use super::docket::Case;
use super::orders::{HELP, Order};
use super::{list, page};
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::output;

/// Characters of what was typed and not understood.
const TYPED: usize = 60;
/// Longer lines are no comments.
const LONGEST_LINE: u64 = 1 << 16;

pub(super) fn sit(
    reader: &RunReader,
    cases: &[Case],
    reviewer: &str,
    input: &mut dyn BufRead,
) -> Result<Exit, Failure> {
    if cases.is_empty() {
        output::say("there is nothing to review: no trial fits, or none has a result yet");
        return Ok(Exit::Done);
    }
    output::say(HELP);
    let mut sitting = Sitting {
        reader,
        reviewer,
        comment: String::new(),
    };
    // A script needs no sign that it is its turn.
    let asks = std::io::stdin().is_terminal();
    let mut at = 0;
    let mut shown = false;
    while let Some(case) = cases.get(at) {
        // Others may have said something in between.
        let reviews = Reviews::read(reader.folder())?;
        if !shown {
            output::data(&page::page(reader, case, &reviews, (at + 1, cases.len()))?)?;
            shown = true;
        }
        if asks {
            output::ask("> ");
        }
        let Some(line) = read_line(input)? else { break };
        let before = at;
        match Order::read(&line) {
            Order::Say(verdict, comment) => {
                if sitting.say(case, &reviews, verdict, &comment)? {
                    at += 1;
                }
            }
            Order::Comment(comment) => sitting.remark(case, &reviews, comment)?,
            Order::Next => at += 1,
            Order::Back => at = at.saturating_sub(1),
            Order::Show => shown = false,
            Order::Quit => break,
            Order::Unknown => {
                let typed: String = output::plain(line.trim()).chars().take(TYPED).collect();
                output::say(&format!("`{typed}` is no order: {HELP}"));
            }
        }
        if at != before {
            sitting.comment.clear();
            shown = false;
        }
    }
    let reviews = Reviews::read(reader.folder())?;
    output::say(&list::total(cases, &reviews));
    Ok(Exit::Done)
}

struct Sitting<'a> {
    reader: &'a RunReader,
    reviewer: &'a str,
    /// Typed before the verdict that it belongs to.
    comment: String,
}

impl Sitting<'_> {
    /// Whether the trial is dealt with.
    fn say(
        &mut self,
        case: &Case,
        reviews: &Reviews,
        verdict: ReviewVerdict,
        comment: &str,
    ) -> Result<bool, Failure> {
        if verdict == ReviewVerdict::Clear && reviews.verdict(&case.line).is_none() {
            output::say("there is nothing to take back");
            return Ok(false);
        }
        let comment = match comment {
            "" => std::mem::take(&mut self.comment),
            given => given.to_owned(),
        };
        self.write(case, verdict, &comment)?;
        Ok(verdict != ReviewVerdict::Clear)
    }

    /// A comment goes to the verdict that holds, or waits for one.
    fn remark(&mut self, case: &Case, reviews: &Reviews, comment: String) -> Result<(), Failure> {
        match reviews.verdict(&case.line) {
            Some(review) => self.write(case, review.verdict, &comment),
            None => {
                self.comment = comment;
                output::say("the comment is kept for your verdict: p or f");
                Ok(())
            }
        }
    }

    fn write(&self, case: &Case, verdict: ReviewVerdict, comment: &str) -> Result<(), Failure> {
        let now = SystemClock::default().now();
        let review = Review::of(&case.line, verdict, comment, self.reviewer, now);
        review.append(self.reader.folder())?;
        output::say(&format!("{}: {}", case.label(), list::said(&review)));
        Ok(())
    }
}

fn read_line(input: &mut dyn BufRead) -> Result<Option<String>, Failure> {
    let mut line = Vec::new();
    if input.take(LONGEST_LINE).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.len() as u64 == LONGEST_LINE && line.last() != Some(&b'\n') {
        return Err(Failure::new(
            "a line is longer than 65,536 bytes: write less",
        ));
    }
    Ok(Some(String::from_utf8_lossy(&line).into_owned()))
}
