//! From what recognition gives (how likely each character is, at each step along a line) to text with
//! a confidence for each character.

/// The steps at which nothing new is read.
const BLANK: usize = 0;

/// The characters in the order of the model.
#[derive(Debug)]
pub(super) struct Alphabet {
    characters: Vec<String>,
}

#[derive(Debug, Default, PartialEq)]
pub(super) struct Decoded {
    pub(super) text: String,
    /// One for each character of `text`.
    pub(super) letters: Vec<f32>,
}

impl Alphabet {
    /// From what the model says about itself: a character on each line. Nothing stands before them, a
    /// space after them.
    pub(super) fn parse(text: &str) -> Self {
        let characters = std::iter::once("")
            .chain(text.lines())
            .chain([" "])
            .map(plain)
            .collect();
        Self { characters }
    }

    pub(super) fn len(&self) -> usize {
        self.characters.len()
    }

    /// `steps` are rows with one number per character.
    pub(super) fn decode(&self, steps: &[f32]) -> Decoded {
        let mut decoded = Decoded::default();
        let mut before = BLANK;
        for step in steps.chunks_exact(self.len().max(1)) {
            let (best, sure) = most(step);
            let repeated = best == before;
            before = best;
            if best == BLANK {
                continue;
            }
            if repeated {
                // The same character, seen longer: as sure as at its surest.
                if let Some(last) = decoded.letters.last_mut() {
                    *last = last.max(sure);
                }
                continue;
            }
            let text = self.characters.get(best).map_or("", String::as_str);
            decoded.text.push_str(text);
            decoded
                .letters
                .extend(std::iter::repeat_n(sure, text.chars().count()));
        }
        decoded.trimmed()
    }
}

impl Decoded {
    fn trimmed(self) -> Self {
        let before = self.text.len() - self.text.trim_start().len();
        let skipped = self.text[..before].chars().count();
        let text = self.text.trim().to_owned();
        let kept = text.chars().count();
        let letters = self.letters.into_iter().skip(skipped).take(kept).collect();
        Self { text, letters }
    }

    /// The mean of its characters; nothing read is not sure at all.
    pub(super) fn confidence(&self) -> f64 {
        let sum: f64 = self.letters.iter().copied().map(f64::from).sum();
        sum / (self.letters.len().max(1)) as f64
    }
}

/// The likeliest, and how likely it is.
fn most(step: &[f32]) -> (usize, f32) {
    let mut best = (BLANK, f32::MIN);
    for (at, &value) in step.iter().enumerate() {
        if value > best.1 {
            best = (at, value);
        }
    }
    (best.0, best.1.clamp(0.0, 1.0))
}

/// Wide forms of Latin characters mean the same on a screen.
fn plain(character: &str) -> String {
    character
        .chars()
        .map(|c| match c {
            '\u{ff01}'..='\u{ff5e}' => char::from_u32(c as u32 - 0xfee0).unwrap_or(c),
            '\u{3000}' => ' ',
            c => c,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Nothing, `a`, `b`, `:` (wide), space.
    fn alphabet() -> Alphabet {
        Alphabet::parse("a\nb\n：\n")
    }

    fn steps(characters: &[(usize, f32)]) -> Vec<f32> {
        characters
            .iter()
            .flat_map(|&(which, sure)| {
                let mut step = vec![(1.0 - sure) / 4.0; 5];
                step[which] = sure;
                step
            })
            .collect()
    }

    #[test]
    fn repeats_are_one_character_unless_a_blank_stands_between() {
        let decoded = alphabet().decode(&steps(&[
            (4, 0.9),
            (1, 0.5),
            (1, 0.75),
            (0, 0.9),
            (1, 1.0),
            (3, 1.0),
            (4, 0.9),
            (2, 1.0),
            (4, 0.8),
        ]));
        assert_eq!(decoded.text, "aa: b");
        assert_eq!(decoded.letters, [0.75, 1.0, 1.0, 0.9, 1.0]);
        assert!((decoded.confidence() - 0.93).abs() < 1e-6);
    }

    #[test]
    fn nothing_read_is_not_sure() {
        assert_eq!(alphabet().decode(&[]).confidence(), 0.0);
    }

    proptest! {
        #[test]
        fn whatever_comes_each_character_has_its_confidence(
            steps in prop::collection::vec(any::<f32>(), 0..100),
        ) {
            let decoded = alphabet().decode(&steps);
            prop_assert_eq!(decoded.text.chars().count(), decoded.letters.len());
            prop_assert!((0.0..=1.0).contains(&decoded.confidence()));
        }
    }
}
