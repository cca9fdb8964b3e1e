//! The published OSUniverse results (May 2025) recompute from their counts.

use agon_core::Level;
use agon_report::Summary;
use agon_store::TaskStamp;

use crate::fixture::{graded, manifest, task};

/// Tasks by category and level, as in the suite's 160 files.
const SUITE: [(&str, [u32; 5]); 9] = [
    ("browser", [1, 14, 9, 1, 0]),
    ("desktop", [1, 9, 0, 0, 0]),
    ("games", [1, 3, 10, 6, 4]),
    ("gimp", [0, 2, 0, 0, 3]),
    ("libreoffice_calc", [3, 9, 16, 4, 0]),
    ("libreoffice_impress", [2, 1, 4, 1, 0]),
    ("libreoffice_writer", [3, 14, 7, 14, 2]),
    ("multiapp", [0, 0, 0, 4, 2]),
    ("terminal", [0, 6, 2, 2, 0]),
];

struct Published {
    agent: &'static str,
    /// Percent passed by level, paper to gold.
    levels: [f64; 5],
    weighted: &'static str,
    passed: u64,
}

const fn published(
    agent: &'static str,
    levels: [f64; 5],
    weighted: &'static str,
    passed: u64,
) -> Published {
    Published {
        agent,
        levels,
        weighted,
        passed,
    }
}

const TABLE: [Published; 8] = [
    published(
        "computer-use-preview-2025-03-11",
        [100.0, 86.21, 75.0, 34.38, 9.09],
        "47.80",
        109,
    ),
    published(
        "claude-3-5-sonnet-20241022, computer use",
        [100.0, 53.45, 43.75, 21.88, 0.0],
        "28.36",
        70,
    ),
    published(
        "claude-3-5-sonnet-20241022, react",
        [90.91, 56.90, 39.58, 9.38, 0.0],
        "23.44",
        65,
    ),
    published(
        "qwen2.5-vl-72b-instruct",
        [90.91, 46.55, 31.25, 6.25, 0.0],
        "18.64",
        54,
    ),
    published(
        "gemini-2.5-pro-exp-03-25",
        [90.91, 15.52, 18.75, 3.12, 0.0],
        "9.59",
        29,
    ),
    published(
        "gemini-2.0-flash-001",
        [90.91, 13.79, 14.58, 3.12, 0.0],
        "8.26",
        26,
    ),
    published(
        "gpt-4o-2024-11-20",
        [100.0, 6.90, 12.50, 3.12, 0.0],
        "6.79",
        22,
    ),
    // Printed as 6.12: the sum is 6.1251.
    published(
        "gemini-1.5-pro-002",
        [90.91, 3.45, 12.50, 3.12, 0.0],
        "6.13",
        19,
    ),
];

fn suite() -> Vec<TaskStamp> {
    let mut tasks = Vec::new();
    for (category, counts) in SUITE {
        for (level, count) in Level::ALL.into_iter().zip(counts) {
            for number in 0..count {
                tasks.push(task(&format!("{category}/{level}{number}"), Some(level)));
            }
        }
    }
    tasks
}

fn recompute(row: &Published) -> Summary {
    let manifest = manifest(1, suite());
    let mut left = [0u32; 5];
    for (at, level) in Level::ALL.into_iter().enumerate() {
        let size = manifest
            .tasks
            .iter()
            .filter(|task| task.level == Some(level))
            .count();
        left[at] = (row.levels[at] / 100.0 * size as f64).round() as u32;
    }
    let mut lines = Vec::new();
    for stamp in &manifest.tasks {
        let left = &mut left[stamp.level.unwrap() as usize];
        let score = if *left > 0 { 1.0 } else { 0.0 };
        *left = left.saturating_sub(1);
        lines.push(graded(&stamp.task.to_string(), 1, score));
    }
    Summary::collect(&manifest, lines)
}

#[test]
fn weighted_scores_equal_the_published_ones() {
    for row in &TABLE {
        let summary = recompute(row);
        let weighted = format!("{:.2}", summary.weighted.score.unwrap() * 100.0);
        assert_eq!(weighted, row.weighted, "{}", row.agent);
        assert_eq!(summary.overall.passed, row.passed, "{}", row.agent);
        for (group, percent) in summary.levels.iter().zip(row.levels) {
            let ours = group.standing.score.unwrap() * 100.0;
            assert!(
                (ours - percent).abs() <= 0.0051,
                "{} {}: {ours}",
                row.agent,
                group.name
            );
        }
    }
}

#[test]
fn levels_categories_and_matrix_hold_the_whole_suite() {
    let summary = recompute(&TABLE[0]);
    let sizes: Vec<u64> = summary
        .levels
        .iter()
        .map(|group| group.standing.tasks)
        .collect();
    assert_eq!(sizes, [11, 58, 48, 32, 11]);
    assert_eq!(summary.categories.len(), 9);
    for (row, (category, counts)) in summary.matrix.iter().zip(SUITE) {
        assert_eq!(row.category, category);
        for (level, count) in Level::ALL.into_iter().zip(counts) {
            let tasks = row.at(level.name()).map_or(0, |standing| standing.tasks);
            assert_eq!(tasks, u64::from(count), "{category} {level}");
        }
    }
}
