//! A part of the tasks of a comparison: those that are asked for, in the order that is asked for. An export does
//! the same in a script (`compare_static.js`).

use std::cmp::Ordering;

use agon_core::Level;

use crate::shape::{
    ComparedCell, ComparedTask, Comparison, Kinds, Shown, TaskPage, TaskQuery, TaskSort,
};

pub(crate) fn page(found: &Comparison, query: &TaskQuery, offset: u64, limit: u64) -> TaskPage {
    let lower = query.q.to_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    let mut kinds = Kinds::default();
    let mut shown: Vec<&ComparedTask> = Vec::new();
    for task in &found.tasks {
        if !holds(task, &words) {
            continue;
        }
        let kind = kind(task, query.against);
        count(&mut kinds, kind);
        if query.show == Shown::All || query.show == kind {
            shown.push(task);
        }
    }
    sort(&mut shown, query);
    let (skipped, most) = (place(offset), place(limit));
    TaskPage {
        total: shown.len() as u64,
        offset,
        rows: shown
            .into_iter()
            .skip(skipped)
            .take(most)
            .cloned()
            .collect(),
        kinds,
    }
}

/// What a search looks through, in lower case.
pub(crate) fn searchable(task: &ComparedTask) -> String {
    let level = task.level.as_deref().unwrap_or_default();
    format!("{} {} {level}", task.task, task.name).to_lowercase()
}

fn place(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn holds(task: &ComparedTask, words: &[&str]) -> bool {
    if words.is_empty() {
        return true;
    }
    let text = searchable(task);
    words.iter().all(|word| text.contains(word))
}

fn cell(task: &ComparedTask, run: usize) -> Option<&ComparedCell> {
    task.cells.get(run)?.as_ref()
}

fn kind(task: &ComparedTask, against: usize) -> Shown {
    let solved = |run| cell(task, run).and_then(ComparedCell::solved);
    match (solved(0), solved(against)) {
        (Some(true), Some(true)) => Shown::Both,
        (Some(true), Some(false)) => Shown::Lost,
        (Some(false), Some(true)) => Shown::Gained,
        (Some(false), Some(false)) => Shown::Neither,
        _ => Shown::Open,
    }
}

fn count(kinds: &mut Kinds, kind: Shown) {
    kinds.all += 1;
    match kind {
        Shown::All => {}
        Shown::Gained => kinds.gained += 1,
        Shown::Lost => kinds.lost += 1,
        Shown::Both => kinds.both += 1,
        Shown::Neither => kinds.neither += 1,
        Shown::Open => kinds.open += 1,
    }
}

fn score(task: &ComparedTask, run: usize) -> Option<f64> {
    cell(task, run)?.score
}

/// Those of which nothing is known come last, whichever way; equal ones stay as they are.
fn sort(shown: &mut [&ComparedTask], query: &TaskQuery) {
    match query.sort {
        TaskSort::Difference => order(shown, !query.desc, f64::total_cmp, |task| {
            Some((score(task, query.against)? - score(task, 0)?).abs())
        }),
        TaskSort::Task => order(shown, query.desc, Ord::cmp, |task| Some(&task.task)),
        TaskSort::Level => order(shown, query.desc, Ord::cmp, |task| {
            let level = task.level.as_deref()?;
            Level::ALL.iter().position(|known| known.name() == level)
        }),
        TaskSort::Run(run) => order(shown, query.desc, f64::total_cmp, |task| score(task, run)),
    }
}

fn order<'t, K>(
    shown: &mut [&'t ComparedTask],
    down: bool,
    compare: impl Fn(&K, &K) -> Ordering,
    key: impl Fn(&'t ComparedTask) -> Option<K>,
) {
    shown.sort_by(|a, b| match (key(a), key(b)) {
        (Some(a), Some(b)) if down => compare(&b, &a),
        (Some(a), Some(b)) => compare(&a, &b),
        (a, b) => a.is_none().cmp(&b.is_none()),
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By the scores of three runs; less than 0 stands for a fault.
    fn task(name: &str, level: Option<&str>, scores: [f64; 3]) -> ComparedTask {
        let cell = |score: f64| {
            let graded = u32::from(score >= 0.0);
            Some(ComparedCell {
                score: (score >= 0.0).then_some(score),
                passed: u32::from(score >= 1.0),
                graded,
                faulted: 1 - graded,
                ..ComparedCell::default()
            })
        };
        ComparedTask {
            task: format!("files/{name}"),
            name: format!("The {} Task", name.to_uppercase()),
            level: level.map(str::to_owned),
            cells: scores.map(cell).into(),
        }
    }

    fn comparison() -> Comparison {
        Comparison {
            runs: Vec::new(),
            common: 0,
            pairs: Vec::new(),
            tasks: vec![
                task("gained", Some("wood"), [0.0, 1.0, 0.0]),
                task("lost", Some("gold"), [1.0, 0.5, 1.0]),
                task("both", Some("paper"), [1.0, 1.0, -1.0]),
                task("neither", None, [0.25, 0.0, 1.0]),
                task("open", Some("bronze"), [-1.0, 1.0, 0.0]),
            ],
            caveats: Vec::new(),
        }
    }

    fn names(query: &TaskQuery) -> Vec<String> {
        let page = page(&comparison(), query, 0, 100);
        assert_eq!(page.total, page.rows.len() as u64);
        let short = |task: &ComparedTask| task.task.replacen("files/", "", 1);
        page.rows.iter().map(short).collect()
    }

    #[test]
    fn each_kind_is_found_and_counted() {
        let whole = page(&comparison(), &TaskQuery::default(), 0, 100);
        let one_each = Kinds {
            all: 5,
            gained: 1,
            lost: 1,
            both: 1,
            neither: 1,
            open: 1,
        };
        assert_eq!(whole.kinds, one_each);
        for (show, name) in [
            (Shown::Gained, "gained"),
            (Shown::Lost, "lost"),
            (Shown::Both, "both"),
            (Shown::Neither, "neither"),
            (Shown::Open, "open"),
        ] {
            let query = TaskQuery {
                show,
                ..TaskQuery::default()
            };
            assert_eq!(names(&query), [name]);
        }
        let third = TaskQuery {
            against: 2,
            show: Shown::Open,
            ..TaskQuery::default()
        };
        assert_eq!(names(&third), ["both", "open"]);
    }

    #[test]
    fn what_is_not_known_comes_last_whichever_way() {
        let by = |sort, desc| {
            names(&TaskQuery {
                sort,
                desc,
                ..TaskQuery::default()
            })
        };
        let far = ["gained", "lost", "neither", "both", "open"];
        assert_eq!(by(TaskSort::Difference, false), far);
        let near = ["both", "neither", "lost", "gained", "open"];
        assert_eq!(by(TaskSort::Difference, true), near);
        let up = ["both", "gained", "open", "lost", "neither"];
        assert_eq!(by(TaskSort::Level, false), up);
        let down = ["lost", "open", "gained", "both", "neither"];
        assert_eq!(by(TaskSort::Level, true), down);
        let a_to_z = ["both", "gained", "lost", "neither", "open"];
        assert_eq!(by(TaskSort::Task, false), a_to_z);
        let third = ["lost", "neither", "gained", "open", "both"];
        assert_eq!(by(TaskSort::Run(2), true), third);
    }

    #[test]
    fn a_part_of_it_knows_the_whole() {
        let query = TaskQuery {
            q: "FILES/ wood".to_owned(),
            ..TaskQuery::default()
        };
        let found = page(&comparison(), &query, 0, 100);
        assert_eq!((found.total, found.kinds.all), (1, 1));
        let part = page(&comparison(), &TaskQuery::default(), 3, 1);
        assert_eq!((part.total, part.offset, part.kinds.all), (5, 3, 5));
        assert_eq!(part.rows[0].task, "files/both");
        assert!(
            page(&comparison(), &TaskQuery::default(), u64::MAX, 9)
                .rows
                .is_empty()
        );
    }
}
