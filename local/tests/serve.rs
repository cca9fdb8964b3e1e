//! The program from outside: real weights (SmolLM2-135M-Instruct, which `agon llm install smollm2` has
//! put into the cache), a real socket, real HTTP.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

#[path = "serve/answers.rs"]
mod answers;
#[path = "serve/hostile.rs"]
mod hostile;
#[path = "serve/life.rs"]
mod life;
#[path = "serve/server.rs"]
mod server;
