//! The page that says why there is none.

use askama::Template;

use crate::error::ViewerError;
use crate::pages::Frame;
use crate::visible::plain;

#[derive(Template)]
#[template(path = "error.html")]
struct ErrorPage {
    frame: Frame,
    /// What is wrong, and what to do about it.
    message: String,
}

/// `title`: the kind of trouble in a word or two.
pub(crate) fn error(frame: Frame, title: &str, message: &str) -> Result<String, ViewerError> {
    let page = ErrorPage {
        frame: frame.titled(title).under_runs(),
        message: plain(message),
    };
    Ok(page.render()?)
}
