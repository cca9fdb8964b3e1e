//! What can be said without a model about whether a reply holds to its facts. Flags only what is wrong for
//! certain; the rest is for the judge.

use std::collections::BTreeSet;

/// Shorter numbers are said for many reasons.
const FEWEST_DIGITS: usize = 4;

/// Whoever says one of these has dropped the part.
const GIVEAWAYS: [&str; 7] = [
    "as an ai",
    "i am an ai",
    "i'm an ai",
    "as a language model",
    "large language model",
    "simulated user",
    "system prompt",
];

/// A number that was got wrong: as it was said, and as it is known.
pub(super) struct Twisted {
    pub(super) said: String,
    pub(super) known: String,
}

/// Finds a number in a reply that occurs nowhere in what the person was told or heard, and differs from one
/// of the facts' by a single slip: a digit changed, or two neighbours swapped. One of another length may
/// be the same number rounded, and another year is mostly just another year.
pub(super) fn twisted<'a>(
    reply: &str,
    facts: impl IntoIterator<Item = &'a str>,
    heard: impl IntoIterator<Item = &'a str>,
) -> Option<Twisted> {
    let facts: BTreeSet<String> = facts.into_iter().flat_map(numbers).collect();
    let mut others = numbers(reply);
    others.retain(|said| is_telling(said) && !facts.contains(said));
    if others.is_empty() {
        return None;
    }
    let heard: BTreeSet<String> = heard.into_iter().flat_map(numbers).collect();
    others.retain(|said| !heard.contains(said));
    others.into_iter().find_map(|said| {
        let known = facts.iter().find(|known| one_slip(&said, known))?.clone();
        Some(Twisted { said, known })
    })
}

/// Words of a reply by which the person behind it shows, unless the person was told or heard them.
pub(super) fn giveaway<'a>(
    reply: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'static str> {
    let reply = reply.to_lowercase().replace('’', "'");
    let found = GIVEAWAYS.into_iter().find(|words| reply.contains(words))?;
    let mut known = known.into_iter();
    let told = known.any(|text| text.to_lowercase().contains(found));
    (!told).then_some(found)
}

/// All numbers of a text, as digits only: a dot or comma between digits may part thousands.
fn numbers(text: &str) -> Vec<String> {
    let mut numbers = Vec::new();
    let mut number = String::new();
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let goes_on = rest.peek().is_some_and(char::is_ascii_digit);
        if c.is_ascii_digit() {
            number.push(c);
        } else if !(number.is_empty() || matches!(c, '.' | ',') && goes_on) {
            numbers.push(std::mem::take(&mut number));
        }
    }
    if !number.is_empty() {
        numbers.push(number);
    }
    numbers
}

fn is_telling(number: &str) -> bool {
    let is_year = number.len() == 4 && (number.starts_with("19") || number.starts_with("20"));
    number.len() >= FEWEST_DIGITS && !is_year
}

/// Whether one slip of the pen makes one of the other.
fn one_slip(a: &str, b: &str) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let pairs = || a.bytes().zip(b.bytes());
    let differ: Vec<(usize, (u8, u8))> = pairs().enumerate().filter(|(_, (x, y))| x != y).collect();
    match differ.as_slice() {
        [_] => true,
        [(i, (x, y)), (j, (v, w))] => i + 1 == *j && x == w && y == v,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn wrong(reply: &str, facts: &[&str], heard: &[&str]) -> Option<(String, String)> {
        let found = twisted(reply, facts.iter().copied(), heard.iter().copied());
        found.map(|found| (found.said, found.known))
    }

    #[test]
    fn a_number_with_a_slip_is_found() {
        let facts = ["The order number is 48213.", "It cost 12,500 yen."];
        for said in ["48231", "48223", "12,600", "12550"] {
            assert!(
                wrong(&format!("It is {said}."), &facts, &[]).is_some(),
                "{said}"
            );
        }
    }

    #[test]
    fn what_is_no_slip_is_left_to_the_judge() {
        let facts = [
            "The order number is 48213.",
            "I am 42.",
            "Since 2023: 3.14159",
        ];
        for (reply, heard) in [
            ("It is 48213.", vec![]),
            ("48,213, as I said", vec![]),
            ("I am 43", vec![]),
            ("48213 0", vec![]),
            ("It was 3.142", vec![]),
            ("In 2024", vec![]),
            ("99999 times!", vec![]),
            ("No, not 48231!", vec!["Is it 48231?"]),
        ] {
            assert_eq!(wrong(reply, &facts, &heard), None, "{reply}");
        }
    }

    #[test]
    fn who_speaks_of_being_a_model_has_dropped_the_part() {
        assert!(giveaway("Well, as an AI I can't.", ["a plumber"]).is_some());
        assert!(giveaway("I’m an AI, sorry", []).is_some());
        assert!(giveaway("No, I am no robot.", []).is_none());
        let expert = ["You are a teacher of how a large language model works."];
        assert!(giveaway("My large language model is broken", expert).is_none());
    }

    proptest! {
        #[test]
        fn what_the_facts_say_is_never_wrong(fact in any::<String>(), number in any::<u64>()) {
            let fact = format!("{fact} {number}");
            prop_assert_eq!(wrong(&fact, &[&fact], &[]), None);
            prop_assert_eq!(wrong(&number.to_string(), &[&fact], &[]), None);
        }

        #[test]
        fn one_changed_digit_is_always_found(number in 10_000_u64..10_000_000, at in 0_usize..4) {
            let known = number.to_string();
            let mut said = known.clone().into_bytes();
            said[at] = if said[at] == b'9' { b'1' } else { said[at] + 1 };
            let said = String::from_utf8(said).unwrap();
            prop_assert_eq!(wrong(&said, &[&known], &[]), Some((said, known)));
        }
    }
}
