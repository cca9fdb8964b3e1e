//! What a judge is asked, and what it is shown. Knows no model.

use agon_core::RanCommand;
use agon_core::check::ProseSubject;

use crate::flow::{FlowStep, PictureSource};

/// One prose check of a trial.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    pub instruction: &'a str,
    pub subject: &'a ProseSubject,
    /// The check's prose.
    pub value: &'a str,
    pub shown: Shown<'a>,
}

/// The evidence, as far as there is any.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'a> {
    /// The agent's answer.
    pub result: Option<&'a str>,
    /// The last screen, as PNG.
    pub last: Option<&'a [u8]>,
    pub flow: &'a [FlowStep],
    pub pictures: &'a dyn PictureSource,
    /// For `command_output`.
    pub ran: Option<&'a RanCommand>,
}
