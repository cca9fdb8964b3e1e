//! Who may ask. Only who has the token is answered: every program of this machine can reach a port, an agent with
//! an open network too. And a web page of somebody else must neither read runs nor change them, by whatever name
//! it reaches this server.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use tokio::time::timeout;

use super::asked::{LONGEST_ADDRESS, without};
use super::reply::{Reader, failed, not_so, own_path, see, trouble};
use super::secret::Secret;
use crate::error::ViewerError;
use crate::visible::plain;

/// An answer must have begun by then: a body may come drop by drop, and a disk may hang.
const DEADLINE: Duration = Duration::from_secs(60);

const HEADERS: [(HeaderName, &str); 6] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; \
         connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
    (header::X_FRAME_OPTIONS, "DENY"),
];

#[derive(Debug)]
pub(crate) struct Guard {
    address: SocketAddr,
    /// What a page must show to change anything.
    token: Secret,
    /// Asked of everybody.
    access: Secret,
}

impl Guard {
    pub(crate) fn new(address: SocketAddr, token: Secret, access: Secret) -> Self {
        Self {
            address,
            token,
            access,
        }
    }

    /// The name of the cookie: cookies don't tell ports apart.
    fn cookie(&self) -> String {
        format!("agon_access_{}", self.address.port())
    }

    /// A page that was loaded under a stranger's name, which leads here, would be taken for ours by the
    /// browser. Ports are not compared: one may be forwarded from another machine.
    fn knows_host(&self, host: &str) -> bool {
        let Ok(authority) = host.parse::<Authority>() else {
            return false;
        };
        if authority.as_str().contains('@') {
            return false;
        }
        let name = authority.host();
        let ip = name.trim_start_matches('[').trim_end_matches(']');
        name.eq_ignore_ascii_case("localhost")
            || ip
                .parse::<IpAddr>()
                .is_ok_and(|ip| ip.is_loopback() || ip == self.address.ip())
    }

    fn has_access(&self, headers: &HeaderMap) -> bool {
        let access = &self.access;
        let bearer = text(headers, &header::AUTHORIZATION)
            .and_then(|value| value.split_once(' '))
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        if bearer.is_some_and(|(_, said)| access.is(said.trim())) {
            return true;
        }
        let name = self.cookie();
        headers
            .get_all(header::COOKIE)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .any(|(cookie, said)| cookie == name && access.is(said))
    }

    /// A request with the token in its address: it moves from there, where it would be kept, shown and
    /// copied, into a cookie.
    fn let_in(&self, request: &Request) -> Option<Response> {
        let access = &self.access;
        let query = request.uri().query().unwrap_or_default();
        let said = query
            .split('&')
            .find_map(|pair| pair.strip_prefix("token="))?;
        let right = access.is(said);
        let known = right || self.has_access(request.headers());
        if request.method() != Method::GET || !known {
            return None;
        }
        let path = own_path(request.uri().path());
        let mut response = see(&format!("{path}{}", without(query, &["token"])));
        if right {
            // Lax: who follows a link to a page of ours from elsewhere, such as from the file that `agon view`
            // opens, has been let in before. Nothing but pages is asked for in that way.
            let cookie = format!(
                "{}={}; Path=/; HttpOnly; SameSite=Lax",
                self.cookie(),
                access.reveal()
            );
            response
                .headers_mut()
                .insert(header::SET_COOKIE, HeaderValue::from_str(&cookie).ok()?);
        }
        Some(response)
    }

    fn may_change(&self, headers: &HeaderMap, host: &str) -> Result<(), ViewerError> {
        let refused = |text: &str| Err(ViewerError::Refused(text.to_owned()));
        let kind = text(headers, &header::CONTENT_TYPE).unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        if !kind.eq_ignore_ascii_case("application/json") {
            return refused("send JSON, with the content type application/json");
        }
        let origins = headers.get_all(header::ORIGIN).iter();
        let own = format!("http://{host}");
        if origins
            .map(|origin| origin.to_str().unwrap_or_default())
            .any(|origin| !origin.eq_ignore_ascii_case(&own))
        {
            return refused("this page belongs to another server");
        }
        if is_of_others(headers) {
            return refused("this page belongs to another server");
        }
        match text(headers, &HeaderName::from_static("x-agon-token")) {
            Some(said) if self.token.is(said) => Ok(()),
            Some(_) => refused("the viewer was started again since: load the page anew"),
            None => refused("send X-Agon-Token, as <meta name=\"agon-token\"> of any page has it"),
        }
    }

    fn check(&self, request: &Request) -> Result<Option<Response>, ViewerError> {
        let headers = request.headers();
        let mut hosts = headers.get_all(header::HOST).iter();
        let host = hosts.next().and_then(|host| host.to_str().ok());
        let host = host.or_else(|| request.uri().authority().map(Authority::as_str));
        let (Some(host), None) = (host, hosts.next()) else {
            return Err(ViewerError::BadRequest(
                "say which host is meant".to_owned(),
            ));
        };
        if self.address.ip().is_loopback() && !self.knows_host(host) {
            return Err(ViewerError::Refused(format!(
                "`{}` is not the name of this server: use http://{}/",
                plain(host),
                self.address
            )));
        }
        if let Some(response) = self.let_in(request) {
            return Ok(Some(response));
        }
        if !self.has_access(headers) {
            return Err(ViewerError::Unknown(
                "open the address that `agon view` printed, with its token; programs send it as \
                 `Authorization: Bearer TOKEN`"
                    .to_owned(),
            ));
        }
        if *request.method() == Method::POST {
            self.may_change(headers, host)?;
        } else if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return Ok(Some(not_so(Reader::of(request.uri().path()))));
        } else if is_of_others(headers) && !is_navigation(headers) {
            return Err(ViewerError::Refused(
                "pages of other servers get nothing from here".to_owned(),
            ));
        }
        Ok(None)
    }
}

/// Asked about every request, before anything else sees it.
pub(crate) async fn guard(
    State(guard): State<Arc<Guard>>,
    request: Request,
    next: Next,
) -> Response {
    let reader = Reader::of(request.uri().path());
    let length = request
        .uri()
        .path_and_query()
        .map_or(0, |path| path.as_str().len());
    let mut response = if length > LONGEST_ADDRESS {
        let status = StatusCode::URI_TOO_LONG;
        trouble(reader, status, "Not understood", "the address is too long")
    } else {
        match guard.check(&request) {
            Ok(None) => match timeout(DEADLINE, next.run(request)).await {
                Ok(response) => response,
                Err(_) => {
                    let status = StatusCode::SERVICE_UNAVAILABLE;
                    trouble(reader, status, "Too slow", "this takes too long: try again")
                }
            },
            Ok(Some(response)) => response,
            Err(error) => failed(reader, &error),
        }
    };
    for (name, value) in HEADERS {
        response
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    response
}

/// As the browser says: a page of another server sent it. Its answer would not be shown there, but reading
/// a run for it has a price.
fn is_of_others(headers: &HeaderMap) -> bool {
    let sites = headers.get_all("sec-fetch-site").iter();
    sites
        .map(|site| site.to_str().unwrap_or_default())
        .any(|site| !matches!(site, "same-origin" | "none"))
}

/// Somebody followed a link to a page of ours, in a window of its own.
fn is_navigation(headers: &HeaderMap) -> bool {
    text(headers, &HeaderName::from_static("sec-fetch-mode")) == Some("navigate")
        && text(headers, &HeaderName::from_static("sec-fetch-dest")) == Some("document")
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine_are_taken() {
        let address = "192.168.1.5:7357".parse().unwrap();
        let secret = || Secret::random().unwrap();
        let guard = Guard::new(address, secret(), secret());
        for host in [
            "localhost:7357",
            "LOCALHOST",
            "127.0.0.1:9000",
            "[::1]:7357",
            "192.168.1.5:7357",
        ] {
            assert!(guard.knows_host(host), "{host}");
        }
        for host in [
            "evil.example:7357",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "127.0.0.1@evil.example",
            "evil@localhost",
            "192.168.1.6",
            "",
            "localhost/..",
        ] {
            assert!(!guard.knows_host(host), "{host}");
        }
    }
}
