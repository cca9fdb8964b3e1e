//! The command line.

use std::path::PathBuf;

/// Serves a GGUF file of weights on a unix socket, as OpenAI's API: POST /v1/chat/completions and
/// /v1/completions (also streamed), GET /v1/models and /health. Writes `ready` to standard output when it
/// can be asked. Ends when standard input is closed, so that it never outlives who started it.
#[derive(Debug, clap::Parser)]
#[command(name = "agon-local", version)]
pub(crate) struct Options {
    /// The weights, a GGUF file
    #[arg(long, value_name = "FILE")]
    pub(crate) model: PathBuf,
    /// The socket to make, in a folder that nobody else may enter (mode 700)
    #[arg(long, value_name = "PATH")]
    pub(crate) socket: PathBuf,
    /// Tokens of prompt and answer together [default: what the model was trained for, 8192 at most]
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(16..=1 << 20))]
    pub(crate) context: Option<u32>,
    /// Threads that compute [default: one for two processors]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..=512))]
    pub(crate) threads: Option<u16>,
    /// Ends after so many seconds without a request
    #[arg(long, value_name = "SECONDS", default_value_t = 900)]
    pub(crate) idle: u64,
}
