//! The run folder: the truth about a run. Knows files and formats, nothing of sandboxes or agents.

mod abandoned;
mod attendant;
mod audit;
mod begun;
pub mod blobs;
mod chain;
mod control;
mod error;
mod finals;
mod folder;
mod held;
mod lines;
mod place;
mod plain_file;
mod progress;
mod reader;
mod recorder;
mod reviews;
mod running;
mod said;
mod shared_lines;
pub mod stored;
mod sync;
mod trouble;
mod witness;
mod writer;
mod young;

pub use abandoned::abandoned;
pub use audit::Audit;
pub use begun::BegunAttempt;
pub use control::{Order, Request, requests};
pub use error::StoreError;
pub use folder::{RunFolder, RunLock};
pub use held::Locks;
pub use plain_file::{open_plain, read_plain};
pub use progress::{Latest, Left, Progress};
pub use reader::RunReader;
pub use recorder::{Cleaner, Listener, Recorder};
pub use reviews::{LONGEST_COMMENT, Review, ReviewVerdict, Reviews, played_in, standing};
pub use running::{RunningAttempt, running};
pub use stored::{
    AgentFiles, AgentStamp, AnswerSign, EventsAt, HostStamp, JudgeStamp, LeftOut, Manifest,
    ModelStamp, SuiteStamp, TaskStamp, TrialLine,
};
pub use writer::RunWriter;
