//! Time as the client sees it: how long it waits between tries, and the limits that nothing may exceed.
//! Both are handed in, so that tests never wait.

use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::time::{Duration, Instant};

use rand::TryRng as _;
use rand::rngs::SysRng;

/// Waits, and the clock that they move.
pub trait Pace: Debug + Send + Sync {
    fn now(&self) -> Instant;

    fn sleep(&self, time: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;

    /// From 0 up to, but not including, 1.
    fn jitter(&self) -> f64;
}

/// Real time.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealPace;

impl Pace for RealPace {
    fn now(&self) -> Instant {
        Instant::now()
    }

    fn sleep(&self, time: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(tokio::time::sleep(time))
    }

    fn jitter(&self) -> f64 {
        // Without the system's numbers everybody waits the longest time, which is safe.
        let bits = SysRng.try_next_u64().unwrap_or(u64::MAX) >> 11;
        bits as f64 / (1u64 << 53) as f64
    }
}

/// What a service may take of our time and memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bounds {
    /// Until a connection stands.
    pub connect: Duration,
    /// Until the headers of an answer, in one try.
    pub headers: Duration,
    /// Between two parts of an answer.
    pub stall: Duration,
    /// For a call with all its tries, where the configuration says nothing else.
    pub call: Duration,
    /// Until there is room for a request at its service, while others are under way there. Never shorter
    /// than the time of a call. It comes on top of that.
    pub turn: Duration,
    /// Bytes of an answer in one piece.
    pub body: usize,
    /// JSON values in an answer, or in all uncommonly large events of a stream: small ones take much more
    /// memory than bytes.
    pub values: usize,
    /// Bytes of an answer in events, which say everything with many more words.
    pub stream: usize,
    /// Bytes of one event of a stream.
    pub event: usize,
    /// Bytes that are read of an error.
    pub error: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            headers: Duration::from_secs(300),
            stall: Duration::from_secs(60),
            call: Duration::from_secs(600),
            turn: Duration::from_secs(3600),
            body: 16 << 20,
            values: 250_000,
            stream: 64 << 20,
            event: 16 << 20,
            error: 64 << 10,
        }
    }
}
