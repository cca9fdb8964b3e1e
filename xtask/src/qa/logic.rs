//! Questions whose answer is found by reasoning. Those with clues are searched through, and only drawn when
//! exactly one arrangement fits.

use std::fmt::Write;

use super::Item;
use super::dice::Dice;

/// At most five letters each: a name in a question does not tell the answer by itself.
const PEOPLE: [&str; 12] = [
    "Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gus", "Hana", "Ivo", "June", "Kai", "Lena",
];

/// How many chose none of three things.
pub(super) fn survey(dice: &mut Dice) -> Option<Item> {
    // The seven regions of three circles, and what is outside.
    let regions: Vec<u64> = (0..8).map(|_| dice.number(3, 40)).collect();
    let sum = |mask: usize| -> u64 {
        let inside = |region: &usize| region & mask == mask;
        (0..8).filter(inside).map(|region| regions[region]).sum()
    };
    let things = dice.some(&["chess", "judo", "choir", "rowing", "drama", "pottery"], 3);
    let exactly_two = regions[3] + regions[5] + regions[6];
    let question = format!(
        "Of {} pupils {} take {}, {} take {} and {} take {}. {} take both {} and {}, whatever else they take. {} take all three, and {} take exactly two \
         of the three. How many take none of them?",
        sum(0),
        sum(1),
        things[0],
        sum(2),
        things[1],
        sum(4),
        things[2],
        sum(3),
        things[0],
        things[1],
        regions[7],
        exactly_two
    );
    Some(Item {
        question,
        form: "a whole number, digits only",
        answer: regions[0].to_string(),
    })
}

/// Where a robot ends that repeats a program.
pub(super) fn robot(dice: &mut Dice) -> Option<Item> {
    const AHEAD: [(i64, i64); 4] = [(0, 1), (1, 0), (0, -1), (-1, 0)];
    let mut program = String::new();
    let mut steps = Vec::new();
    for at in 0..dice.number(4, 6) {
        let (walk, right) = (dice.number(1, 9) as i64, dice.index(2) == 0);
        let side = if right { "right" } else { "left" };
        let comma = if at > 0 { ", " } else { "" };
        let _ = write!(program, "{comma}{walk} ahead, turn {side}");
        steps.push((walk, if right { 1 } else { 3 }));
    }
    let times = dice.number(5, 30);
    let (mut x, mut y, mut facing) = (0, 0, 0);
    for _ in 0..times {
        for (walk, turn) in &steps {
            let (dx, dy) = AHEAD[facing];
            (x, y) = (x + walk * dx, y + walk * dy);
            facing = (facing + turn) % 4;
        }
    }
    let question = format!(
        "A robot stands at (0, 0) and looks north, which is the direction of growing y; east is that of growing x. It repeats \
         this program {times} times: {program}. Where does it end?"
    );
    Some(Item {
        question,
        form: "the two numbers x and y with a comma and no blank between them, such as 3,-4",
        answer: format!("{x},{y}"),
    })
}

/// Who stands where.
pub(super) fn queue(dice: &mut Dice) -> Option<Item> {
    let people = dice.some(&PEOPLE, 6);
    let truth = dice.some(&[0_usize, 1, 2, 3, 4, 5], 6);
    // Places by person; a clue is a sentence and what it asks of the places.
    type Clue = (String, Box<dyn Fn(&[usize]) -> bool>);
    let mut clues: Vec<Clue> = Vec::new();
    while clues.len() < 5 {
        let pair = dice.some(&[0_usize, 1, 2, 3, 4, 5], 2);
        let (a, b) = (pair[0], pair[1]);
        let (first, second) = (people[a], people[b]);
        let gap = truth[a].abs_diff(truth[b]);
        let clue: Clue = match dice.index(4) {
            0 if gap > 1 => (
                format!("Exactly {} between {first} and {second}.", persons(gap - 1)),
                Box::new(move |place| place[a].abs_diff(place[b]) == gap),
            ),
            1 if truth[a] < truth[b] => (
                format!("{first} stands somewhere in front of {second}."),
                Box::new(move |place| place[a] < place[b]),
            ),
            2 if gap > 1 => (
                format!("{first} and {second} don't stand next to each other."),
                Box::new(move |place| place[a].abs_diff(place[b]) > 1),
            ),
            3 if gap == 1 => (
                format!("{first} and {second} stand next to each other."),
                Box::new(move |place| place[a].abs_diff(place[b]) == 1),
            ),
            _ => continue,
        };
        clues.push(clue);
    }
    let fits: Vec<Vec<usize>> = arrangements(6)
        .into_iter()
        .filter(|place| clues.iter().all(|(_, holds)| holds(place)))
        .collect();
    let asked = dice.index(6);
    let answer = people[(0..6).find(|person| truth[*person] == asked)?];
    if fits.len() != 1 {
        return None;
    }
    let mut sorted = people.clone();
    sorted.sort_unstable();
    let told: Vec<&str> = clues
        .iter()
        .map(|(sentence, _)| sentence.as_str())
        .collect();
    let question = format!(
        "Six people stand in a queue: {}. {} Who is number {} from the front?",
        listed(&sorted),
        told.join(" "),
        asked + 1
    );
    Some(Item {
        question,
        form: "the name alone",
        answer: answer.to_owned(),
    })
}

/// Who drinks what, and sits where.
pub(super) fn drinks(dice: &mut Dice) -> Option<Item> {
    let people = dice.some(&PEOPLE, 4);
    let drinks = dice.some(&["tea", "cocoa", "milk", "juice", "water", "cider"], 4);
    let (drink, seat) = (
        dice.some(&[0_usize, 1, 2, 3], 4),
        dice.some(&[0_usize, 1, 2, 3], 4),
    );
    type Clue = (String, Box<dyn Fn(&[usize], &[usize]) -> bool>);
    let mut clues: Vec<Clue> = Vec::new();
    while clues.len() < 5 {
        let pair = dice.some(&[0_usize, 1, 2, 3], 2);
        let (a, b) = (pair[0], pair[1]);
        let (first, taken) = (people[a], drink[b]);
        let (cup, own) = (drinks[taken], drink[a]);
        let clue: Clue = match dice.index(4) {
            0 => (
                format!("{first} does not have the {cup}."),
                Box::new(move |drink, _| drink[a] != taken),
            ),
            1 if seat[a] < seat[b] => (
                format!("{first} sits somewhere left of the one with the {cup}."),
                Box::new(move |drink, seat| {
                    (0..4).any(|who| drink[who] == taken && seat[a] < seat[who])
                }),
            ),
            2 if seat[a].abs_diff(seat[b]) == 1 => (
                format!("{first} sits next to the one with the {cup}."),
                Box::new(move |drink, seat| {
                    (0..4).any(|who| drink[who] == taken && seat[a].abs_diff(seat[who]) == 1)
                }),
            ),
            3 if seat[a] == 0 || seat[a] == 3 => (
                format!("The one with the {} sits at an end.", drinks[own]),
                Box::new(move |drink, seat| {
                    (0..4).any(|who| drink[who] == own && (seat[who] == 0 || seat[who] == 3))
                }),
            ),
            _ => continue,
        };
        if clues.iter().all(|(sentence, _)| *sentence != clue.0) {
            clues.push(clue);
        }
    }
    let asked = dice.index(4);
    let mut found: Vec<(usize, usize)> = Vec::new();
    for drink in arrangements(4) {
        for seat in arrangements(4) {
            if clues.iter().all(|(_, holds)| holds(&drink, &seat)) {
                found.push((drink[asked], seat[asked]));
            }
        }
    }
    // Everything that fits agrees about the one who is asked about.
    found.dedup();
    if found != [(drink[asked], seat[asked])] {
        return None;
    }
    let (mut names, mut cups) = (people.clone(), drinks.clone());
    names.sort_unstable();
    cups.sort_unstable();
    let told: Vec<&str> = clues
        .iter()
        .map(|(sentence, _)| sentence.as_str())
        .collect();
    let question = format!(
        "{} sit in a row and each has something else to drink: {}. {} What does {} have, and in which seat from the left?",
        listed(&names),
        listed(&cups),
        told.join(" "),
        people[asked]
    );
    Some(Item {
        question,
        form: "the drink and the number of the seat with one blank between them, such as gin 5",
        answer: format!("{} {}", drinks[drink[asked]], seat[asked] + 1),
    })
}

/// Knights always tell the truth, knaves never.
pub(super) fn knights(dice: &mut Dice) -> Option<Item> {
    const COUNT: usize = 5;
    let mut people = dice.some(&PEOPLE, COUNT);
    people.sort_unstable();
    // One bit per person: set for knights.
    type Claim = (String, Box<dyn Fn(usize) -> bool>);
    let mut claims: Vec<Claim> = Vec::new();
    for speaker in 0..COUNT {
        let others: Vec<usize> = (0..COUNT).filter(|other| *other != speaker).collect();
        let pair = dice.some(&others, 2);
        let (a, b) = (pair[0], pair[1]);
        let (first, second, me) = (people[a], people[b], people[speaker]);
        let is = |who: usize, mask: usize| mask >> who & 1 == 1;
        let count = dice.number(1, 4) as u32;
        claims.push(match dice.index(4) {
            0 => (
                format!("{me} says: \"{first} is a knave.\""),
                Box::new(move |mask| !is(a, mask)),
            ),
            1 => (
                format!("{me} says: \"{first} and {second} are of the same kind.\""),
                Box::new(move |mask| is(a, mask) == is(b, mask)),
            ),
            2 => (
                format!(
                    "{me} says: \"Exactly {} of us five are knights.\"",
                    digit(count)
                ),
                Box::new(move |mask| mask.count_ones() == count),
            ),
            _ => (
                format!("{me} says: \"{first} is a knight, or {second} is a knave, or both.\""),
                Box::new(move |mask| is(a, mask) || !is(b, mask)),
            ),
        });
    }
    let fits = |mask: &usize| {
        let tells_truth =
            |(speaker, (_, holds)): (usize, &Claim)| (mask >> speaker & 1 == 1) == holds(*mask);
        claims.iter().enumerate().all(tells_truth)
    };
    let found: Vec<usize> = (0..1 << COUNT).filter(fits).collect();
    let [mask] = found.as_slice() else {
        return None;
    };
    if !(2..=4).contains(&mask.count_ones()) {
        return None;
    }
    let knights: Vec<&str> = (0..COUNT)
        .filter(|who| mask >> who & 1 == 1)
        .map(|who| people[who])
        .collect();
    let told: Vec<&str> = claims
        .iter()
        .map(|(sentence, _)| sentence.as_str())
        .collect();
    let question = format!(
        "On an island everybody is either a knight, who always tells the truth, or a knave, who never does. You meet {}. {} Who are \
         the knights?",
        listed(&people),
        told.join(" ")
    );
    Some(Item {
        question,
        form: "their names in the order of the alphabet, with one blank between them",
        answer: knights.join(" "),
    })
}

fn digit(count: u32) -> &'static str {
    ["none", "one", "two", "three", "four", "five"][count as usize % 6]
}

fn persons(count: usize) -> &'static str {
    [
        "nobody stands",
        "one person stands",
        "two people stand",
        "three people stand",
        "four people stand",
    ][count % 5]
}

/// `A, B and C`
fn listed(words: &[&str]) -> String {
    match words {
        [some @ .., last] if !some.is_empty() => format!("{} and {last}", some.join(", ")),
        all => all.join(""),
    }
}

/// All orders of the numbers below `count`.
fn arrangements(count: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for _ in 0..count {
        all = all
            .into_iter()
            .flat_map(|taken: Vec<usize>| {
                let free: Vec<usize> = (0..count).filter(|n| !taken.contains(n)).collect();
                free.into_iter().map(move |n| {
                    let mut longer = taken.clone();
                    longer.push(n);
                    longer
                })
            })
            .collect();
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_arrangement_is_there_once() {
        let mut all = arrangements(4);
        assert_eq!(all.len(), 24);
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 24);
    }

    #[test]
    fn lists_read_well() {
        assert_eq!(listed(&["a", "b", "c"]), "a, b and c");
        assert_eq!(listed(&["a"]), "a");
    }
}
