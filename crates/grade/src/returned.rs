//! The `returned_result` check: the text that the agent gave with `finish`. White space around it
//! never counts, because agents end lines as they like; everything else does.

use agon_core::Fault;
use agon_core::check::TextTest;

use crate::finding::Finding;
use crate::text::{self, Surround};

pub(crate) fn check(tests: &[TextTest], result: Option<&str>) -> Result<Finding, Fault> {
    let finding = text::run(
        tests,
        result.unwrap_or_default().as_bytes(),
        Surround::Ignored,
    )?;
    Ok(match result {
        Some(_) => finding,
        // Also where an empty text would do: no answer is no right answer.
        None => Finding::fail("the agent returned no result"),
    })
}
