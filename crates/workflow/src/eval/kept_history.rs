//! The history of an imported row as it was. Its record has no place for everything that stands in one, such
//! as the system's message, and an export must not lose that.

use std::io;

use agon_core::EventBody;
use agon_store::RunWriter;
use serde_json::Value;

use super::kept_row::store;
use crate::dialect::{LONGEST_KEPT, Record};
use crate::events::History;

const HISTORY: &str = "history";

/// Bytes after which a blob is full; one event alone may be longer.
const PIECE: usize = 4 << 20;

/// As blobs of the run, in pieces; the events that lead to them are returned, and a note of what is too long.
pub(super) fn keep(items: &[Value], writer: &RunWriter) -> io::Result<Vec<EventBody>> {
    keep_within(items, writer, PIECE, LONGEST_KEPT)
}

fn keep_within(
    items: &[Value],
    writer: &RunWriter,
    full: usize,
    longest: u64,
) -> io::Result<Vec<EventBody>> {
    let mut events = Vec::new();
    let (mut piece, mut too_long) = (Vec::new(), 0);
    let mut put = |piece: &mut Vec<u8>| -> io::Result<()> {
        piece.push(b']');
        match store(writer, HISTORY, piece, longest)? {
            Some(kept) => events.push(kept),
            None => too_long += 1,
        }
        piece.clear();
        Ok(())
    };
    for item in items {
        let text = serde_json::to_vec(item)?;
        // A long one stands alone, so that nothing else is lost with it.
        if !piece.is_empty() && piece.len() + text.len() > full {
            put(&mut piece)?;
        }
        piece.push(if piece.is_empty() { b'[' } else { b',' });
        piece.extend(text);
    }
    if !piece.is_empty() {
        put(&mut piece)?;
    }
    if too_long > 0 {
        events.push(EventBody::Note(format!(
            "{too_long} of {} events of the imported history are not kept as they were: each is over \
             {longest} bytes",
            items.len()
        )));
    }
    Ok(events)
}

/// That of a record; `None` if it was not imported.
pub(super) fn of(record: &Record<'_>) -> Option<History> {
    let mut items: Option<Vec<Value>> = None;
    for event in record.events {
        if let EventBody::Kept(kept) = &event.body
            && kept.what == HISTORY
        {
            let piece: Vec<Value> = serde_json::from_slice(&record.bodies.kept(kept)?).ok()?;
            items.get_or_insert_default().extend(piece);
        }
    }
    History::from_json(items?).ok()
}

#[cfg(test)]
mod tests {
    use agon_core::Source;
    use agon_store::RunFolder;
    use serde_json::json;

    use super::*;
    use crate::dialect::tests::{record_of, recorded};

    #[test]
    fn a_long_history_is_in_pieces_and_what_is_too_long_is_told() {
        let root = tempfile::tempdir().unwrap();
        let folder = RunFolder::at(root.path());
        let writer = RunWriter::open(&folder).unwrap();
        let said = |id: u64, bytes: usize| {
            json!({ "id": id, "source": "user", "action": "message",
                "args": { "content": "x".repeat(bytes) } })
        };
        let items = [
            said(0, 50),
            said(1, 50),
            said(2, 900),
            said(3, 1),
            said(4, 1),
        ];
        let kept = keep_within(&items, &writer, 300, 800).unwrap();
        let notes: Vec<&str> = kept
            .iter()
            .filter_map(|body| match body {
                EventBody::Note(note) => Some(&**note),
                _ => None,
            })
            .collect();
        assert_eq!((kept.len(), notes.len()), (3, 1), "{kept:?}");
        assert!(notes[0].starts_with("1 of 5 events"), "{notes:?}");
        let bodies = kept.into_iter().map(|body| (Source::Harness, None, body));
        let events = record_of(bodies.collect());
        let record = Record {
            bodies: &folder,
            ..recorded(&events)
        };
        let back = of(&record).unwrap().into_flat();
        let ids: Vec<_> = back.iter().filter_map(|event| event.id).collect();
        assert_eq!(ids, [0, 1, 3, 4]);
        let none = record_of(Vec::new());
        assert_eq!(of(&recorded(&none)), None);
    }
}
