//! Reports about runs: what the recorded trials add up to, and the pages, tables and files that say
//! it. Reads the stored types only; knows nothing of sandboxes, agents or how a run is carried out.

mod again;
mod asked;
mod caveat;
mod comparison;
mod confidence;
mod csv;
mod document;
mod error;
mod facts;
mod format;
mod headline;
mod html;
mod junit;
mod markdown;
mod measured;
mod people;
mod plan;
mod prediction;
mod prediction_sheets;
mod run_report;
mod sheet;
mod summary;
mod table;
mod tally;
mod text;
mod usage;

pub use caveat::{Caveat, CaveatKind};
pub use comparison::{
    ComparedCell, ComparedRun, ComparedTask, Comparison, Contender, PairedRun, PlayedTrial,
    run_sign,
};
pub use confidence::{Interval, Method, NO_INTERVAL};
pub use document::{Document, RunDocument, document_schema};
pub use error::ReportError;
pub use format::{Format, render};
pub use headline::Headline;
pub use measured::{Measured, MeasuredSpread, MeasuredTask};
pub use people::{Disagreement, People};
pub use prediction::{
    DistanceBin, Distances, KindScore, PredictionGroup, Predictions, Rate, Unread,
};
pub use run_report::{Each, RunReport, Trials};
pub use summary::{
    Bin, Draws, EndCount, FaultCount, Group, Marks, MatrixCell, MatrixRow, NeverEnded, Repeat,
    Standing, StepCounts, Summary, TimeSpent, Weighted,
};
pub use table::{Look, Screen};
pub use tally::Tally;
pub use text::{clip, count, duration, maybe_percent, percent, plain, range, value};
pub use usage::{TaskUsage, UsageTotal};
