//! Who may speak to a server: whoever has the token, and never a web page.

use std::fmt;

use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;

use super::reply;

/// Secret: whoever has it plays on the desktop.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

/// What can't be a token. Does not show it: it may be nearly the right one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the token is empty, too long, or not plain; give one to 1000 visible ASCII characters")]
pub struct BadToken;

impl Token {
    /// The variable of the environment that gives it to programs.
    pub const VARIABLE: &str = "AGON_ARENA_TOKEN";

    const LONGEST: usize = 1000;

    /// Visible ASCII characters only: others don't go through a header as they are, and an empty one
    /// would open the server to everybody.
    pub fn new(token: impl Into<String>) -> Result<Self, BadToken> {
        let token = token.into();
        let plain = token.bytes().all(|byte| byte.is_ascii_graphic());
        if !plain || token.is_empty() || token.len() > Self::LONGEST {
            return Err(BadToken);
        }
        Ok(Self(token))
    }

    /// The value of the `authorization` header.
    pub fn header(&self) -> String {
        format!("Bearer {}", self.0)
    }

    /// Takes as long whatever is wrong with it.
    fn is(&self, other: &str) -> bool {
        let (own, other) = (self.0.as_bytes(), other.as_bytes());
        let differing = own.iter().zip(other).fold(0, |sum, (a, b)| sum | (a ^ b));
        own.len() == other.len() && differing == 0
    }

    fn opens(&self, headers: &HeaderMap) -> bool {
        let given = headers.get(header::AUTHORIZATION);
        let given = given.and_then(|value| value.to_str().ok()?.split_once(' '));
        given.is_some_and(|(scheme, token)| {
            scheme.eq_ignore_ascii_case("bearer") && self.is(token.trim())
        })
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

/// Refuses who has no token, and every web page: a browser on this machine reaches loopback servers,
/// and pages of others could press our keys. `None`: he may come in.
pub(super) fn refusal(token: Option<&Token>, headers: &HeaderMap) -> Option<Response> {
    if headers.contains_key(header::ORIGIN) {
        let text = "requests of web pages are not taken";
        return Some(reply::detail(StatusCode::FORBIDDEN, text));
    }
    match token {
        Some(token) if !token.opens(headers) => {
            let mut response = reply::detail(StatusCode::UNAUTHORIZED, "Not authenticated");
            let scheme = header::HeaderValue::from_static("Bearer");
            response
                .headers_mut()
                .insert(header::WWW_AUTHENTICATE, scheme);
            Some(response)
        }
        None if !names_us(headers) => {
            let text = "this server is reached by its address or as localhost only";
            Some(reply::detail(StatusCode::MISDIRECTED_REQUEST, text))
        }
        _ => None,
    }
}

/// A page whose name was made to point here sends that name.
fn names_us(headers: &HeaderMap) -> bool {
    let Some(host) = headers.get(header::HOST) else {
        return true;
    };
    let host = host.to_str().unwrap_or("?");
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let name = name.trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost") || name.parse::<std::net::IpAddr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(header::HeaderName, &str)]) -> HeaderMap {
        let pairs = pairs
            .iter()
            .map(|(name, value)| (name.clone(), value.parse().unwrap()));
        pairs.collect()
    }

    fn status(token: Option<&str>, pairs: &[(header::HeaderName, &str)]) -> u16 {
        let token = token.map(|token| Token::new(token).unwrap());
        let refused = refusal(token.as_ref(), &headers(pairs));
        refused.map_or(200, |response| response.status().as_u16())
    }

    #[test]
    fn a_token_is_asked_for_when_there_is_one() {
        let with = |value| status(Some("secret"), &[(header::AUTHORIZATION, value)]);
        assert_eq!(with("Bearer secret"), 200);
        assert_eq!(with("bearer secret"), 200);
        assert_eq!(with("Bearer secre"), 401);
        assert_eq!(with("Bearer secrets"), 401);
        assert_eq!(with("Basic secret"), 401);
        assert_eq!(with("secret"), 401);
        assert_eq!(status(Some("secret"), &[]), 401);
        assert_eq!(status(None, &[]), 200);
    }

    #[test]
    fn web_pages_are_refused() {
        let origin = (header::ORIGIN, "http://127.0.0.1:8000");
        assert_eq!(status(None, &[origin]), 403);
        for (host, expected) in [
            ("127.0.0.1:8000", 200),
            ("localhost:8000", 200),
            ("[::1]:8000", 200),
            ("10.0.0.3", 200),
            ("evil.example:8000", 421),
            ("localhost.evil.example", 421),
        ] {
            assert_eq!(status(None, &[(header::HOST, host)]), expected, "{host}");
        }
    }

    #[test]
    fn it_is_not_shown() {
        let token = Token::new("secret").unwrap();
        assert!(!format!("{token:?}").contains("secret"));
    }

    #[test]
    fn what_guards_nothing_is_no_token() {
        for bad in ["", " ", "two words", "new\nline", "se\u{e9}cret", "\0"] {
            assert_eq!(Token::new(bad), Err(BadToken), "{bad:?}");
        }
        assert!(Token::new("x".repeat(1001)).is_err());
        assert!(Token::new("x".repeat(1000)).is_ok());
        assert!(Token::new("~!a0-._").is_ok());
    }
}
