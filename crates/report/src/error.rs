//! What can go wrong with a report.

use agon_store::StoreError;

#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    #[error(transparent)]
    Read(#[from] StoreError),
    #[error("the JSON report can't be written: {0}")]
    Json(#[from] serde_json::Error),
    #[error("the HTML page can't be written: {0}")]
    Page(#[from] askama::Error),
    #[error("`{0}` is no report format: use table, md, json, csv, junit or html")]
    NoFormat(String),
}
