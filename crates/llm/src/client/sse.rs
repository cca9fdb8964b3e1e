//! Server-sent events, from bytes that come in any pieces. Lines and events are bounded; nothing is known
//! of what the events say.

/// What cannot be read: the stream is given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooLong;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Event {
    Message {
        name: Option<String>,
        data: String,
    },
    /// A sign of life, and nothing more.
    Comment,
}

#[derive(Debug)]
pub(super) struct Events {
    /// The bytes of a line that has not ended yet.
    line: Vec<u8>,
    name: Option<String>,
    data: Option<String>,
    /// The last byte was a carriage return: a line feed that follows belongs to it.
    after_return: bool,
    begun: bool,
    longest: usize,
}

impl Events {
    /// No event, and no line, may have more bytes than `longest`.
    pub(super) fn new(longest: usize) -> Self {
        Self {
            line: Vec::new(),
            name: None,
            data: None,
            after_return: false,
            begun: false,
            longest,
        }
    }

    /// Takes what has come and gives the events that it completes. An event that has no end yet when the
    /// stream ends is no event.
    pub(super) fn push(&mut self, mut bytes: &[u8], into: &mut Vec<Event>) -> Result<(), TooLong> {
        while let Some(first) = bytes.first() {
            if std::mem::take(&mut self.after_return) && *first == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let (part, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
            if self.line.len() + part.len() > self.longest {
                return Err(TooLong);
            }
            self.line.extend_from_slice(part);
            bytes = rest;
            if let Some((mark, rest)) = rest.split_first() {
                self.after_return = *mark == b'\r';
                bytes = rest;
                self.end_line(into)?;
            }
        }
        Ok(())
    }

    fn end_line(&mut self, into: &mut Vec<Event>) -> Result<(), TooLong> {
        let line = std::mem::take(&mut self.line);
        let mut text = line.as_slice();
        if !std::mem::replace(&mut self.begun, true) {
            text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        }
        if text.is_empty() {
            let name = self.name.take();
            if let Some(data) = self.data.take() {
                into.push(Event::Message { name, data });
            }
        } else if text[0] == b':' {
            into.push(Event::Comment);
        } else {
            self.field(text)?;
        }
        // Its room is kept for the next line, but not that of an uncommonly long one.
        if line.capacity() <= 64 << 10 {
            self.line = line;
            self.line.clear();
        }
        Ok(())
    }

    fn field(&mut self, line: &[u8]) -> Result<(), TooLong> {
        let colon = line.iter().position(|byte| *byte == b':');
        let (name, value) = line.split_at(colon.unwrap_or(line.len()));
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        let text = String::from_utf8_lossy(value);
        match name {
            b"event" => self.name = Some(text.into_owned()).filter(|name| !name.is_empty()),
            b"data" => match &mut self.data {
                None => self.data = Some(text.into_owned()),
                Some(data) if data.len() + text.len() < self.longest => {
                    data.push('\n');
                    data.push_str(&text);
                }
                Some(_) => return Err(TooLong),
            },
            // `id` and `retry` are for clients that come back, which a model's answer does not allow.
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(pieces: &[&[u8]]) -> Result<Vec<Event>, TooLong> {
        let mut events = Events::new(1 << 16);
        let mut all = Vec::new();
        for piece in pieces {
            events.push(piece, &mut all)?;
        }
        Ok(all)
    }

    fn message(name: Option<&str>, data: &str) -> Event {
        Event::Message {
            name: name.map(str::to_owned),
            data: data.to_owned(),
        }
    }

    #[test]
    fn fields_comments_and_ends_of_line() {
        let text = b"\xef\xbb\xbfevent: a\ndata: one\ndata:two\r\n\r\n: ping\rdata\r\rid: 4\n\ndata: cut\n";
        let want = [
            message(Some("a"), "one\ntwo"),
            Event::Comment,
            message(None, ""),
        ];
        assert_eq!(read(&[text]).unwrap(), want);
    }

    #[test]
    fn an_event_without_an_end_is_none() {
        assert_eq!(read(&[b"data: x\n"]).unwrap(), []);
    }

    #[test]
    fn lines_and_events_are_bounded() {
        let mut events = Events::new(10);
        let mut all = Vec::new();
        assert_eq!(events.push(b"data: 12345", &mut all), Err(TooLong));
        let mut events = Events::new(10);
        let lines = events.push(b"data: 1234\ndata: 5678\ndata: 9\n\n", &mut all);
        assert_eq!(lines, Err(TooLong));
    }

    proptest! {
        #[test]
        fn pieces_make_no_difference(
            text in "(data: ?[a-zé]{0,6}|event: [a-z]{0,4}|: x|id: 1|[a-z]{0,3}|)((\r\n|\n|\r)|(\n\n|\r\r|\r\n\r\n))",
            times in 1usize..6,
            cuts in proptest::collection::vec(0usize..400, 0..12),
        ) {
            let bytes = text.repeat(times).into_bytes();
            let whole = read(&[&bytes]).unwrap();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|at| at % (bytes.len() + 1)).collect();
            cuts.push(0);
            cuts.push(bytes.len());
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|two| &bytes[two[0]..two[1]]).collect();
            prop_assert_eq!(read(&pieces).unwrap(), whole);
        }

        #[test]
        fn no_bytes_break_it(bytes in proptest::collection::vec(any::<u8>(), 0..400), step in 1usize..9) {
            let mut events = Events::new(100);
            let mut all = Vec::new();
            let whole = Events::new(100).push(&bytes, &mut Vec::new());
            let pieces = bytes.chunks(step).try_for_each(|piece| events.push(piece, &mut all));
            prop_assert_eq!(pieces, whole);
            let data = |event: &Event| match event {
                Event::Message { data, .. } => data.len(),
                Event::Comment => 0,
            };
            // A broken byte becomes a mark of three.
            prop_assert!(all.iter().all(|event| data(event) <= 300));
        }
    }
}
