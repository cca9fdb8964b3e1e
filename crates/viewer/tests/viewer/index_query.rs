//! Every query finds what a plain walk over the lines finds, in the same order.

use std::cmp::Ordering;

use agon_core::verdict::{Outcome, TurnEnd};
use agon_core::{FaultClass, Level};
use agon_store::{ReviewVerdict, Reviews, TaskStamp, TrialLine};
use agon_viewer::shape::{Flag, SortKey, State, TrialKey, TrialQuery};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use crate::fixture::{Shelf, Writing, faulted, graded, manifest, priced, review, stamp};

const EPOCHS: u32 = 2;
const TASKS: [(&str, Option<Level>); 5] = [
    ("files/copy", Some(Level::Wood)),
    ("web/search", None),
    ("files/Ärger", Some(Level::Paper)),
    ("mail/read", Some(Level::Gold)),
    ("code/fix_100", Some(Level::Wood)),
];
const WORDS: [&str; 5] = ["", "ÜBER all", "100% of_it", "file 'x'", "the disk"];
const CHECKS: [&str; 3] = ["file a.txt", "a, b", "%"];
const STATES: [State; 5] = [
    State::Passed,
    State::Failed,
    State::Faulted,
    State::Running,
    State::Missing,
];
const FLAGS: [Flag; 9] = [
    Flag::Reviewed,
    Flag::Unreviewed,
    Flag::Disagreed,
    Flag::Integrity,
    Flag::Tainted,
    Flag::Retried,
    Flag::Rerun,
    Flag::Elsewhere,
    Flag::Operator,
];
const SORTS: [SortKey; 10] = [
    SortKey::Ended,
    SortKey::Task,
    SortKey::Level,
    SortKey::Outcome,
    SortKey::Score,
    SortKey::Measured,
    SortKey::Steps,
    SortKey::Seconds,
    SortKey::Tokens,
    SortKey::Cost,
];

/// A row by plain means.
struct Row<'a> {
    stamp: Option<&'a TaskStamp>,
    key: TrialKey,
    line: Option<&'a TrialLine>,
    counts: bool,
    said: Option<Outcome>,
}

impl Row<'_> {
    fn state(&self) -> State {
        match self.said.or(self.line.map(|line| line.outcome)) {
            Some(Outcome::Passed) => State::Passed,
            Some(Outcome::Failed) => State::Failed,
            Some(Outcome::Faulted) => State::Faulted,
            None => State::Missing,
        }
    }

    fn score(&self) -> Option<f64> {
        match self.state() {
            State::Passed if self.said.is_some() => Some(1.0),
            State::Failed if self.said.is_some() => Some(0.0),
            State::Passed | State::Failed => self.line.map(|line| line.score),
            _ => None,
        }
    }

    fn has(&self, flag: Flag) -> bool {
        let Some(line) = self.line else { return false };
        match flag {
            Flag::Reviewed => self.said.is_some(),
            Flag::Unreviewed => self.counts && self.said.is_none(),
            Flag::Disagreed => {
                line.outcome != Outcome::Faulted
                    && self.said.is_some_and(|said| said != line.outcome)
            }
            Flag::Integrity => line.integrity.is_some(),
            Flag::Tainted => line.tainted,
            Flag::Retried => line.retried,
            Flag::Rerun => line.rerun,
            Flag::Elsewhere => line.elsewhere,
            Flag::Operator => line.end == Some(TurnEnd::Operator),
        }
    }

    fn shown_for(&self, query: &TrialQuery) -> bool {
        let level = self.stamp.and_then(|stamp| stamp.level);
        let level = level.map_or("none", Level::name);
        let category = self.key.task.split('/').next().unwrap_or_default();
        let fault = self.line.and_then(|line| line.fault.as_ref());
        let mut text = self.key.task.clone();
        text.extend(self.stamp.map(|stamp| stamp.name.as_str()));
        text.extend(self.line.map(|line| line.reason.as_str()));
        text.extend(fault.map(ToString::to_string));
        let text = text.to_lowercase();
        let any = |list: &[String], value: &str| list.is_empty() || list.iter().any(|l| l == value);
        let failed = |name: &String| {
            self.line
                .is_some_and(|line| line.failed_checks.contains(name))
        };
        (query.attempts || self.counts)
            && (query.outcome.is_empty() || query.outcome.contains(&self.state()))
            && (query.fault.is_empty()
                || self.state() == State::Faulted
                    && fault.is_some_and(|fault| any(&query.fault, fault.class.name())))
            && any(&query.level, level)
            && any(&query.category, category)
            && (query.check.is_empty() || query.check.iter().any(failed))
            && (query.flag.is_empty() || query.flag.iter().any(|flag| self.has(*flag)))
            && query
                .q
                .to_lowercase()
                .split_whitespace()
                .all(|word| text.contains(word))
    }

    fn sorts_by(&self, key: SortKey) -> Option<f64> {
        let line = self.line;
        let level = self.stamp.and_then(|stamp| stamp.level);
        match key {
            SortKey::Ended | SortKey::Task => None,
            SortKey::Level => Level::ALL
                .iter()
                .position(|l| Some(*l) == level)
                .map(|n| n as f64),
            SortKey::Outcome => STATES
                .iter()
                .position(|s| *s == self.state())
                .map(|n| n as f64),
            SortKey::Score => self.score(),
            SortKey::Measured if self.state() == State::Faulted => None,
            SortKey::Measured => line.and_then(|line| line.measured),
            SortKey::Steps => line.map(|line| f64::from(line.steps)),
            SortKey::Seconds => line.map(|line| line.seconds.total()),
            SortKey::Tokens => line.map(|line| line.usage.tokens() as f64),
            SortKey::Cost => line
                .and_then(|line| line.usage.money)
                .map(|m| m.picos() as f64),
        }
    }
}

fn compare(a: &Row<'_>, b: &Row<'_>, query: &TrialQuery) -> Ordering {
    let way = |found: Ordering| if query.desc { found.reverse() } else { found };
    match query.sort {
        SortKey::Ended => Ordering::Equal,
        SortKey::Task => way((&a.key.task, a.key.epoch).cmp(&(&b.key.task, b.key.epoch))),
        key => match (a.sorts_by(key), b.sorts_by(key)) {
            (Some(a), Some(b)) => way(a.total_cmp(&b)),
            (a, b) => b.is_some().cmp(&a.is_some()),
        },
    }
}

fn naive(
    tasks: &[TaskStamp],
    lines: &[TrialLine],
    reviews: &Reviews,
    query: &TrialQuery,
) -> Vec<TrialKey> {
    let result = |task: &str, epoch: u32| {
        let of = |line: &&TrialLine| line.task.to_string() == task && line.epoch == epoch;
        let draw = |line: &&TrialLine| line.is_further_draw();
        let plain = |line: &&TrialLine| !line.is_further_draw();
        let all = || lines.iter().filter(of);
        let last = all().filter(plain).rfind(|line| line.is_final);
        let final_draw = |line: &&TrialLine| line.is_final && line.is_further_draw();
        let before = || all().take_while(|line| !final_draw(line)).filter(plain);
        let verdict = || before().find(|line| line.outcome != Outcome::Faulted);
        let drawn = all().filter(draw).rfind(|line| line.is_final);
        last.or_else(|| drawn.map(|drawn| verdict().unwrap_or(drawn)))
    };
    let stamp = |task: &str| tasks.iter().find(|stamp| stamp.task.to_string() == task);
    let mut rows: Vec<Row<'_>> = Vec::new();
    for line in lines {
        let task = line.task.to_string();
        let planned = stamp(&task).is_some() && (1..=EPOCHS).contains(&line.epoch);
        let counts = planned && result(&task, line.epoch) == Some(line);
        let said = reviews.verdict(line).filter(|_| counts);
        rows.push(Row {
            stamp: stamp(&task),
            line: Some(line),
            counts,
            said: said.and_then(|review| review.verdict.outcome()),
            key: TrialKey {
                task,
                epoch: line.epoch,
                attempt: line.attempt,
            },
        });
    }
    if query.sort == SortKey::Ended && query.desc {
        rows.reverse();
    }
    for stamp in tasks {
        for epoch in 1..=EPOCHS {
            let task = stamp.task.to_string();
            if result(&task, epoch).is_none() {
                let key = TrialKey {
                    task,
                    epoch,
                    attempt: 0,
                };
                rows.push(Row {
                    stamp: Some(stamp),
                    key,
                    line: None,
                    counts: true,
                    said: None,
                });
            }
        }
    }
    rows.retain(|row| row.shown_for(query));
    rows.sort_by(|a, b| compare(a, b, query));
    rows.into_iter().map(|row| row.key).collect()
}

prop_compose! {
    fn a_line()(
        (task, epoch) in (0..6usize, 1..=EPOCHS + 1),
        (is_final, outcome) in (any::<bool>(), 0..5u32),
        (measured, steps, seconds) in (proptest::option::of(0..3u32), 0..4u32, 0..3u32),
        (tokens, money) in (0..3u64, proptest::option::of(0..3u64)),
        (reason, checks) in (select(&WORDS[..]), subsequence(&CHECKS[..], 0..3)),
        flags in any::<[bool; 5]>(),
        operator in any::<bool>(),
    ) -> TrialLine {
        let id = TASKS.get(task).map_or("stray/one", |(id, _)| id);
        let line = match outcome {
            0 => faulted(id, epoch, 0, FaultClass::Start),
            1 => faulted(id, epoch, 0, FaultClass::Judge),
            score => graded(id, epoch, 0, f64::from(score - 2) / 2.0),
        };
        let checks = checks.into_iter().map(str::to_owned).collect();
        let mut line = TrialLine {
            is_final,
            measured: measured.map(f64::from),
            steps,
            reason: reason.to_owned(),
            failed_checks: checks,
            integrity: flags[0].then(|| "a sign".to_owned()),
            tainted: flags[1],
            retried: flags[2],
            rerun: flags[3],
            elsewhere: flags[4],
            end: Some(if operator { TurnEnd::Operator } else { TurnEnd::Finished }),
            ..priced(line, tokens, money)
        };
        line.seconds.agent = f64::from(seconds);
        line
    }
}

prop_compose! {
    fn a_query()(
        q in select(vec!["", "", "", "über", "100%", "_", "DISK gone", "task ärger", "judge:", "'x'"]),
        outcome in prop_oneof![Just(vec![]), subsequence(&STATES[..], 0..5)],
        fault in prop_oneof![Just(vec![]), subsequence(vec!["start", "judge", "model"], 0..3)],
        level in prop_oneof![Just(vec![]), subsequence(vec!["paper", "wood", "none", "silver"], 0..4)],
        category in prop_oneof![Just(vec![]), subsequence(vec!["files", "web", "stray"], 0..3)],
        check in prop_oneof![Just(vec![]), subsequence(&CHECKS[..], 0..3)],
        flag in prop_oneof![Just(vec![]), subsequence(&FLAGS[..], 0..3)],
        attempts in any::<bool>(),
        sort in select(&SORTS[..]),
        desc in any::<bool>(),
    ) -> TrialQuery {
        let own = |list: Vec<&str>| list.into_iter().map(str::to_owned).collect::<Vec<_>>();
        TrialQuery {
            q: q.to_owned(),
            outcome,
            fault: own(fault),
            level: own(level),
            category: own(category),
            check: own(check),
            flag,
            attempts,
            sort,
            desc,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn a_query_finds_what_a_walk_over_the_lines_finds(
        mut lines in proptest::collection::vec(a_line(), 0..25),
        said in proptest::collection::vec((any::<prop::sample::Index>(), 0..3u8), 0..8),
        queries in proptest::collection::vec(a_query(), 12),
        halt in any::<prop::sample::Index>(),
    ) {
        let tasks: Vec<TaskStamp> = TASKS.iter().map(|(id, level)| stamp(id, *level)).collect();
        for n in 0..lines.len() {
            let trial = |line: &TrialLine| (line.task.clone(), line.epoch);
            let before = lines[..n].iter().filter(|line| trial(line) == trial(&lines[n])).count();
            lines[n].attempt = before as u32 + 1;
        }
        let shelf = Shelf::new();
        let writing = Writing::begin(&shelf.place("one"), &manifest(EPOCHS, tasks.clone()));
        let run = shelf.run("one");
        let halt = halt.index(lines.len() + 1);
        for (n, line) in lines.iter_mut().enumerate() {
            // What is taken in bit by bit comes to the same as what is taken in at once.
            if n == halt {
                run.refresh().unwrap();
            }
            line.events = writing.writer.no_events().unwrap();
            writing.writer.append_trial(line).unwrap();
        }
        let verdicts = [ReviewVerdict::Pass, ReviewVerdict::Fail, ReviewVerdict::Clear];
        for (line, verdict) in said.iter().filter(|_| !lines.is_empty()) {
            review(&writing.folder, line.get(&lines), verdicts[usize::from(*verdict)], "anna");
        }
        let reviews = Reviews::read(&writing.folder).unwrap();
        let anew = shelf.run("one");
        for query in &queries {
            let expected = naive(&tasks, &lines, &reviews, query);
            let page = run.trials(query, 0, 1_000).unwrap();
            prop_assert_eq!(page.total, expected.len() as u64);
            let found: Vec<TrialKey> = page.rows.into_iter().map(|row| row.key).collect();
            prop_assert_eq!(&found, &expected, "{:?}", query);
            let (mut paged, mut from) = (Vec::new(), 0);
            while from < expected.len() as u64 {
                let rows = anew.trials(query, from, 3).unwrap().rows;
                paged.extend(rows.into_iter().map(|row| row.key));
                from += 3;
            }
            prop_assert_eq!(&paged, &expected);
        }
    }
}
