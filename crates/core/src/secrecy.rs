//! Who may see what, as types. A task's parts come in three trees: the agent's (`Visible`), ours
//! (`HostOnly`) and the grader's (`VerifyOnly`). None of the wrappers can be serialised, so a
//! secret can't slip into an event, a message or a log; and what is `VerifyOnly` opens only with a
//! [`CutOff`], the proof that the agent can no longer act.

use std::fmt;

/// May reach the agent and its environment.
#[derive(Debug, Clone, PartialEq)]
pub struct Visible<T>(T);

impl<T> Visible<T> {
    pub fn new(value: T) -> Self {
        Self(value)
    }
    pub fn show(&self) -> &T {
        &self.0
    }
}

/// Stays in this process: solutions, scripted users, keys.
#[derive(Clone, PartialEq)]
pub struct HostOnly<T>(T);

impl<T> HostOnly<T> {
    pub fn new(value: T) -> Self {
        Self(value)
    }
    /// For code that runs on our side only. What it returns must not be sent anywhere.
    pub fn on_host(&self) -> &T {
        &self.0
    }
}

/// For the grader, after the agent was cut off.
#[derive(Clone, PartialEq)]
pub struct VerifyOnly<T>(T);

impl<T> VerifyOnly<T> {
    pub fn new(value: T) -> Self {
        Self(value)
    }
    pub fn open(&self, _proof: &CutOff) -> &T {
        &self.0
    }
    /// For digests and lint, which look at the text but hand it to nobody.
    pub fn inspect<R>(&self, look: impl FnOnce(&T) -> R) -> R {
        look(&self.0)
    }
}

/// Proof that the agent's processes are dead or frozen and its input is closed. Made by a sandbox
/// when it has frozen itself, and by the engine for trials that have no sandbox.
#[derive(Debug, Clone)]
pub struct CutOff(());

impl CutOff {
    /// Call this only where the agent's turn has really ended.
    pub fn after_freeze() -> Self {
        Self(())
    }
}

impl<T> fmt::Debug for HostOnly<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HostOnly(..)")
    }
}

impl<T> fmt::Debug for VerifyOnly<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("VerifyOnly(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_do_not_print() {
        assert_eq!(format!("{:?}", HostOnly::new("s3cret")), "HostOnly(..)");
        assert_eq!(format!("{:?}", VerifyOnly::new("s3cret")), "VerifyOnly(..)");
    }
}
