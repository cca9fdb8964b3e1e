//! Puts the pieces of an answer together: bytes that may break a character in two, and stop words that
//! may come in several pieces. Nothing is shown that may yet turn out to be part of a stop word.

#[derive(Debug)]
pub(crate) struct Scribe {
    stop: Vec<String>,
    /// The end of what came, as long as it is no whole character.
    bytes: Vec<u8>,
    text: String,
    /// Bytes of `text` that have been shown.
    shown: usize,
}

impl Scribe {
    /// `stop` has no empty word.
    pub(crate) fn new(stop: Vec<String>) -> Self {
        Self {
            stop,
            bytes: Vec::new(),
            text: String::new(),
            shown: 0,
        }
    }

    /// Whether a stop word has come: the answer ends before it.
    pub(crate) fn push(&mut self, piece: &[u8]) -> bool {
        self.bytes.extend_from_slice(piece);
        self.take_whole_characters();
        // A stop word may begin in what came before, but not in what was shown.
        let fresh = self.text.get(self.shown..).unwrap_or_default();
        let at = self.stop.iter().filter_map(|word| fresh.find(word)).min();
        if let Some(at) = at {
            self.text.truncate(self.shown + at);
            self.bytes.clear();
        }
        at.is_some()
    }

    fn take_whole_characters(&mut self) {
        loop {
            match std::str::from_utf8(&self.bytes) {
                Ok(text) => {
                    self.text.push_str(text);
                    self.bytes.clear();
                    return;
                }
                Err(error) => {
                    let good = error.valid_up_to();
                    let bad = error.error_len();
                    let whole = String::from_utf8_lossy(self.bytes.get(..good).unwrap_or_default());
                    self.text.push_str(&whole);
                    self.bytes.drain(..good + bad.unwrap_or(0));
                    // What is left may be completed by the next piece.
                    if bad.is_none() {
                        return;
                    }
                    self.text.push(char::REPLACEMENT_CHARACTER);
                }
            }
        }
    }

    /// What can be shown by now.
    pub(crate) fn fresh(&mut self) -> String {
        let safe = self.text.len() - self.held_back();
        self.show(safe)
    }

    /// What is left at the end.
    pub(crate) fn rest(&mut self) -> String {
        let cut = std::mem::take(&mut self.bytes);
        self.text.push_str(&String::from_utf8_lossy(&cut));
        self.show(self.text.len())
    }

    fn show(&mut self, until: usize) -> String {
        let fresh = self
            .text
            .get(self.shown..until)
            .unwrap_or_default()
            .to_owned();
        self.shown += fresh.len();
        fresh
    }

    /// Bytes at the end that are the beginning of a stop word.
    fn held_back(&self) -> usize {
        let begins = |word: &String| {
            (1..word.len())
                .rev()
                .filter(|length| word.is_char_boundary(*length))
                .find(|length| self.text.ends_with(&word[..*length]))
        };
        self.stop.iter().filter_map(begins).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(stop: &[&str], pieces: &[&[u8]]) -> (Vec<String>, bool) {
        let stop = stop.iter().map(|word| (*word).to_owned()).collect();
        let mut scribe = Scribe::new(stop);
        let mut shown = Vec::new();
        for piece in pieces {
            let stopped = scribe.push(piece);
            if stopped {
                shown.push(scribe.rest());
                return (shown, true);
            }
            shown.push(scribe.fresh());
        }
        shown.push(scribe.rest());
        (shown, false)
    }

    #[test]
    fn a_character_in_two_pieces_is_one() {
        let (shown, _) = written(&[], &[b"gr\xc3", b"\xbc\xc3\x9fe"]);
        assert_eq!(shown, ["gr", "üße", ""]);
    }

    #[test]
    fn broken_bytes_are_replaced_and_end() {
        let (shown, _) = written(&[], &[b"a\xffb", b"\xe2\x82"]);
        assert_eq!(shown.concat(), "a\u{fffd}b\u{fffd}");
    }

    #[test]
    fn a_stop_word_in_pieces_is_never_shown() {
        let (shown, stopped) = written(&["\nUser:"], &[b"yes\n", b"Us", b"er: more"]);
        assert_eq!(shown, ["yes", "", ""]);
        assert!(stopped);
        let (shown, stopped) = written(&["\nUser:"], &[b"yes\n", b"Us", b"ual"]);
        assert_eq!(shown.concat(), "yes\nUsual");
        assert!(!stopped);
    }

    #[test]
    fn the_first_of_several_stop_words_counts() {
        let (shown, stopped) = written(&["three", "two"], &[b"one two three"]);
        assert_eq!((shown.concat().as_str(), stopped), ("one ", true));
    }

    proptest! {
        #[test]
        fn however_it_is_cut_the_text_is_the_same(text in "[abñ]{0,40}", cuts in prop::collection::vec(0usize..80, 0..8)) {
            let bytes = text.as_bytes();
            let mut at: Vec<usize> = cuts.into_iter().filter(|cut| *cut <= bytes.len()).collect();
            at.extend([0, bytes.len()]);
            at.sort_unstable();
            let pieces: Vec<&[u8]> = at.windows(2).map(|two| &bytes[two[0]..two[1]]).collect();
            let (shown, stopped) = written(&["aañ"], &pieces);
            let expected = text.split_once("aañ");
            prop_assert_eq!(stopped, expected.is_some());
            prop_assert_eq!(shown.concat(), expected.map_or(text.as_str(), |(before, _)| before));
        }
    }
}
