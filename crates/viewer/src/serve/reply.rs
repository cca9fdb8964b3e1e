//! Answers: what is sent with them so that browsers keep what never changes and ask again, cheaply, for what
//! may have.

use agon_core::Digest;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use serde::Serialize;
use serde_json::json;

use crate::error::ViewerError;
use crate::pages::{self, Frame};

/// Content under a name that is a digest of it.
const FOR_EVER: &str = "private, max-age=31536000, immutable";
/// May be kept, but must be asked for each time.
const ASK_AGAIN: &str = "private, no-cache";
const NEVER: &str = "no-store";

#[derive(Debug)]
pub(crate) enum Reply {
    Json(Vec<u8>),
    Page(String),
    /// To another page of ours.
    See(String),
    /// What never changes under its address.
    Fixed {
        content_type: &'static str,
        body: Body,
    },
    /// Something that a browser must not show itself.
    File(Body),
}

impl Reply {
    pub(crate) fn json(value: &impl Serialize) -> Result<Self, ViewerError> {
        let bytes = serde_json::to_vec(value).map_err(|error| {
            ViewerError::Internal(format!("the answer can't be written: {error}"))
        })?;
        Ok(Self::Json(bytes))
    }

    /// `asked`: the headers of the request, which may say what the browser has already.
    pub(crate) fn send(self, asked: &HeaderMap) -> Response {
        match self {
            Self::Json(bytes) => checked(asked, "application/json", bytes),
            Self::Page(text) => checked(asked, "text/html; charset=utf-8", text.into_bytes()),
            Self::See(to) => see(&to),
            Self::Fixed { content_type, body } => {
                answer(StatusCode::OK, content_type, FOR_EVER, body)
            }
            Self::File(body) => {
                let mut response =
                    answer(StatusCode::OK, "application/octet-stream", FOR_EVER, body);
                let attachment = HeaderValue::from_static("attachment");
                response
                    .headers_mut()
                    .insert(header::CONTENT_DISPOSITION, attachment);
                response
            }
        }
    }
}

/// With a digest of the content; without the content where the browser has it.
fn checked(asked: &HeaderMap, content_type: &'static str, bytes: Vec<u8>) -> Response {
    // 128 bits: who writes what is shown must not find two contents with the same one.
    let digest = Digest::of(&bytes);
    let tag = hex::encode(digest.bytes().get(..16).unwrap_or_default());
    let tag = format!("\"{tag}\"");
    let mut response = if has_already(asked, &tag) {
        let mut response = answer(
            StatusCode::NOT_MODIFIED,
            content_type,
            ASK_AGAIN,
            Body::empty(),
        );
        response.headers_mut().remove(header::CONTENT_TYPE);
        response
    } else {
        answer(StatusCode::OK, content_type, ASK_AGAIN, Body::from(bytes))
    };
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response
}

fn has_already(asked: &HeaderMap, tag: &str) -> bool {
    asked
        .get_all(header::IF_NONE_MATCH)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|value| value.trim().trim_start_matches("W/"))
        .any(|value| value == tag || value == "*")
}

pub(crate) fn see(to: &str) -> Response {
    let mut response = answer(
        StatusCode::SEE_OTHER,
        "text/plain; charset=utf-8",
        NEVER,
        Body::empty(),
    );
    if let Ok(to) = HeaderValue::from_str(to) {
        response.headers_mut().insert(header::LOCATION, to);
    }
    response
}

/// A path as one of this server: two slashes at its beginning, or what browsers take for a slash, would
/// lead to another one.
pub(crate) fn own_path(path: &str) -> String {
    let path = path.replace('\\', "%5C");
    format!("/{}", path.trim_start_matches('/'))
}

/// A method that no address knows, or not this one.
pub(crate) fn not_so(reader: Reader) -> Response {
    trouble(
        reader,
        StatusCode::METHOD_NOT_ALLOWED,
        "Not understood",
        "this address is asked in another way",
    )
}

fn answer(
    status: StatusCode,
    content_type: &'static str,
    keep: &'static str,
    body: Body,
) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(keep));
    response
}

/// Who is told that something went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reader {
    /// A script: JSON.
    Program,
    /// A person: a page.
    Person,
}

impl Reader {
    /// By the address: pages are for people.
    pub(crate) fn of(path: &str) -> Self {
        let fetched = ["/api", "/assets"].iter().any(|part| {
            path.strip_prefix(part)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        });
        let picture = path.contains("/blobs/") || path.contains("/thumbs/");
        if fetched || picture || path.ends_with("/overview") {
            Self::Program
        } else {
            Self::Person
        }
    }
}

/// What an error is sent as.
pub(crate) fn failed(reader: Reader, error: &ViewerError) -> Response {
    let (status, title) = match error {
        ViewerError::NotFound(_) => (StatusCode::NOT_FOUND, "Not found"),
        ViewerError::BadRequest(_) => (StatusCode::BAD_REQUEST, "Not understood"),
        ViewerError::TooLarge(_) => (StatusCode::PAYLOAD_TOO_LARGE, "Not understood"),
        ViewerError::Unknown(_) => (StatusCode::UNAUTHORIZED, "The token is missing"),
        ViewerError::Refused(_) => (StatusCode::FORBIDDEN, "Refused"),
        _ => (StatusCode::INTERNAL_SERVER_ERROR, "Something is wrong"),
    };
    trouble(reader, status, title, &error.to_string())
}

pub(crate) fn trouble(reader: Reader, status: StatusCode, title: &str, text: &str) -> Response {
    if reader == Reader::Person {
        // Who is refused is given no token.
        match pages::error::error(Frame::served(""), title, text) {
            Ok(page) => return answer(status, "text/html; charset=utf-8", NEVER, page.into()),
            Err(error) => {
                return answer(
                    status,
                    "text/plain; charset=utf-8",
                    NEVER,
                    error.to_string().into(),
                );
            }
        }
    }
    let body = json!({ "error": text }).to_string();
    answer(status, "application/json", NEVER, body.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(tag: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(header::IF_NONE_MATCH, HeaderValue::from_str(tag).unwrap());
        headers
    }

    #[test]
    fn what_the_browser_has_is_not_sent_again() {
        let first = Reply::Json(b"{}".to_vec()).send(&HeaderMap::new());
        let tag = first.headers()[header::ETAG].to_str().unwrap().to_owned();
        assert_eq!(tag.len(), 34, "{tag}");
        for known in [tag.clone(), format!("W/{tag}"), format!("\"x\", {tag}")] {
            let again = Reply::Json(b"{}".to_vec()).send(&asked(&known));
            assert_eq!(again.status(), StatusCode::NOT_MODIFIED, "{known}");
        }
        let other = Reply::Json(b"{1}".to_vec()).send(&asked(&tag));
        assert_eq!(other.status(), StatusCode::OK);
    }

    #[test]
    fn pages_are_for_people_and_the_rest_for_programs() {
        for path in ["/", "/runs/a", "/compare", "/apis", "/runs/a/trial/b/c/1/1"] {
            assert_eq!(Reader::of(path), Reader::Person, "{path}");
        }
        for path in ["/api/runs", "/api", "/assets/x/y", "/runs/a/blobs/b"] {
            assert_eq!(Reader::of(path), Reader::Program, "{path}");
        }
    }
}
