//! Work that takes its time: nobody else shall wait for it, and nobody for ever.

use std::time::{Duration, Instant};

use agon_core::{Fault, FaultClass, Seconds};
use tokio::task::spawn_blocking;

use crate::finding::Finding;

/// What can't be stopped halfway takes no longer.
const GRACE: Duration = Duration::from_secs(30);

pub(crate) async fn on_the_side<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
) -> Result<T, Fault> {
    spawn_blocking(work)
        .await
        .map_err(|error| Fault::new(FaultClass::Internal, error))?
}

/// Looks at what an agent left. `look` ends by itself at its deadline, and says so as a failed check: it is
/// the agent's file that takes so long. So is one for which that is not enough.
pub(crate) async fn within(
    limit: Seconds,
    look: impl FnOnce(Instant) -> Result<Finding, Fault> + Send + 'static,
) -> Result<Finding, Fault> {
    let time = limit.duration();
    let looking = on_the_side(move || look(Instant::now() + time));
    match tokio::time::timeout(time + GRACE, looking).await {
        Ok(found) => found,
        Err(_) => Ok(Finding::fail(format!(
            "looking at it took longer than {limit}"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_does_not_end_has_failed() {
        let (end, ended) = mpsc::channel::<()>();
        let limit = Seconds::whole(5);
        let looking = tokio::spawn(within(limit, move |_| {
            // Until the test is over.
            let _ = ended.recv();
            Ok(Finding::pass("late"))
        }));
        tokio::task::yield_now().await;
        tokio::time::advance(limit.duration() + GRACE + Duration::from_secs(1)).await;
        let finding = looking.await.unwrap().unwrap();
        drop(end);
        assert!(!finding.passed);
        assert!(finding.reason.contains("longer than"), "{}", finding.reason);
    }

    #[tokio::test]
    async fn it_is_told_its_deadline() {
        let before = Instant::now();
        let limit = Seconds::whole(5);
        let finding = within(limit, move |deadline| {
            let (least, most) = (before + limit.duration(), Instant::now() + limit.duration());
            let right = (least..=most).contains(&deadline);
            Ok(Finding::unless(
                (!right).then(|| "wrong".to_owned()),
                || "right".to_owned(),
            ))
        })
        .await
        .unwrap();
        assert!(finding.passed);
    }
}
