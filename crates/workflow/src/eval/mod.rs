//! Result files of evaluations in the shapes of OpenHands: `metadata.json`, `output.jsonl`, and what
//! prepares and reads them.

mod error;
mod import;
mod instance;
mod kept_history;
mod kept_row;
mod lines;
mod mask;
mod metadata;
mod model_json;
mod output;
mod owa;
mod prepare;
mod response;
mod result;
mod revision;
#[cfg(test)]
mod tests;
mod writer;

pub use error::EvalFileError;
pub use import::{Imported, Imports, import};
pub use instance::{Instance, id_in_dataset};
pub(crate) use lines::line_of;
pub use metadata::{EvalMetadata, MetadataOptions, make_metadata, output_folder};
pub use model_json::llm_config_json;
pub(crate) use model_json::{model_name, model_name_of};
pub use output::{EvalOutput, compatibility_for_eval_history_pairs, read_output};
pub use owa::export_owa;
pub use prepare::{Selection, prepare_dataset};
pub use response::{codeact_user_response, codeact_user_response_with};
pub use result::{Played, eval_output_of};
pub use writer::OutputWriter;
