//! Where a word stands in a line, although reading may have taken its letters for others.

/// The places of a word's characters in a line, and what finding it is worth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Spot {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) trust: f64,
}

const MISREAD: f64 = 0.9;

/// All places, the surest first. Case doesn't matter.
pub(super) fn spots(line: &[char], word: &str) -> Vec<Spot> {
    let word: Vec<char> = word.trim().chars().collect();
    if word.is_empty() || word.len() > line.len() {
        return Vec::new();
    }
    let mut spots: Vec<Spot> = (0..=line.len() - word.len())
        .filter(|&start| stands_alone(line, start, start + word.len()))
        .filter_map(|start| {
            let there = &line[start..start + word.len()];
            let same =
                |fold: fn(char) -> char| there.iter().zip(&word).all(|(a, b)| fold(*a) == fold(*b));
            let trust = if same(upper) {
                1.0
            } else if same(shape) {
                MISREAD
            } else {
                return None;
            };
            Some(Spot {
                start,
                end: start + word.len(),
                trust,
            })
        })
        .collect();
    spots.sort_by(|a, b| b.trust.total_cmp(&a.trust));
    spots
}

/// Not a part of a longer word. A digit may follow at once: reading loses spaces.
fn stands_alone(line: &[char], start: usize, end: usize) -> bool {
    let before = start.checked_sub(1).and_then(|at| line.get(at));
    let after = line.get(end);
    before.is_none_or(|c| !c.is_alphanumeric()) && after.is_none_or(|c| !c.is_alphabetic())
}

fn upper(c: char) -> char {
    c.to_uppercase().next().unwrap_or(c)
}

/// The same for characters that look alike.
fn shape(c: char) -> char {
    match upper(c) {
        '0' | 'Q' | 'Ò' | 'Ó' | 'Ô' | 'Ö' | 'Õ' => 'O',
        '1' | 'I' | '|' | '!' => 'L',
        '5' | '$' => 'S',
        '8' => 'B',
        '2' => 'Z',
        'À' | 'Á' | 'Â' | 'Ä' | 'Ã' | 'Å' => 'A',
        'È' | 'É' | 'Ê' | 'Ë' => 'E',
        'Ù' | 'Ú' | 'Û' | 'Ü' => 'U',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(line: &str, word: &str) -> Vec<(usize, f64)> {
        let line: Vec<char> = line.chars().collect();
        let spots = spots(&line, word);
        spots.iter().map(|spot| (spot.start, spot.trust)).collect()
    }

    #[test]
    fn words_are_found_whole() {
        assert_eq!(found("LAST 12", "last"), [(0, 1.0)]);
        assert_eq!(found("the LAST12", "Last"), [(4, 1.0)]);
        assert!(found("BLAST LASTING", "last").is_empty());
        assert!(found("anything", "").is_empty());
        assert!(found("a", "longer").is_empty());
    }

    #[test]
    fn misread_words_are_found_and_trusted_less() {
        assert_eq!(found("SC0RE LA5T BÉST", "last"), [(6, MISREAD)]);
        assert_eq!(found("SC0RE", "score"), [(0, MISREAD)]);
        assert_eq!(found("5C0RE SCORE", "score"), [(6, 1.0), (0, MISREAD)]);
    }
}
