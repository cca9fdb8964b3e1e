//! What the pages and the API say, as data: the types behind `/api`. Fields are only ever added.

mod comparison;
mod feed;
mod query;
mod run;
mod step;
mod trial;
mod words;

pub use comparison::{
    ComparedCell, ComparedRun, ComparedTask, Comparison, Kinds, Paired, Shown, TaskPage, TaskQuery,
    TaskSort,
};
pub use feed::{Feed, Moment, Progress};
pub use query::{Flag, SortKey, State, TrialQuery};
pub use run::{RunCard, RunState, Timeline};
pub use step::{Shot, Step, StepRow, Steps, Track};
pub use trial::{AttemptCard, Neighbours, ReviewCard, TrialHead, TrialKey, TrialPage, TrialRow};
pub use words::{ReviewOrder, StopOrder};
