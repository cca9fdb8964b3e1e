//! How many requests may be under way at one service with one key. The number follows what the service
//! takes: it grows while it is really used, and falls once per episode of refusals.
//!
//! A permit that is dropped, by a call that was given up too, is back at once.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use agon_core::ModelFault;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

const FIRST: usize = 20;
const LEAST: usize = 1;
const MOST: usize = 200;
/// Of the limit, in use: otherwise an answer says nothing about a higher one.
const USED: f64 = 0.8;
/// What is left of the limit after "too many", and after "no room".
const AFTER_RATE: f64 = 0.5;
const AFTER_OVERLOAD: f64 = 0.8;
/// An episode lasts as long as the service asks for, and not shorter than this.
const COOL: Duration = Duration::from_secs(5);
/// A service can't stop the limit from following it for longer.
const LONGEST_COOL: Duration = Duration::from_secs(120);

#[derive(Debug)]
pub(super) struct Limiter {
    room: Arc<Semaphore>,
    /// It never grows beyond.
    most: usize,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// With its fraction, so that it can grow by less than one.
    limit: f64,
    /// Permits that are out.
    out: usize,
    /// Permits that are to be taken away as soon as they come back.
    owed: usize,
    /// Counts the falls. A request from before the last one has nothing new to say.
    episode: u64,
    cool_until: Option<Instant>,
}

/// Leave to send one request.
#[derive(Debug)]
pub(super) struct Permit {
    limiter: Arc<Limiter>,
    /// Always there until the permit is dropped.
    room: Option<OwnedSemaphorePermit>,
    episode: u64,
}

impl Limiter {
    pub(super) fn new() -> Arc<Self> {
        Self::from(FIRST, MOST)
    }

    /// For a service that answers one request after the other: the rest waits here, where waiting is not
    /// taken for the service's silence.
    pub(super) fn one_by_one() -> Arc<Self> {
        Self::from(LEAST, LEAST)
    }

    fn from(first: usize, most: usize) -> Arc<Self> {
        Arc::new(Self {
            room: Arc::new(Semaphore::new(first)),
            most,
            state: Mutex::new(State {
                limit: first as f64,
                out: 0,
                owed: 0,
                episode: 0,
                cool_until: None,
            }),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for its turn: first come, first served.
    pub(super) async fn permit(self: &Arc<Self>) -> Permit {
        // Whoever is given up when a place was his already leaves it to those who wait; it may have been
        // owed. Made first, it is dropped last.
        let _settles = Settles(self);
        // Nobody closes the semaphore; were it closed, there would be no limit rather than no answer.
        let room = Arc::clone(&self.room).acquire_owned().await.ok();
        let mut state = self.state();
        state.out += 1;
        Permit {
            limiter: Arc::clone(self),
            room,
            episode: state.episode,
        }
    }

    /// Takes away what is owed, as far as it is there.
    fn settle(&self, state: &mut State) {
        if state.owed > 0 {
            state.owed -= self.room.forget_permits(state.owed);
        }
    }

    fn set(&self, state: &mut State, limit: f64) {
        let (old, limit) = (state.limit, limit.clamp(LEAST as f64, self.most as f64));
        state.limit = limit;
        let (old, new) = (old as usize, limit as usize);
        if new < old {
            state.owed += old - new;
        } else {
            let more = new - old;
            let paid = more.min(state.owed);
            state.owed -= paid;
            self.room.add_permits(more - paid);
        }
        self.settle(state);
    }
}

/// Takes away what is owed when it is dropped.
struct Settles<'a>(&'a Limiter);

impl Drop for Settles<'_> {
    fn drop(&mut self) {
        self.0.settle(&mut self.0.state());
    }
}

impl Permit {
    /// The service has answered.
    pub(super) fn answered(&self) {
        let mut state = self.limiter.state();
        let state = &mut *state;
        if self.episode == state.episode && state.out as f64 >= USED * state.limit.floor() {
            // Until the first refusal the limit is unknown, and looked for faster.
            let step = if state.episode == 0 {
                1.0
            } else {
                1.0 / state.limit
            };
            let limit = state.limit + step;
            self.limiter.set(state, limit);
        }
    }

    /// The service has refused: with "too many" or "no room", the limit falls.
    pub(super) fn refused(&self, fault: ModelFault, retry_after: Option<Duration>, now: Instant) {
        let left = match fault {
            ModelFault::RateLimit => AFTER_RATE,
            ModelFault::Overload => AFTER_OVERLOAD,
            _ => return,
        };
        let mut state = self.limiter.state();
        let state = &mut *state;
        if self.episode < state.episode || state.cool_until.is_some_and(|until| now < until) {
            return;
        }
        let cool = retry_after.unwrap_or(COOL).clamp(COOL, LONGEST_COOL);
        state.cool_until = Some(now + cool);
        state.episode += 1;
        let limit = state.limit * left;
        self.limiter.set(state, limit);
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut state = self.limiter.state();
        let state = &mut *state;
        state.out = state.out.saturating_sub(1);
        if let Some(room) = self.room.take() {
            if state.owed > 0 {
                state.owed -= 1;
                room.forget();
            } else {
                drop(room);
            }
        }
        self.limiter.settle(state);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use proptest::prelude::*;

    use super::*;

    impl Limiter {
        pub(crate) fn limit(&self) -> usize {
            self.state().limit as usize
        }

        /// Every permit is either there, out or owed.
        fn sound(&self) -> bool {
            let state = self.state();
            self.room.available_permits() + state.out == state.limit as usize + state.owed
        }
    }

    fn take(limiter: &Arc<Limiter>) -> Option<Permit> {
        // A runtime lets a task wait that has been given much, even if there is more.
        tokio::task::coop::unconstrained(limiter.permit()).now_or_never()
    }

    #[tokio::test]
    async fn one_by_one_stays_so() {
        let limiter = Limiter::one_by_one();
        for _ in 0..3 {
            let permit = limiter.permit().await;
            assert_eq!(limiter.room.available_permits(), 0);
            permit.answered();
            assert_eq!(limiter.room.available_permits(), 0);
        }
        assert_eq!(limiter.room.available_permits(), 1);
    }

    #[test]
    fn it_starts_at_twenty_and_grows_only_when_used() {
        let limiter = Limiter::new();
        let mut out: Vec<Permit> = (0..20).map(|_| take(&limiter).unwrap()).collect();
        assert!(take(&limiter).is_none());
        out[0].answered();
        assert_eq!(limiter.limit(), 21);
        out.truncate(3);
        out[0].answered();
        assert_eq!(limiter.limit(), 21);
    }

    #[test]
    fn an_episode_halves_it_once() {
        let limiter = Limiter::new();
        let now = Instant::now();
        let out: Vec<Permit> = (0..20).map(|_| take(&limiter).unwrap()).collect();
        for permit in &out {
            permit.refused(ModelFault::RateLimit, None, now);
        }
        assert_eq!(limiter.limit(), 10);
        drop(out);
        assert!(limiter.sound());
        let later = take(&limiter).unwrap();
        later.refused(ModelFault::RateLimit, None, now + Duration::from_secs(1));
        assert_eq!(limiter.limit(), 10, "still cooling");
        later.refused(ModelFault::RateLimit, None, now + Duration::from_secs(6));
        assert_eq!(limiter.limit(), 5);
        let out: Vec<Permit> = std::iter::from_fn(|| take(&limiter)).collect();
        assert_eq!(out.len(), 4, "and one is out already");
    }

    #[test]
    fn an_overload_takes_a_fifth_and_other_faults_nothing() {
        let limiter = Limiter::new();
        let permit = take(&limiter).unwrap();
        permit.refused(ModelFault::Network, None, Instant::now());
        assert_eq!(limiter.limit(), 20);
        permit.refused(ModelFault::Overload, None, Instant::now());
        assert_eq!(limiter.limit(), 16);
    }

    #[test]
    fn it_never_falls_below_one_nor_grows_beyond_its_most() {
        let limiter = Limiter::new();
        let mut now = Instant::now();
        for _ in 0..12 {
            now += LONGEST_COOL;
            take(&limiter)
                .unwrap()
                .refused(ModelFault::RateLimit, None, now);
        }
        assert_eq!(limiter.limit(), 1);
        assert!(take(&limiter).is_some());
        for _ in 0..30_000 {
            let out: Vec<Permit> = std::iter::from_fn(|| take(&limiter)).collect();
            out[0].answered();
        }
        assert_eq!(limiter.limit(), MOST);
        assert!(limiter.sound());
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn calls_that_are_given_up_lose_nothing() {
        let limiter = Limiter::new();
        let mut tasks = Vec::new();
        for round in 0..2_000_u64 {
            let limiter = Arc::clone(&limiter);
            tasks.push(tokio::spawn(async move {
                let permit = limiter.permit().await;
                tokio::task::yield_now().await;
                match round % 7 {
                    0 => permit.refused(ModelFault::RateLimit, None, Instant::now()),
                    _ => permit.answered(),
                }
            }));
            if round % 3 == 0 {
                tasks[(round / 2) as usize].abort();
            }
            if round % 50 == 0 {
                tokio::task::yield_now().await;
            }
        }
        for task in tasks {
            let _ = task.await;
        }
        assert!(limiter.sound());
        assert_eq!(limiter.state().out, 0);
        let out: Vec<Permit> = std::iter::from_fn(|| take(&limiter)).collect();
        assert_eq!(out.len(), limiter.limit());
    }

    #[tokio::test]
    async fn places_that_are_owed_do_not_come_back_with_calls_that_are_given_up() {
        let limiter = Limiter::new();
        let mut out: Vec<Permit> = (0..20).map(|_| take(&limiter).unwrap()).collect();
        let mut waiting: Vec<_> = (0..20).map(|_| Box::pin(limiter.permit())).collect();
        for one in &mut waiting {
            assert!(one.as_mut().now_or_never().is_none());
        }
        // These places are given to those who wait, who do not know it yet.
        out.truncate(1);
        out[0].refused(ModelFault::RateLimit, None, Instant::now());
        drop(out);
        drop(waiting);
        assert_eq!(limiter.limit(), 10);
        let all: Vec<Permit> = std::iter::from_fn(|| take(&limiter)).collect();
        assert_eq!(all.len(), 10);
        assert!(limiter.sound());
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn any_number_of_calls_given_up_at_any_time_lose_nothing() {
        for seed in 0..40_u64 {
            let limiter = Limiter::new();
            let mut chance = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
            let mut next = || {
                chance ^= chance << 13;
                chance ^= chance >> 7;
                chance ^= chance << 17;
                chance as usize
            };
            let mut tasks = Vec::new();
            for _ in 0..300 {
                let (limiter, pauses, what) = (Arc::clone(&limiter), next() % 4, next() % 9);
                tasks.push(tokio::spawn(async move {
                    let permit = limiter.permit().await;
                    for _ in 0..pauses {
                        tokio::task::yield_now().await;
                    }
                    match what {
                        0 => permit.refused(ModelFault::RateLimit, None, Instant::now()),
                        1 => permit.refused(ModelFault::Overload, None, Instant::now() + 2 * COOL),
                        2 => {}
                        _ => permit.answered(),
                    }
                }));
                if next() % 3 == 0 {
                    let which = next() % tasks.len();
                    tasks[which].abort();
                }
                if next() % 16 == 0 {
                    tokio::task::yield_now().await;
                }
            }
            let all = futures_util::future::join_all(tasks);
            let all = tokio::time::timeout(Duration::from_secs(60), all).await;
            assert!(all.is_ok(), "somebody waits for ever (seed {seed})");
            assert!(limiter.sound(), "seed {seed}");
            let out: Vec<Permit> = std::iter::from_fn(|| take(&limiter)).collect();
            assert_eq!(out.len(), limiter.limit(), "seed {seed}");
        }
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_the_bounds_hold(steps in proptest::collection::vec((0u8..5, 0usize..300), 0..400)) {
            let limiter = Limiter::new();
            let mut now = Instant::now();
            let mut out: Vec<Permit> = Vec::new();
            for (what, which) in steps {
                match (what, out.is_empty()) {
                    (0 | 1, _) | (_, true) => out.extend(take(&limiter)),
                    (2, _) => drop(out.swap_remove(which % out.len())),
                    (3, _) => out[which % out.len()].answered(),
                    _ => {
                        now += Duration::from_secs(which as u64 / 40);
                        out[which % out.len()].refused(ModelFault::RateLimit, None, now);
                    }
                }
                prop_assert!(limiter.sound());
                prop_assert!((LEAST..=MOST).contains(&limiter.limit()));
                prop_assert_eq!(limiter.state().out, out.len());
            }
            drop(out);
            let all: Vec<Permit> = std::iter::from_fn(|| take(&limiter)).collect();
            prop_assert_eq!(all.len(), limiter.limit());
        }
    }
}
