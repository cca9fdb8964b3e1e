//! The `command_output` check: what a command printed, and how it ended, after the agent was cut off.
//! How it was run is the business of [`crate::place`].

use agon_core::Fault;
use agon_core::check::{Stream, TextTest};
use agon_sandbox::{Captured, ExecOutput, Exit};

use crate::finding::{Finding, bad_check};
use crate::printed::{kept, quoted};
use crate::text::{self, Surround};

/// What a command is expected to do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expected<'a> {
    pub stream: Stream,
    pub tests: &'a [TextTest],
    pub exit_status: Option<i32>,
}

impl Expected<'_> {
    /// Before anything runs: a check that could not fail is no check.
    pub(crate) fn must_test_something(&self) -> Result<(), Fault> {
        if self.tests.is_empty() && self.exit_status.is_none() {
            return Err(bad_check(
                "the command's output is not tested: give `equals`, `contains`, `matches`, `json`, \
                 `number` or `exit_status`",
            ));
        }
        Ok(())
    }

    /// Over what a command has printed of which nobody tells how it ended.
    pub(crate) fn judge_text(&self, printed: &Captured) -> Result<Finding, Fault> {
        if self.exit_status.is_some() {
            return Err(bad_check("nobody knows how the command ended"));
        }
        text::run(self.tests, &printed.bytes, Surround::Counts)
    }

    pub(crate) fn judge(&self, output: &ExecOutput) -> Result<Finding, Fault> {
        let finding = self.decide(output)?;
        Ok(Finding {
            reason: format!("{}; {}", finding.reason, ending(output, self.stream)),
            output: Some(kept(output)),
            ..finding
        })
    }

    fn decide(&self, output: &ExecOutput) -> Result<Finding, Fault> {
        // What the agent left behind may hang a command, so this is no fault.
        if output.exit == Exit::TimedOut {
            return Ok(Finding::fail("the command did not end in time"));
        }
        if let Some(status) = self.exit_status
            && output.exit != Exit::Code(status)
        {
            return Ok(Finding::fail(format!("expected exit status {status}")));
        }
        if self.tests.is_empty() {
            return Ok(Finding::pass("ended as expected"));
        }
        let captured = [&output.stdout, &output.stderr];
        let streams = match self.stream {
            Stream::Stdout => &captured[..1],
            Stream::Stderr => &captured[1..],
            Stream::Both => &captured[..],
        };
        let omitted: u64 = streams.iter().map(|stream| stream.omitted).sum();
        // Nobody saw all of it.
        if omitted > 0 {
            return Ok(Finding::fail(format!(
                "the output is too long to be tested: {omitted} bytes of it were not kept"
            )));
        }
        let parts: Vec<&[u8]> = streams.iter().map(|stream| &stream.bytes[..]).collect();
        text::run(self.tests, &parts.concat(), Surround::Counts)
    }
}

/// How a program ended, with what its tests did not show of its streams.
fn ending(output: &ExecOutput, tested: Stream) -> String {
    let mut text = output.exit.to_string();
    let streams = [
        (Stream::Stdout, "stdout", &output.stdout),
        (Stream::Stderr, "stderr", &output.stderr),
    ];
    for (stream, name, captured) in streams {
        if stream != tested || output.exit == Exit::TimedOut {
            text.push_str(&quoted(name, captured));
        }
    }
    text
}
