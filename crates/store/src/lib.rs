//! The run folder: the truth about a run. Knows files and formats, nothing of sandboxes or agents.

mod abandoned;
pub mod blobs;
mod error;
mod folder;
mod lines;
mod progress;
mod reader;
mod recorder;
mod reviews;
mod said;
pub mod stored;
mod sync;
mod writer;

pub use abandoned::abandoned;
pub use error::StoreError;
pub use folder::{RunFolder, RunLock};
pub use progress::{Latest, Left, Progress};
pub use reader::RunReader;
pub use recorder::{Cleaner, Listener, Recorder};
pub use reviews::{Review, ReviewVerdict, Reviews, played_in, standing};
pub use stored::{
    AgentStamp, EventsAt, HostStamp, JudgeStamp, Manifest, ModelStamp, SuiteStamp, TaskStamp,
    TrialLine,
};
pub use writer::RunWriter;
