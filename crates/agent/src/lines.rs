//! A conversation in lines over any pair of streams. Nothing here grows with what the other side
//! does: a line has a longest length, and what it does not read is kept up to a bound. Dropping a
//! future of this file loses nothing, so a deadline around it is safe.

use std::fmt;
use std::mem;
use std::time::Duration;

use agon_sandbox::contract::{Reader, Writer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

use crate::contract::AgentError;
use crate::wire::{self, MAX_ANSWER, Message};

/// How much may lie unread by the agent before the next message.
const MAX_UNREAD: usize = 8 << 20;
const CHUNK: usize = 16 << 10;

pub(crate) struct Conversation {
    writer: Writer,
    lines: Lines,
    unread: Unread,
}

impl Conversation {
    pub(crate) fn new(writer: Writer, reader: Reader) -> Self {
        Self {
            writer,
            lines: Lines::new(reader, MAX_ANSWER),
            unread: Unread::default(),
        }
    }

    /// Takes a message to be sent while waiting for the next answer.
    pub(crate) fn queue(&mut self, message: &Message<'_>) -> Result<(), AgentError> {
        if self.unread.rest().len() > MAX_UNREAD {
            return Err(AgentError::Garbage(
                "it answers without reading what it is sent".to_owned(),
            ));
        }
        self.unread.queue(message)
    }

    /// Sends what is queued and waits for one line. Both at once: an agent that writes before it
    /// reads must not block us, nor we it. `None`: its output is closed.
    pub(crate) async fn answer(&mut self) -> Result<Option<Vec<u8>>, AgentError> {
        let Self {
            writer,
            lines,
            unread,
        } = self;
        loop {
            tokio::select! {
                biased;
                written = writer.write(unread.rest()), if !unread.rest().is_empty() => {
                    unread.take_off(written);
                }
                line = lines.next() => return line,
            }
        }
    }

    /// Sends what is queued and closes the agent's input, as far as it goes within the deadline.
    pub(crate) async fn close(&mut self, deadline: Duration) {
        let Self { writer, unread, .. } = self;
        let send = async {
            while !unread.rest().is_empty() {
                let written = writer.write(unread.rest()).await;
                unread.take_off(written);
            }
        };
        // Whoever does not read in time never gets the rest.
        let _ = timeout(deadline, send).await;
        self.writer = Box::new(tokio::io::sink());
    }
}

/// What was queued and not yet taken by the agent. A message with a picture leaves in many pieces,
/// so the rest is not moved up for each of them.
#[derive(Default)]
struct Unread {
    bytes: Vec<u8>,
    taken: usize,
}

impl Unread {
    fn rest(&self) -> &[u8] {
        &self.bytes[self.taken..]
    }

    fn queue(&mut self, message: &Message<'_>) -> Result<(), AgentError> {
        self.bytes.drain(..self.taken);
        self.taken = 0;
        message.append_to(&mut self.bytes)?;
        self.bytes.push(b'\n');
        Ok(())
    }

    /// An agent whose input is closed may still answer; there is only nothing more to send.
    fn take_off(&mut self, written: std::io::Result<usize>) {
        match written {
            Ok(count) if count > 0 && count < self.rest().len() => self.taken += count,
            _ => *self = Self::default(),
        }
    }
}

impl fmt::Debug for Conversation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Conversation({} bytes unread)", self.unread.rest().len())
    }
}

struct Lines {
    source: Reader,
    limit: usize,
    buffer: Vec<u8>,
    /// Bytes of the buffer known to hold no line end.
    scanned: usize,
}

impl Lines {
    fn new(source: Reader, limit: usize) -> Self {
        Self {
            source,
            limit,
            buffer: Vec::new(),
            scanned: 0,
        }
    }

    /// The next line that is not blank, without its end. The last one may lack a line end.
    async fn next(&mut self) -> Result<Option<Vec<u8>>, AgentError> {
        loop {
            if let Some(line) = self.take_line() {
                if line.len() > self.limit {
                    return Err(wire::too_long());
                }
                if !line.trim_ascii().is_empty() {
                    return Ok(Some(line));
                }
                continue;
            }
            if self.buffer.len() > self.limit {
                return Err(wire::too_long());
            }
            self.buffer.reserve(CHUNK);
            // A stream that fails has nothing more to say, as one that ends.
            if self.source.read_buf(&mut self.buffer).await.unwrap_or(0) == 0 {
                self.scanned = 0;
                let last = mem::take(&mut self.buffer);
                return Ok((!last.trim_ascii().is_empty()).then_some(last));
            }
        }
    }

    fn take_line(&mut self) -> Option<Vec<u8>> {
        let fresh = &self.buffer[self.scanned..];
        let Some(end) = fresh.iter().position(|byte| *byte == b'\n') else {
            self.scanned = self.buffer.len();
            return None;
        };
        let rest = self.buffer.split_off(self.scanned + end + 1);
        let mut line = mem::replace(&mut self.buffer, rest);
        line.pop();
        self.scanned = 0;
        Some(line)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

    use super::*;

    fn conversation(buffer: usize) -> (Conversation, DuplexStream, DuplexStream) {
        let (ours, its_input) = duplex(buffer);
        let (its_output, from) = duplex(buffer);
        let conversation = Conversation::new(Box::new(ours), Box::new(from));
        (conversation, its_input, its_output)
    }

    #[tokio::test]
    async fn a_message_goes_out_and_a_line_comes_back() {
        let (mut ours, mut input, mut output) = conversation(8);
        let message = Message::End { trial: "t" };
        ours.queue(&message).unwrap();
        let agent = tokio::spawn(async move {
            let mut seen = vec![0; 27];
            input.read_exact(&mut seen).await.unwrap();
            output.write_all(b"\n  \n{\"a\":1}\nrest").await.unwrap();
            String::from_utf8(seen).unwrap()
        });
        assert_eq!(ours.answer().await.unwrap().unwrap(), b"{\"a\":1}");
        assert_eq!(ours.answer().await.unwrap().unwrap(), b"rest");
        assert_eq!(ours.answer().await.unwrap(), None);
        assert_eq!(agent.await.unwrap(), "{\"type\":\"end\",\"trial\":\"t\"}\n");
    }

    #[tokio::test]
    async fn an_agent_that_never_reads_is_heard_until_too_much_lies_unread() {
        let (mut ours, _input, mut output) = conversation(4096);
        let trial = "x".repeat(MAX_UNREAD / 10);
        let message = Message::End { trial: &trial };
        let mut heard = 0;
        let error = loop {
            if let Err(error) = ours.queue(&message) {
                break error;
            }
            output.write_all(b"{}\n").await.unwrap();
            assert_eq!(ours.answer().await.unwrap().unwrap(), b"{}");
            heard += 1;
        };
        assert!(matches!(error, AgentError::Garbage(_)));
        assert!((5..20).contains(&heard), "{heard}");
    }

    #[tokio::test]
    async fn a_line_that_never_ends_is_given_up_at_the_limit() {
        let mut lines = Lines::new(Box::new(tokio::io::repeat(b'x')), 1000);
        assert!(matches!(lines.next().await, Err(AgentError::Garbage(_))));
        assert!(lines.buffer.capacity() < 1000 + 2 * CHUNK);
    }

    #[tokio::test]
    async fn closing_gives_up_on_an_agent_that_does_not_read() {
        let (mut ours, mut input, _output) = conversation(4);
        ours.queue(&Message::End { trial: "t" }).unwrap();
        ours.close(Duration::from_millis(10)).await;
        let mut seen = Vec::new();
        input.read_to_end(&mut seen).await.unwrap();
        assert_eq!(seen, b"{\"ty");
    }

    proptest! {
        #[test]
        fn lines_come_out_as_they_went_in(
            lines in prop::collection::vec("[a-z]{1,40}", 0..20),
            piece in 1usize..50,
        ) {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let out = runtime.block_on(async {
                let (mut to, from) = duplex(piece);
                let text = lines.join("\n");
                let feed = async move {
                    to.write_all(text.as_bytes()).await.unwrap();
                };
                let mut reader = Lines::new(Box::new(from), 40);
                let drain = async {
                    let mut out = Vec::new();
                    while let Some(line) = reader.next().await.unwrap() {
                        out.push(String::from_utf8(line).unwrap());
                    }
                    out
                };
                tokio::join!(feed, drain).1
            });
            prop_assert_eq!(out, lines);
        }
    }
}
