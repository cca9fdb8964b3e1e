//! Serves a model's weights on this machine over a private socket, for Agon. A program of its own,
//! because llama.cpp takes minutes to build and a broken file of weights may end the process that reads
//! it. Knows nothing of Agon: it speaks OpenAI's chat completions.

mod answer;
mod ask;
mod body;
mod engine;
mod generate;
mod last_words;
mod options;
mod refusal;
mod sample;
mod schema;
mod scribe;
mod serve;
mod socket;
mod weights;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    serve::run(options::Options::parse())
}
