//! Which tasks of a comparison are asked for, as it stands in an address.

use agon_report::run_sign;

use crate::error::ViewerError;
use crate::index::{searched, switch, unknown, word};
use crate::shape::{TaskQuery, TaskSort};

const SHOWN: &[&str] = &["all", "gained", "lost", "both", "neither", "open"];

/// `pairs`: the parameters of an address, decoded; those of others are passed over. `runs`: the ids of the runs
/// that are compared.
pub(crate) fn task_query<'a>(
    pairs: impl IntoIterator<Item = (&'a str, &'a str)>,
    runs: &[&str],
) -> Result<TaskQuery, ViewerError> {
    let mut query = TaskQuery::default();
    for (name, value) in pairs {
        match name {
            "q" => query.q = searched(value)?,
            "show" | "against" | "sort" if value.is_empty() => {}
            "show" => query.show = word(name, value, SHOWN)?,
            "against" => query.against = against(value, runs)?,
            "sort" => query.sort = sort(value, runs)?,
            "desc" => query.desc = switch(name, value)?,
            _ => {}
        }
    }
    Ok(query)
}

fn against(id: &str, runs: &[&str]) -> Result<usize, ViewerError> {
    let place = runs.iter().skip(1).position(|run| *run == id);
    let others = runs.get(1..).unwrap_or_default();
    place
        .map(|place| place + 1)
        .ok_or_else(|| unknown("against", id, others))
}

fn sort(value: &str, runs: &[&str]) -> Result<TaskSort, ViewerError> {
    let signs: Vec<String> = (0..runs.len()).map(run_sign).collect();
    match value {
        "difference" => Ok(TaskSort::Difference),
        "task" => Ok(TaskSort::Task),
        "level" => Ok(TaskSort::Level),
        sign => match signs.iter().position(|known| known == sign) {
            Some(place) => Ok(TaskSort::Run(place)),
            None => {
                let mut allowed = vec!["difference", "task", "level"];
                allowed.extend(signs.iter().map(String::as_str));
                Err(unknown("sort", sign, &allowed))
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Shown;

    const RUNS: &[&str] = &["one", "two", "three"];

    #[test]
    fn every_part_of_a_query_can_be_written() {
        let query = task_query(
            [
                ("run", "one"),
                ("q", "two Words"),
                ("show", "gained"),
                ("against", "three"),
                ("sort", "C"),
                ("desc", "true"),
                ("offset", "-1"),
            ],
            RUNS,
        );
        let wanted = TaskQuery {
            q: "two Words".to_owned(),
            show: Shown::Gained,
            against: 2,
            sort: TaskSort::Run(2),
            desc: true,
        };
        assert_eq!(query.unwrap(), wanted);
        let nothing = task_query([("show", ""), ("against", ""), ("sort", "")], RUNS);
        assert_eq!(nothing.unwrap(), TaskQuery::default());
        for word in SHOWN {
            task_query([("show", *word)], RUNS).unwrap();
        }
    }

    #[test]
    fn other_words_are_refused_with_those_that_are_known() {
        fn told(name: &str, value: &str) -> String {
            task_query([(name, value)], RUNS).unwrap_err().to_string()
        }
        insta::assert_snapshot!(told("show", "won"), @"the parameter `show` can't be used: `won` is none of all, gained, lost, both, neither, open");
        insta::assert_snapshot!(told("sort", "D"), @"the parameter `sort` can't be used: `D` is none of difference, task, level, A, B, C");
        insta::assert_snapshot!(told("against", "one"), @"the parameter `against` can't be used: `one` is none of two, three");
        let words: Vec<String> = (0..2_000).map(|n| n.to_string()).collect();
        assert!(told("q", &words.join(" ")).contains("more than 32 words"));
    }
}
