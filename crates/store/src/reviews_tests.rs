//! What people say about trials: kept, bounded, and read back whatever else is in the file.

use std::fs;

use super::*;
use crate::shared_lines::LONGEST_LINE;

fn review(task: &str, verdict: ReviewVerdict, comment: &str) -> Review {
    Review {
        at: "2026-11-16T12:00:00Z".parse().unwrap(),
        task: TaskId::parse(task).unwrap(),
        epoch: 1,
        attempt: 1,
        verdict,
        comment: comment.to_owned(),
        reviewer: "anna".to_owned(),
    }
}

fn said(folder: &RunFolder, task: &str) -> (Vec<String>, u64) {
    let reviews = Reviews::read(folder).unwrap();
    let history = reviews.of(&TaskId::parse(task).unwrap(), 1, 1);
    let comments = history.iter().map(|review| review.comment.clone());
    (comments.collect(), reviews.unread())
}

#[test]
fn what_was_said_last_holds_until_it_is_taken_back() {
    let place = tempfile::tempdir().unwrap();
    let folder = RunFolder::at(place.path());
    assert!(Reviews::read(&folder).unwrap().is_empty());
    let mut holds = Vec::new();
    for verdict in [
        ReviewVerdict::Pass,
        ReviewVerdict::Fail,
        ReviewVerdict::Clear,
    ] {
        review("a/b", verdict, "").append(&folder).unwrap();
        let reviews = Reviews::read(&folder).unwrap();
        let history = reviews.of(&TaskId::parse("a/b").unwrap(), 1, 1);
        holds.push((
            history.len(),
            standing(history).map(|review| review.verdict),
        ));
    }
    assert_eq!(
        holds,
        [
            (1, Some(ReviewVerdict::Pass)),
            (2, Some(ReviewVerdict::Fail)),
            (3, None)
        ]
    );
}

#[test]
fn a_torn_line_costs_itself_and_nothing_after_it() {
    let place = tempfile::tempdir().unwrap();
    let folder = RunFolder::at(place.path());
    for comment in ["one", "two"] {
        review("a/b", ReviewVerdict::Pass, comment)
            .append(&folder)
            .unwrap();
    }
    let path = folder.reviews_file();
    let text = fs::read(&path).unwrap();
    fs::write(&path, &text[..text.len() - 5]).unwrap();
    assert_eq!(said(&folder, "a/b"), (vec!["one".to_owned()], 1));
    review("a/b", ReviewVerdict::Fail, "three")
        .append(&folder)
        .unwrap();
    let both = vec!["one".to_owned(), "three".to_owned()];
    assert_eq!(said(&folder, "a/b"), (both, 1));
}

#[test]
fn a_last_line_that_only_lacks_its_end_counts() {
    let place = tempfile::tempdir().unwrap();
    let folder = RunFolder::at(place.path());
    review("a/b", ReviewVerdict::Pass, "one")
        .append(&folder)
        .unwrap();
    let path = folder.reviews_file();
    let text = fs::read(&path).unwrap();
    fs::write(&path, text.trim_ascii_end()).unwrap();
    review("a/b", ReviewVerdict::Pass, "two")
        .append(&folder)
        .unwrap();
    let both = vec!["one".to_owned(), "two".to_owned()];
    assert_eq!(said(&folder, "a/b"), (both, 0));
}

#[test]
fn lines_of_others_are_counted_and_left_out_however_long_they_are() {
    let place = tempfile::tempdir().unwrap();
    let folder = RunFolder::at(place.path());
    let long = "x".repeat(3 * LONGEST_LINE as usize + 7);
    fs::write(folder.reviews_file(), format!("{long}\n\n{{\"no\":1}}\n")).unwrap();
    review("a/b", ReviewVerdict::Pass, "mine")
        .append(&folder)
        .unwrap();
    assert_eq!(said(&folder, "a/b"), (vec!["mine".to_owned()], 2));
}

#[test]
fn words_are_cleaned_and_cut_when_they_are_written() {
    let place = tempfile::tempdir().unwrap();
    let folder = RunFolder::at(place.path());
    let mut long = review("a/b", ReviewVerdict::Pass, &"é\u{1b}[31m".repeat(20_000));
    long.reviewer = "an\0na".repeat(100);
    long.append(&folder).unwrap();
    let reviews = Reviews::read(&folder).unwrap();
    let kept = &reviews.of(&TaskId::parse("a/b").unwrap(), 1, 1)[0];
    assert_eq!(kept.comment.chars().count(), LONGEST_COMMENT);
    assert!(kept.comment.starts_with("é[31mé"));
    assert_eq!(kept.reviewer.chars().count(), LONGEST_NAME);
    assert!(kept.reviewer.starts_with("annaanna"));
}

#[test]
fn the_longest_comment_can_be_read_back() {
    let place = tempfile::tempdir().unwrap();
    let folder = RunFolder::at(place.path());
    let comment = "\"\u{10ffff}".repeat(LONGEST_COMMENT / 2);
    review("a/b", ReviewVerdict::Pass, &comment)
        .append(&folder)
        .unwrap();
    assert_eq!(said(&folder, "a/b"), (vec![comment], 0));
}

#[test]
fn many_at_once_lose_nothing() {
    let place = tempfile::tempdir().unwrap();
    let folder = RunFolder::at(place.path());
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let folder = &folder;
            scope.spawn(move || {
                for number in 0..20 {
                    let comment = format!("{writer} {number}");
                    review("a/b", ReviewVerdict::Fail, &comment)
                        .append(folder)
                        .unwrap();
                }
            });
        }
    });
    let (comments, unread) = said(&folder, "a/b");
    assert_eq!((comments.len(), unread), (160, 0));
}
