//! What a judge is shown of one check: the task and the expectation, then the evidence between its marks,
//! then what to decide. Puts a request together; asks nobody.

use std::collections::BTreeMap;

use agon_core::check::ProseSubject;
use agon_core::{Digest, Fault, FaultClass, Frames, RanCommand};
use agon_llm::{Message, Output, Part, Request, Role, Sampling};

use super::answer;
use super::frames::{Frame, Screen, key_frames, screens};
use super::prompt::{self, AGAIN, DECIDE};
use super::question::Question;
use super::quote::{Marks, begin, cut, end, quoted};
use super::steps;
use crate::flow::FlowStep;

/// Characters of an answer, and of each stream of a command.
const LONGEST: usize = 20_000;

/// Characters of the task, and of the expectation.
const LONGEST_OURS: usize = 40_000;

/// Characters of all steps together.
const LONGEST_FLOW: usize = 80_000;

/// How often the texts of steps are halved before steps are left out.
const HALVINGS: u32 = 4;

/// How much there is room for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    /// Tokens of all pictures.
    pub(super) pictures: u64,
    /// How often it was halved.
    pub(super) tight: u32,
    /// Whether the judge sees pictures at all.
    pub(super) sees: bool,
}

#[derive(Debug)]
pub(super) struct Exhibit {
    system: String,
    before: String,
    /// Texts and pictures; begins and ends with a text.
    evidence: Vec<Part>,
    mark: String,
    pub(super) frames: Option<Frames>,
    /// How many steps are shown.
    pub(super) steps: Option<usize>,
    /// Texts of the evidence, as they came.
    pub(super) words: Vec<String>,
}

/// The evidence as it grows.
#[derive(Debug, Default)]
struct Pile {
    parts: Vec<Part>,
    text: String,
    words: Vec<String>,
}

impl Pile {
    fn quote(&mut self, title: &str, text: &str, longest: usize) {
        let text = cut(text, longest);
        self.text += title;
        self.text.push('\n');
        self.text += &quoted(&text);
        self.words.push(text);
    }

    fn picture(&mut self, title: &str, frame: &Frame) {
        self.text += title;
        self.text.push('\n');
        self.parts.push(Part::Text(std::mem::take(&mut self.text)));
        self.parts.push(Part::Image(frame.image.clone()));
    }
}

impl Exhibit {
    pub(super) async fn of(
        question: &Question<'_>,
        room: Room,
        marks: &Marks,
    ) -> Result<Self, Fault> {
        let mut before = format!("The task:\n{}", ours(question.instruction));
        let mut pile = Pile::default();
        let (mut frames, mut steps) = (None, None);
        let longest = LONGEST >> room.tight;
        match question.subject {
            ProseSubject::ReturnedResult => {
                let result = question.shown.result.unwrap_or_default();
                pile.quote("The answer that was returned:", result, longest);
                last_screen(&mut pile, question, room).await?;
            }
            ProseSubject::FinalScreenshot => {
                if !room.sees {
                    return Err(blind());
                }
                if !last_screen(&mut pile, question, room).await? {
                    let why = "there is no picture of the last screen to be judged";
                    return Err(Fault::new(FaultClass::Evidence, why));
                }
            }
            ProseSubject::ExpectedFlow => {
                let flow = question.shown.flow;
                if !room.sees && flow.iter().any(|step| step.screen.is_some()) {
                    return Err(blind());
                }
                let pictures = key_frames(flow, question.shown.pictures, room.pictures).await?;
                steps = Some(flow.len());
                let changed = screens(flow)
                    .into_iter()
                    .filter(|seen| *seen == Screen::New);
                frames = Some(Frames {
                    shown: count(pictures.len()),
                    of: count(changed.count()),
                });
                lay_out(&mut pile, flow, &pictures, room.tight);
            }
            ProseSubject::CommandOutput { command } => {
                let Some(ran) = question.shown.ran else {
                    let why = "the record does not show what the command printed";
                    return Err(Fault::new(FaultClass::Evidence, why));
                };
                before += &format!("\nThe command:\n{}", ours(command));
                printed(&mut pile, ran, longest);
            }
        }
        before += &format!("\nThe expectation:\n{}\n", ours(question.value));
        pile.parts.push(Part::Text(pile.text));
        let system = prompt::system(question.subject);
        let texts = pile.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            _ => None,
        });
        let texts = texts.chain([before.as_str(), &system, DECIDE, AGAIN]);
        let mark = marks.mark(texts)?;
        Ok(Self {
            system,
            before,
            evidence: pile.parts,
            mark,
            frames,
            steps,
            words: pile.words,
        })
    }

    /// `again`: an answer to it could not be read.
    pub(super) fn request(&self, sampling: Sampling, again: bool) -> Request {
        self.asking(self.evidence.clone(), sampling, again)
    }

    /// The same question without the evidence. An answer to it decides nothing.
    pub(super) fn withheld(&self, sampling: Sampling) -> Request {
        self.asking(Vec::new(), sampling, false)
    }

    fn asking(&self, evidence: Vec<Part>, sampling: Sampling, again: bool) -> Request {
        let first = format!("{}{}", self.before, begin(&self.mark));
        let last = end(&self.mark) + DECIDE + if again { AGAIN } else { "" };
        let mut parts = vec![Part::Text(first)];
        parts.extend(evidence);
        parts.push(Part::Text(last));
        let mut request = Request::new([Message::new(Role::User, joined(parts))]);
        request.system = Some(self.system.clone());
        request.output = Output::Json {
            name: "verdict".to_owned(),
            schema: answer::schema(),
        };
        request.sampling = sampling;
        request
    }
}

/// Texts that follow each other as one.
fn joined(parts: Vec<Part>) -> Vec<Part> {
    let mut joined: Vec<Part> = Vec::with_capacity(parts.len());
    for part in parts {
        match (joined.last_mut(), part) {
            (Some(Part::Text(before)), Part::Text(more)) => *before += &more,
            (_, part) => joined.push(part),
        }
    }
    joined
}

fn ours(text: &str) -> String {
    quoted(&cut(text, LONGEST_OURS))
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn blind() -> Fault {
    let why = "the judge can't see pictures, and this check is about screens: name one that can with --judge";
    Fault::new(FaultClass::ModelSetup, why)
}

/// Whether there is one that can be shown.
async fn last_screen(pile: &mut Pile, question: &Question<'_>, room: Room) -> Result<bool, Fault> {
    let Some(bytes) = question.shown.last else {
        return Ok(false);
    };
    if !room.sees {
        pile.text += "There is a picture of the last screen, but you can't see pictures.\n";
        return Ok(false);
    }
    let Some(frame) = Frame::of(bytes.into()).await? else {
        pile.text += "The picture of the last screen can't be read.\n";
        return Ok(false);
    };
    pile.picture("The last screen:", &frame);
    Ok(true)
}

fn printed(pile: &mut Pile, ran: &RanCommand, longest: usize) {
    pile.quote("How the command ended:", &ran.exit, longest);
    if let Some(status) = ran.status {
        pile.text += &format!("Its exit status is {status}.\n");
    }
    pile.quote("Its standard output:", &ran.stdout, longest);
    pile.quote("Its standard error:", &ran.stderr, longest);
    if ran.omitted > 0 {
        let omitted = ran.omitted;
        pile.text += &format!("{omitted} bytes of the middle of its output were not kept.\n");
    }
}

/// All steps in order, each with its screen where that is shown. Where they come to too much, their texts
/// are cut shorter, and if that does not help those in the middle are left out.
fn lay_out(pile: &mut Pile, flow: &[FlowStep], shown: &BTreeMap<usize, Frame>, tight: u32) {
    let most = LONGEST_FLOW >> tight;
    let told = |halved: u32| -> Vec<String> {
        flow.iter().map(|step| steps::step(step, halved)).collect()
    };
    let length = |texts: &[String]| texts.iter().map(String::len).sum::<usize>();
    let (mut halved, mut texts) = (tight, told(tight));
    while length(&texts) > most && halved < tight + HALVINGS {
        halved += 1;
        texts = told(halved);
    }
    let left_out = middle(&texts, most);
    for (nth, (text, screen)) in texts.iter().zip(screens(flow)).enumerate() {
        let Some(step) = flow.get(nth) else { continue };
        let number = step.step;
        let frame = shown.get(&nth);
        if left_out.contains(&nth) {
            if nth == left_out.start {
                let last = flow.get(left_out.end - 1).map_or(number, |last| last.step);
                pile.text +=
                    &format!("What was done in steps {number} to {last} is left out here.\n");
            }
        } else {
            pile.text += text;
            pile.words.extend(steps::words(step, halved));
        }
        match (screen, frame) {
            (_, Some(frame)) => pile.picture(&format!("The screen after step {number}:"), frame),
            _ if left_out.contains(&nth) => {}
            (Screen::None, _) => {}
            (Screen::SameAs(same), _) => {
                pile.text +=
                    &format!("The screen after step {number} is the same as after step {same}.\n");
            }
            (Screen::New, None) => {
                pile.text += &format!(
                    "The screen after step {number} is another one, which is not shown.\n"
                );
            }
        }
    }
    pile.text += &format!("There were {} steps.\n", flow.len());
}

/// The indices of the texts that have no place, so that as much is kept of both ends.
fn middle(texts: &[String], most: usize) -> std::ops::Range<usize> {
    let half = most / 2;
    let fits = |lengths: &mut dyn Iterator<Item = usize>| {
        let mut sum = 0;
        lengths
            .take_while(|length| {
                sum += length;
                sum <= half
            })
            .count()
    };
    if texts.iter().map(String::len).sum::<usize>() <= most {
        return 0..0;
    }
    let head = fits(&mut texts.iter().map(String::len));
    let tail = fits(&mut texts.iter().rev().map(String::len));
    head..texts.len() - tail
}

/// Of how a question is put together, beside its words.
pub(super) fn form() -> Digest {
    let sizes = [LONGEST, LONGEST_OURS, LONGEST_FLOW].map(|size| size.to_string());
    let schema = answer::schema().to_string();
    let parts = sizes.iter().chain([&schema]);
    Digest::of_parts(parts.map(String::as_bytes))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_left_out_is_the_middle_and_the_rest_fits(
            lengths in prop::collection::vec(1_usize..50, 1..60), most in 0_usize..800,
        ) {
            let texts: Vec<_> = lengths.iter().map(|length| "x".repeat(*length)).collect();
            let out = middle(&texts, most);
            let kept = texts.iter().enumerate().filter(|(nth, _)| !out.contains(nth));
            prop_assert!(kept.map(|(_, text)| text.len()).sum::<usize>() <= most);
            let all: usize = lengths.iter().sum();
            prop_assert_eq!(out.is_empty(), all <= most);
        }
    }
}
