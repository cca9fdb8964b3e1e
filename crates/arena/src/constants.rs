//! Addresses and times under the names that users of the original know.

use std::time::Duration;

/// Where servers listen and are reached.
#[derive(Debug)]
pub enum NETWORK {}

impl NETWORK {
    /// The original's was 0.0.0.0, which gave everybody in the network the keyboard.
    pub const DEFAULT_HOST: &str = Self::LOCALHOST;
    pub const LOCALHOST: &str = "127.0.0.1";
    pub const AGENT_PORT: u16 = 8000;
    pub const EVALUATOR_PORT: u16 = 8001;
    /// Pairs of servers side by side: agent here, evaluator one above, the next pair two above.
    pub const PARALLEL_PORT: u16 = 8181;
}

#[derive(Debug)]
pub enum TIMES {}

impl TIMES {
    pub const SERVER_STARTUP_MAX_RETRIES: u32 = 10;
    pub const SERVER_STARTUP_RETRY_INTERVAL: Duration = Duration::from_secs(1);
    pub const TASK_CLEANUP_TIMEOUT: Duration = Duration::from_secs(2);
    pub const AGENT_RESET_DELAY: Duration = Duration::from_secs(1);
    pub const THREAD_JOIN_TIMEOUT: Duration = Duration::from_secs(2);
    pub const EVALUATION_POLL_INTERVAL: Duration = Duration::from_millis(500);
    pub const KEYBOARD_PRESS_DELAY: Duration = Duration::from_millis(50);
    pub const BUSY_WAIT_PREVENT_EVALUATOR: Duration = Duration::from_millis(100);
    pub const BUSY_WAIT_PREVENT_AGENT: Duration = Duration::from_millis(10);
    pub const TIMESTAMP_INTERVAL: Duration = Duration::from_millis(50);
}
