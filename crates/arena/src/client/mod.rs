//! The third party: wires agent and evaluator together, hands out tasks and collects results.

mod combined;
mod evaluation;
mod parallel;

pub use combined::{PairOptions, Pairing, run_evaluation_client_with_server};
pub use evaluation::{
    ClientOptions, Evaluation, run_evaluation_client, run_evaluation_client_async,
};
pub use parallel::run_evaluation_client_with_server_parallel;
