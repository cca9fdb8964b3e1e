//! Players on real desktops: one binary, one module per part.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod play {
    mod asynchronous;
    mod clocks;
    mod endings;
    mod eyes;
    mod hands;
    mod players;
    mod stage;
}
