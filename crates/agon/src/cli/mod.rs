//! The command line: arguments in, library calls, text and exit status out. Nothing is decided here
//! that a user of the library could need.

mod arena;
mod args;
mod bench;
mod cases;
mod chosen;
mod clean;
mod contest;
mod desktop;
mod doctor;
mod entry;
mod exit;
mod export;
mod failure;
mod host;
mod image;
mod judge;
mod known_answers;
mod lint;
mod list;
mod live;
mod llm;
mod load;
mod manifest;
mod model_stamp;
mod ocr;
mod output;
mod own_files;
mod play;
mod predict;
mod progress;
mod report;
mod results;
mod review;
mod run;
mod schema;
mod signals;
mod solve;
mod suite;
mod validate;
mod version;
mod view;

pub use entry::main;
pub use exit::Exit;
