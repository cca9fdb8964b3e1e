//! Several tasks at the same time, each with a pair of servers of its own and, where the caller gives
//! it one, a desktop of its own: no two agents share a keyboard.

use std::sync::{Mutex, PoisonError};
use std::thread;

use agon_agent::play::Task;
use tokio_util::sync::CancellationToken;

use super::combined::{PairOptions, Pairing};
use super::evaluation::{Evaluation, blocking};
use crate::constants::NETWORK;
use crate::error::ArenaError;

impl PairOptions {
    /// The options of the pair with this number among several: neighbouring ports from 8181 on.
    pub fn of_pair(number: u16) -> Self {
        let mut options = Self::default();
        options.agent.port = NETWORK::PARALLEL_PORT.saturating_add(number.saturating_mul(2));
        options.evaluator.port = options.agent.port.saturating_add(1);
        options
    }
}

/// Plays at most `at_once` tasks at the same time; `make` is given the task and the number of the pair,
/// below `at_once`. The evaluations come in the order of the tasks.
pub fn run_evaluation_client_with_server_parallel(
    tasks: Vec<Task>,
    at_once: u16,
    make: impl Fn(&Task, u16) -> Result<Pairing, ArenaError> + Sync,
) -> Vec<Evaluation> {
    let workers = workers(at_once, tasks.len());
    let waiting = Mutex::new(tasks.into_iter().enumerate());
    let done = Mutex::new(Vec::new());
    let next = || {
        waiting
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .next()
    };
    let work = |number| {
        while let Some((index, task)) = next() {
            let evaluation = evaluate(task, number, &make);
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            done.push((index, evaluation));
        }
    };
    thread::scope(|scope| {
        for number in 0..workers {
            let work = &work;
            scope.spawn(move || work(number));
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, evaluation)| evaluation).collect()
}

/// As many as have something to do.
fn workers(at_once: u16, tasks: usize) -> u16 {
    let useful = u16::try_from(tasks).unwrap_or(u16::MAX);
    at_once.max(1).min(useful)
}

fn evaluate(
    task: Task,
    number: u16,
    make: &impl Fn(&Task, u16) -> Result<Pairing, ArenaError>,
) -> Evaluation {
    let stop = CancellationToken::new();
    let done = make(&task, number)
        .and_then(|pairing| blocking(pairing.evaluate([task.clone()], &stop, |_| {})));
    match done.map(|mut done| done.pop()) {
        Ok(Some(evaluation)) => evaluation,
        Ok(None) => Evaluation {
            task,
            result: Err(ArenaError::Unsupported("the task was not played")),
        },
        Err(error) => Evaluation {
            task,
            result: Err(error),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_started_who_would_have_nothing_to_do() {
        assert_eq!(workers(u16::MAX, 2), 2);
        assert_eq!(workers(3, 100_000), 3);
        assert_eq!(workers(0, 5), 1);
        assert_eq!(workers(4, 0), 0);
    }
}
