//! How much waits in memory to be recorded: a most of it can. What was said is taken away by whoever
//! records it, every second or so; from then on there is room again.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use hyper::StatusCode;
use serde_json::Value;

use super::fault::Fault;
use crate::account::Account;

const MOST_CALLS: u32 = 1_000;
const MOST_BYTES: usize = 256 << 20;

#[derive(Debug)]
pub(super) struct Tally {
    account: Arc<Account>,
    sums: Mutex<Sums>,
}

#[derive(Debug, Default)]
struct Sums {
    calls: u32,
    bytes: usize,
    /// How often the account had been emptied when they began.
    emptied: u64,
}

impl Tally {
    pub(super) fn of(account: Arc<Account>) -> Self {
        Self {
            account,
            sums: Mutex::default(),
        }
    }

    /// One more call with a body of so many bytes.
    pub(super) fn ask(&self, bytes: usize) -> Result<(), Fault> {
        self.with(|sums| {
            if sums.calls >= MOST_CALLS || sums.bytes.saturating_add(bytes) > MOST_BYTES {
                return Err(Fault::of_client(
                    StatusCode::TOO_MANY_REQUESTS,
                    "too much was asked within a second; wait until it is recorded",
                ));
            }
            sums.calls += 1;
            sums.bytes += bytes;
            Ok(())
        })
    }

    /// It was answered with this, which is there, however long.
    pub(super) fn answered(&self, answer: &Value) {
        let mut length = Length(0);
        // It can't fail: nothing is written anywhere.
        let _ = serde_json::to_writer(&mut length, answer);
        let Length(bytes) = length;
        self.with(|sums| sums.bytes = sums.bytes.saturating_add(bytes));
    }

    fn with<T>(&self, work: impl FnOnce(&mut Sums) -> T) -> T {
        let mut sums = self.sums.lock().unwrap_or_else(PoisonError::into_inner);
        let emptied = self.account.emptied();
        if sums.emptied != emptied {
            *sums = Sums {
                emptied,
                ..Sums::default()
            };
        }
        work(&mut sums)
    }
}

/// Of what is written, and thrown away.
struct Length(usize);

impl Write for Length {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::Budget;

    #[test]
    fn so_many_calls_and_bytes_until_they_are_recorded() {
        let account = Arc::new(Account::of_trial(Budget::default(), None));
        let tally = Tally::of(Arc::clone(&account));
        for _ in 0..2 {
            assert!((0..MOST_CALLS).all(|_| tally.ask(1).is_ok()));
            let refused = tally.ask(1).unwrap_err();
            assert_eq!((refused.status.as_u16(), refused.again), (429, true));
            account.take_calls();
        }
        assert!(tally.ask(MOST_BYTES - 10).is_ok());
        tally.answered(&"12345678".into());
        assert!(tally.ask(1).is_err());
        account.take_calls();
        assert!(tally.ask(1).is_ok());
    }
}
