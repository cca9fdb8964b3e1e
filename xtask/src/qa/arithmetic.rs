//! Questions whose answer is worked out with numbers.

use super::Item;
use super::dice::Dice;

const WHOLE: &str = "a whole number, digits only";

/// Prices, a discount on a part of them, and money given.
pub(super) fn change(dice: &mut Dice) -> Option<Item> {
    let goods = dice.some(
        &[
            "notebooks",
            "pens",
            "folders",
            "rulers",
            "envelopes",
            "stamps",
        ],
        3,
    );
    let counts: Vec<u64> = (0..3).map(|_| dice.number(2, 9)).collect();
    let prices: Vec<u64> = (0..3).map(|_| 20 * dice.number(4, 30)).collect();
    let off = 5 * dice.number(1, 8);
    let parts: Vec<u64> = counts.iter().zip(&prices).map(|(n, p)| n * p).collect();
    let discount = parts[0] * off / 100;
    if !(parts[0] * off).is_multiple_of(100) {
        return None;
    }
    let total = parts.iter().sum::<u64>() - discount;
    let given = total.div_ceil(2000) * 2000;
    let question = format!(
        "Mira buys {} {} at {} cents each, {} {} at {} cents each and {} {} at {} cents each. On the {} there is a discount \
         of {off} percent, on the rest there is none. She pays with {} cents. How many cents does she get back?",
        counts[0],
        goods[0],
        prices[0],
        counts[1],
        goods[1],
        prices[1],
        counts[2],
        goods[2],
        prices[2],
        goods[0],
        given
    );
    whole(question, given - total)
}

/// Two pumps and a leak.
pub(super) fn rates(dice: &mut Dice) -> Option<Item> {
    let (first, second, leak) = (dice.number(6, 30), dice.number(6, 30), dice.number(20, 90));
    let (size, late) = (60 * dice.number(10, 40), dice.number(5, 25));
    // Litres per minute, all as fractions of the size: an answer only if the minutes are whole.
    let (first_rate, second_rate) = (size / first, size / second);
    if size % first != 0 || size % second != 0 || size % leak != 0 || first == second {
        return None;
    }
    let leak_rate = size / leak;
    let before = late * first_rate;
    if before >= size || leak_rate >= first_rate + second_rate {
        return None;
    }
    let rate = first_rate + second_rate - leak_rate;
    if !(size - before).is_multiple_of(rate) {
        return None;
    }
    let question = format!(
        "A tank holds {size} litres and is empty. One pump alone fills it in {first} minutes, another one alone in {second} \
         minutes. The first pump starts now, the second one {late} minutes later. At that very moment a hole opens through which a \
         full tank would run empty in {leak} minutes, at a steady rate; the first pump keeps running. After how many minutes from \
         now is the tank full?"
    );
    whole(question, late + (size - before) / rate)
}

/// Numbers of a range that some divisors divide and another does not.
pub(super) fn multiples(dice: &mut Dice) -> Option<Item> {
    let divisors = dice.some(&[3_u64, 4, 5, 6, 7, 8, 9, 10, 11, 12], 3);
    let (a, b, c) = (divisors[0], divisors[1], divisors[2]);
    let least = dice.number(50, 300);
    let most = least + dice.number(300, 900);
    let count = (least..=most)
        .filter(|n| (n % a == 0 || n % b == 0) && n % c != 0)
        .count();
    let question = format!(
        "How many whole numbers from {least} to {most}, both included, are divisible by {a} or by {b} (or by both), but not by {c}?"
    );
    whole(question, count as u64)
}

/// A sum of numbers that are written in different bases.
pub(super) fn bases(dice: &mut Dice) -> Option<Item> {
    let bases = dice.some(&[3_u64, 4, 5, 6, 7, 8, 9], 3);
    let (x, y) = (dice.number(200, 3000), dice.number(200, 3000));
    let question = format!(
        "Add {} (written in base {}) and {} (written in base {}). What is the sum, written in base {}?",
        written(x, bases[0]),
        bases[0],
        written(y, bases[1]),
        bases[1],
        bases[2]
    );
    Some(Item {
        question,
        form: "the digits alone, without the base",
        answer: written(x + y, bases[2]),
    })
}

fn written(mut number: u64, base: u64) -> String {
    let mut digits = Vec::new();
    while number > 0 {
        digits.push(char::from(b'0' + (number % base) as u8));
        number /= base;
    }
    digits.iter().rev().collect()
}

/// A day of the week, some days ago and some days from now.
pub(super) fn weekday(dice: &mut Dice) -> Option<Item> {
    const DAYS: [&str; 7] = [
        "Monday",
        "Tuesday",
        "Wednesday",
        "Thursday",
        "Friday",
        "Saturday",
        "Sunday",
    ];
    let today = dice.index(7);
    let (back, on) = (dice.number(100, 400), dice.number(500, 3000));
    let weeks = dice.number(3, 60);
    let question = format!(
        "It was a {} {back} days before Noor's exam. She got the result {on} days after the exam plus another {weeks} weeks. On which \
         day of the week did she get it?",
        DAYS[today]
    );
    // The exam is `back` days after that day.
    let answer = DAYS[((today as u64 + back + on + 7 * weeks) % 7) as usize];
    (answer != DAYS[today]).then(|| Item {
        question,
        form: "the English name of the day",
        answer: answer.to_owned(),
    })
}

fn whole(question: String, answer: u64) -> Option<Item> {
    Some(Item {
        question,
        form: WHOLE,
        answer: answer.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_in_any_base() {
        assert_eq!(written(255, 8), "377");
        assert_eq!(written(80, 3), "2222");
        assert_eq!(written(729, 9), "1000");
    }
}
