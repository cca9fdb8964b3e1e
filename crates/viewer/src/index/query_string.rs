//! A query as it stands in an address. Lists are written with commas, or by naming a parameter more than
//! once; within a name `\,` is a comma and `\\` a backslash. Parameters of others (`step`, `offset`) are passed
//! over; names and words that nobody knows are refused with those that are known. Names of categories and
//! checks are not: a list that was narrowed to one may be empty.

use std::collections::HashSet;

use agon_core::Level;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::query::MOST_WORDS;
use super::schema::FAULTS;
use crate::error::ViewerError;
use crate::shape::TrialQuery;
use crate::visible::plain;

/// Nothing that people or pages write is longer.
const LONGEST: usize = 10_000;
/// Values of one list.
const MOST: usize = 200;

const STATES: &[&str] = &["passed", "failed", "faulted", "running", "missing"];
const FLAGS: &[&str] = &[
    "reviewed",
    "unreviewed",
    "disagreed",
    "integrity",
    "tainted",
    "retried",
    "rerun",
    "elsewhere",
    "operator",
];
const SORTS: &[&str] = &[
    "ended", "task", "level", "outcome", "score", "measured", "steps", "seconds", "tokens", "cost",
];
const FILTERS: &[&str] = &[
    "q", "outcome", "fault", "level", "category", "check", "flag", "attempts", "sort", "desc",
];
/// What may stand beside them in the address of a page.
const BESIDE: &[&str] = &["step", "t", "offset", "limit", "after", "run", "token"];
const SWITCHES: &[&str] = &["true", "false", "1", "0"];

/// `pairs`: the parameters of an address, decoded.
pub(crate) fn trial_query<'a>(
    pairs: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<TrialQuery, ViewerError> {
    let mut query = TrialQuery::default();
    for (name, value) in pairs {
        if value.len() > LONGEST {
            return Err(refused(name, "it is too long"));
        }
        match name {
            "q" => query.q = searched(value)?,
            "outcome" => words(name, value, STATES, &mut query.outcome)?,
            "flag" => words(name, value, FLAGS, &mut query.flag)?,
            "fault" => {
                let allowed = FAULTS.map(|class| class.name());
                add(&mut query.fault, name, known(name, value, &allowed)?)?;
            }
            "level" => {
                let mut allowed = Level::ALL.map(Level::name).to_vec();
                allowed.push("none");
                add(&mut query.level, name, known(name, value, &allowed)?)?;
            }
            "category" => add(&mut query.category, name, list(value))?,
            "check" => add(&mut query.check, name, list(value))?,
            "sort" if value.is_empty() => {}
            "sort" => query.sort = word(name, value, SORTS)?,
            "attempts" => query.attempts = switch(name, value)?,
            "desc" => query.desc = switch(name, value)?,
            other => known_name(other, FILTERS)?,
        }
    }
    Ok(query)
}

/// Refuses a parameter that is none of these and none of those that may stand in any address.
pub(crate) fn known_name(name: &str, known: &[&str]) -> Result<(), ViewerError> {
    if known.contains(&name) || BESIDE.contains(&name) {
        return Ok(());
    }
    let name: String = plain(name).chars().take(100).collect();
    let far = |known: &&&str| strsim::damerau_levenshtein(&name, known);
    let near = known.iter().filter(|known| far(known) <= known.len() / 3);
    let told = match near.min_by_key(far) {
        Some(near) => format!(": did you mean `{near}`?"),
        None if known.is_empty() => String::new(),
        None => format!(": there are {}", known.join(", ")),
    };
    Err(ViewerError::BadRequest(format!(
        "there is no parameter `{name}` here{told}"
    )))
}

/// No more words than can be searched for, each once.
pub(crate) fn searched(value: &str) -> Result<String, ViewerError> {
    let words: HashSet<&str> = value.split_whitespace().collect();
    if words.len() > MOST_WORDS {
        let why = format!("it has more than {MOST_WORDS} words");
        return Err(refused("q", &why));
    }
    if value.split_whitespace().count() <= MOST_WORDS {
        return Ok(value.to_owned());
    }
    let mut seen = HashSet::new();
    let once = value.split_whitespace().filter(|word| seen.insert(*word));
    Ok(once.collect::<Vec<_>>().join(" "))
}

/// The values of a list.
fn list(value: &str) -> Vec<String> {
    let mut values = vec![String::new()];
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        let c = match c {
            ',' => {
                values.push(String::new());
                continue;
            }
            '\\' => chars.next().unwrap_or('\\'),
            c => c,
        };
        if let Some(last) = values.last_mut() {
            last.push(c);
        }
    }
    values.retain(|value| !value.is_empty());
    values
}

fn known(name: &str, value: &str, allowed: &[&str]) -> Result<Vec<String>, ViewerError> {
    let values = list(value);
    match values
        .iter()
        .find(|value| !allowed.contains(&value.as_str()))
    {
        Some(value) => Err(unknown(name, value, allowed)),
        None => Ok(values),
    }
}

fn words<T: DeserializeOwned + PartialEq>(
    name: &str,
    value: &str,
    allowed: &[&str],
    into: &mut Vec<T>,
) -> Result<(), ViewerError> {
    let found: Vec<T> = list(value)
        .iter()
        .map(|value| word(name, value, allowed))
        .collect::<Result<_, _>>()?;
    add(into, name, found)
}

pub(crate) fn word<T: DeserializeOwned>(
    name: &str,
    value: &str,
    allowed: &[&str],
) -> Result<T, ViewerError> {
    serde_json::from_value(Value::String(value.to_owned()))
        .map_err(|_| unknown(name, value, allowed))
}

/// A parameter without a value is a switch that is on.
pub(crate) fn switch(name: &str, value: &str) -> Result<bool, ViewerError> {
    match value {
        "" | "true" | "1" => Ok(true),
        "false" | "0" => Ok(false),
        _ => Err(unknown(name, value, SWITCHES)),
    }
}

/// Each once.
fn add<T: PartialEq>(into: &mut Vec<T>, name: &str, more: Vec<T>) -> Result<(), ViewerError> {
    for value in more {
        if !into.contains(&value) {
            into.push(value);
        }
    }
    if into.len() > MOST {
        return Err(refused(name, "there are too many of it"));
    }
    Ok(())
}

pub(crate) fn unknown(name: &str, value: &str, allowed: &[&str]) -> ViewerError {
    let value: String = plain(value).chars().take(100).collect();
    refused(
        name,
        &format!("`{value}` is none of {}", allowed.join(", ")),
    )
}

fn refused(name: &str, why: &str) -> ViewerError {
    ViewerError::BadRequest(format!("the parameter `{name}` can't be used: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::{Flag, SortKey, State};

    #[test]
    fn every_part_of_a_query_can_be_written() {
        let query = trial_query([
            ("q", "two Words"),
            ("outcome", "failed,faulted"),
            ("outcome", "missing,failed"),
            ("fault", "start,needs_judge"),
            ("level", "paper,none"),
            ("category", "files,web"),
            ("check", r"file a\,b,back\\slash,,plain"),
            ("flag", "disagreed"),
            ("attempts", "true"),
            ("sort", "cost"),
            ("desc", ""),
            ("step", "what is this"),
            ("offset", "-1"),
        ]);
        let own = |values: &[&str]| values.iter().map(|v| (*v).to_owned()).collect::<Vec<_>>();
        assert_eq!(
            query.unwrap(),
            TrialQuery {
                q: "two Words".to_owned(),
                outcome: vec![State::Failed, State::Faulted, State::Missing],
                fault: own(&["start", "needs_judge"]),
                level: own(&["paper", "none"]),
                category: own(&["files", "web"]),
                check: own(&["file a,b", r"back\slash", "plain"]),
                flag: vec![Flag::Disagreed],
                attempts: true,
                sort: SortKey::Cost,
                desc: true,
            }
        );
    }

    #[test]
    fn a_slip_in_a_name_is_told() {
        fn told(name: &str) -> String {
            trial_query([(name, "x")]).unwrap_err().to_string()
        }
        insta::assert_snapshot!(told("outcom"), @"there is no parameter `outcom` here: did you mean `outcome`?");
        insta::assert_snapshot!(told("unknown"), @"there is no parameter `unknown` here: there are q, outcome, fault, level, category, check, flag, attempts, sort, desc");
        insta::assert_snapshot!(told("\u{202e}"), @"there is no parameter `<202E>` here: there are q, outcome, fault, level, category, check, flag, attempts, sort, desc");
        for name in BESIDE {
            trial_query([(*name, "x")]).unwrap();
        }
        let none = known_name("x", &[]).unwrap_err().to_string();
        assert_eq!(none, "there is no parameter `x` here");
    }

    #[test]
    fn nothing_given_is_the_plain_list() {
        let empty = [("q", ""), ("outcome", ""), ("sort", ""), ("level", ",")];
        assert_eq!(trial_query(empty).unwrap(), TrialQuery::default());
    }

    #[test]
    fn every_word_that_is_named_as_allowed_is_allowed() {
        for (name, allowed) in [
            ("outcome", STATES),
            ("flag", FLAGS),
            ("sort", SORTS),
            ("desc", SWITCHES),
        ] {
            for word in allowed {
                trial_query([(name, *word)]).unwrap();
            }
        }
    }

    #[test]
    fn other_words_are_refused_with_those_that_are_known() {
        fn told(name: &str, value: &str) -> String {
            trial_query([(name, value)]).unwrap_err().to_string()
        }
        insta::assert_snapshot!(told("outcome", "passed,lost\u{202e}"), @"the parameter `outcome` can't be used: `lost<202E>` is none of passed, failed, faulted, running, missing");
        insta::assert_snapshot!(told("level", "iron"), @"the parameter `level` can't be used: `iron` is none of paper, wood, bronze, silver, gold, none");
        insta::assert_snapshot!(told("desc", "maybe"), @"the parameter `desc` can't be used: `maybe` is none of true, false, 1, 0");
        let words: Vec<String> = (0..2_000).map(|n| n.to_string()).collect();
        assert!(told("q", &words.join(" ")).contains("more than 32 words"));
        let same = trial_query([("q", "a b ".repeat(1_000).as_str())]).unwrap();
        assert_eq!(same.q, "a b");
        assert!(told("q", &"x".repeat(LONGEST + 1)).contains("too long"));
        let many: Vec<String> = (0..=MOST).map(|n| n.to_string()).collect();
        assert!(told("category", &many.join(",")).contains("too many"));
    }
}
