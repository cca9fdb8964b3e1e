//! Which trial each row is of. A file may have several rows of one instance: each that holds a result is an
//! epoch of its own, so that none gets lost.

use std::collections::{HashMap, HashSet};

use super::row::Head;

/// Where a row stands in the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) epoch: u32,
    pub(super) attempt: u32,
    pub(super) is_final: bool,
    /// The attempt before it ended in an error.
    pub(super) retried: bool,
}

/// One for each row. A row without a result gives way to the result that follows it; not so in files of
/// Agon's own, which hold only what stood at the end.
pub(super) fn places(heads: &[Head]) -> Vec<Place> {
    let all_final = heads.iter().any(|head| head.of_agon);
    let mut seen = HashSet::new();
    let mut gives_way: Vec<bool> = heads
        .iter()
        .rev()
        .map(|head| {
            let followed = seen.contains(&*head.id);
            if head.graded {
                seen.insert(&*head.id);
            }
            followed && !head.graded && !all_final
        })
        .collect();
    gives_way.reverse();
    let mut next: HashMap<&str, Place> = HashMap::new();
    let placed = heads.iter().zip(gives_way).map(|(head, gives_way)| {
        let next = next.entry(&head.id).or_insert(Place {
            epoch: 1,
            attempt: 1,
            is_final: true,
            retried: false,
        });
        let place = Place {
            is_final: !gives_way,
            ..*next
        };
        if gives_way {
            next.attempt += 1;
            next.retried |= head.erred;
        } else {
            (next.epoch, next.attempt, next.retried) = (place.epoch + 1, 1, false);
        }
        place
    });
    placed.collect()
}

/// How many epochs the instances have: the fewest and the most.
pub(super) fn epochs(heads: &[Head], places: &[Place]) -> (u32, u32) {
    let mut last: HashMap<&str, u32> = HashMap::new();
    for (head, place) in heads.iter().zip(places) {
        last.insert(&head.id, place.epoch);
    }
    let fewest = last.values().min().copied().unwrap_or(1);
    let most = last.values().max().copied().unwrap_or(1);
    (fewest, most)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `+` is a result, `!` an error, `?` neither.
    fn heads(rows: &[(&str, char)], of_agon: bool) -> Vec<Head> {
        let head = |(id, is): &(&str, char)| Head {
            id: (*id).to_owned(),
            instruction: None,
            metadata: None,
            began: None,
            graded: *is == '+',
            erred: *is == '!',
            of_agon,
        };
        rows.iter().map(head).collect()
    }

    fn placed(rows: &[(&str, char)], of_agon: bool) -> Vec<(u32, u32, bool, bool)> {
        let places = places(&heads(rows, of_agon));
        let told = places
            .iter()
            .map(|place| (place.epoch, place.attempt, place.is_final, place.retried));
        told.collect()
    }

    #[test]
    fn results_are_epochs_and_only_what_failed_is_tried_again() {
        let rows = [("a", '+'), ("b", '!'), ("a", '+'), ("b", '?'), ("b", '+')];
        assert_eq!(
            placed(&rows, false),
            [
                (1, 1, true, false),
                (1, 1, false, false),
                (2, 1, true, false),
                (1, 2, false, true),
                (1, 3, true, true),
            ]
        );
        let handed_in = [("a", '?'), ("a", '+')];
        assert_eq!(
            placed(&handed_in, false),
            [(1, 1, false, false), (1, 2, true, false)],
            "it was graded later, not tried again"
        );
    }

    #[test]
    fn no_result_gives_way_to_a_fault() {
        let rows = [("a", '+'), ("a", '!'), ("a", '!')];
        let each = [
            (1, 1, true, false),
            (2, 1, true, false),
            (3, 1, true, false),
        ];
        assert_eq!(placed(&rows, false), each);
        let own = [("a", '!'), ("a", '+'), ("a", '!')];
        assert_eq!(placed(&own, true), each);
    }

    #[test]
    fn instances_may_have_different_numbers_of_epochs() {
        let heads = heads(&[("a", '+'), ("b", '!'), ("a", '+'), ("b", '+')], false);
        assert_eq!(epochs(&heads, &places(&heads)), (1, 2));
    }
}
