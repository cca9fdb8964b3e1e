//! What those who listen are told: whatever is not as they were told before.

use crate::shape::{Feed, Moment, Progress, TrialKey};

#[derive(Debug, Default)]
pub(super) struct Telling {
    told: Option<Progress>,
}

impl Telling {
    /// `now`: the run as it is.
    pub(super) fn news(&mut self, now: &Progress) -> Vec<Feed> {
        let told = self.told.replace(now.clone());
        let Some(told) = told else {
            return vec![Feed::Progress(now.clone())];
        };
        let mut news: Vec<Feed> = now
            .running
            .iter()
            .filter(|moment| moment.stopping && !was_stopping(&told, moment))
            .map(|moment| Feed::Stopping(moment.key.clone()))
            .collect();
        if !is_same(&told, now) {
            news.push(Feed::Progress(now.clone()));
            return news;
        }
        let both = told.running.iter().zip(&now.running);
        let moved = both.filter(|(before, moment)| before.read != moment.read);
        news.extend(moved.map(|(_, moment)| Feed::Moment(moment.clone())));
        news
    }
}

fn was_stopping(told: &Progress, now: &Moment) -> bool {
    let same = |moment: &&Moment| moment.key == now.key && moment.began == now.began;
    told.running
        .iter()
        .find(same)
        .is_some_and(|moment| moment.stopping)
}

/// But for what is told as moments.
fn is_same(one: &Progress, other: &Progress) -> bool {
    let counts = |of: &Progress| {
        let results = (of.planned, of.passed, of.failed, of.faulted, of.missing);
        (of.live, results, of.revision)
    };
    counts(one) == counts(other) && attempts(one).eq(attempts(other))
}

fn attempts(of: &Progress) -> impl Iterator<Item = (&TrialKey, jiff::Timestamp)> {
    of.running.iter().map(|moment| (&moment.key, moment.began))
}
