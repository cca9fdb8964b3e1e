//! Temporary.
#![expect(dead_code, reason = "temporary")]
#[path = "scratch_kb"]
mod desktop {
    mod keyboard;
    mod probe;
}
