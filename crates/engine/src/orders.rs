//! What operators ask of the run while it goes on: its control file is looked at a few times a second. Knows
//! nothing of what runs.

use std::time::Duration;

use agon_store::{Request, RunFolder, requests};
use tokio::time::{Interval, MissedTickBehavior, interval};

const EVERY: Duration = Duration::from_millis(200);

#[derive(Debug)]
pub(crate) struct Orders {
    folder: RunFolder,
    /// Up to where the file was read; `None`: it could not be.
    at: Option<u64>,
    length: u64,
    tick: Interval,
}

impl Orders {
    /// What stands in the file already was for somebody else.
    pub(crate) fn new(folder: &RunFolder) -> Self {
        let mut tick = interval(EVERY);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut orders = Self {
            folder: folder.clone(),
            at: None,
            length: 0,
            tick,
        };
        orders.look();
        orders
    }

    /// Comes back when somebody asks for something. May be dropped at any time.
    pub(crate) async fn next(&mut self) -> Vec<Request> {
        loop {
            self.tick.tick().await;
            let asked = self.look();
            if !asked.is_empty() {
                return asked;
            }
        }
    }

    fn look(&mut self) -> Vec<Request> {
        let length = self.folder.control_file().metadata().map(|meta| meta.len());
        let length = length.unwrap_or(0);
        if self.at.is_some() && length == self.length {
            return Vec::new();
        }
        // A file that can't be read now may be later: nobody's trial ends for it.
        let Ok((found, end)) = requests(&self.folder, self.at.unwrap_or(0)) else {
            return Vec::new();
        };
        self.length = length;
        let known = self.at.replace(end).is_some();
        if known { found } else { Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use agon_core::TaskId;
    use agon_store::Order;

    use super::*;

    fn stop(task: &str) -> Request {
        Request {
            at: "2026-11-16T12:00:00Z".parse().unwrap(),
            order: Order::Stop,
            task: TaskId::parse(task).unwrap(),
            epoch: 1,
            attempt: 1,
            began: None,
            by: String::new(),
        }
    }

    #[tokio::test]
    async fn only_what_is_asked_from_now_on_is_heard() {
        let root = tempfile::tempdir().unwrap();
        let folder = RunFolder::at(root.path());
        stop("test/old").append(&folder).unwrap();
        // Whoever wrote this was killed over it.
        let torn = std::fs::File::options()
            .append(true)
            .open(folder.control_file());
        torn.unwrap().write_all(b"{\"order\":\"st").unwrap();
        let mut orders = Orders::new(&folder);
        stop("test/new").append(&folder).unwrap();
        assert_eq!(orders.next().await, [stop("test/new")]);
        stop("test/newer").append(&folder).unwrap();
        assert_eq!(orders.next().await, [stop("test/newer")]);
    }

    #[tokio::test]
    async fn a_file_that_is_not_there_yet_is_waited_for() {
        let root = tempfile::tempdir().unwrap();
        let folder = RunFolder::at(root.path());
        let mut orders = Orders::new(&folder);
        let asking = async {
            tokio::task::yield_now().await;
            stop("test/a").append(&folder).unwrap();
        };
        let (asked, ()) = tokio::join!(orders.next(), asking);
        assert_eq!(asked, [stop("test/a")]);
    }
}
