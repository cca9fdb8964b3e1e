//! What a run of many instances gives to each try of one: an account that pays for its models, and time
//! that grows with the turns of its agents. Conversations find it by themselves, so that no program around
//! them can forget to hand it on.

use std::sync::Arc;
use std::time::Duration;

use agon_core::Usage;
use agon_llm::{Account, Budget};
use tokio::sync::watch;

tokio::task_local! {
    static GIVEN: Arc<Allotment>;
}

#[derive(Debug)]
pub(crate) struct Allotment {
    account: Arc<Account>,
    /// The run's budget is one of money.
    in_money: bool,
    turns: watch::Sender<Duration>,
}

impl Allotment {
    /// What is booked here is booked on `run` as well, whose budget is `budget`.
    pub(crate) fn of(run: &Arc<Account>, budget: &Budget) -> Arc<Self> {
        let account = Account::of_trial(Budget::default(), Some(Arc::clone(run)));
        Arc::new(Self {
            account: Arc::new(account),
            in_money: budget.money.is_some(),
            turns: watch::Sender::new(Duration::ZERO),
        })
    }

    /// Conversations in `work` take part, unless it hands them to a task of its own.
    pub(crate) async fn around<T>(self: Arc<Self>, work: impl Future<Output = T>) -> T {
        GIVEN.scope(self, work).await
    }

    /// What the try around us was given, if there is one.
    pub(crate) fn given() -> Option<Arc<Self>> {
        GIVEN.try_with(Arc::clone).ok()
    }

    pub(crate) fn account(&self) -> Arc<Account> {
        Arc::clone(&self.account)
    }

    pub(super) fn in_money(&self) -> bool {
        self.in_money
    }

    /// An agent's turn begins, which ends by itself after that long.
    pub(crate) fn begins_turn(&self, most: Duration) {
        self.turns
            .send_modify(|turns| *turns = turns.saturating_add(most));
    }

    /// What all turns so far may have taken.
    pub(crate) fn turns(&self) -> watch::Receiver<Duration> {
        self.turns.subscribe()
    }

    pub(crate) fn spent(&self) -> Usage {
        self.account.spent()
    }
}
