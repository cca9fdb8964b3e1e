//! Connections: which client a request goes through, and how it was set up. Follows no redirects, takes
//! no compressed answers, and sends keys in a header that never prints.

use std::collections::HashMap;
use std::error::Error as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use agon_core::ModelFault;
use bytes::Bytes;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Certificate, Client, ClientBuilder};

use crate::error::LlmError;
use crate::spec::ModelSpec;
use crate::wire::HttpCall;

/// Idle connections are given up before most servers do so.
const IDLE: Duration = Duration::from_secs(30);
/// Name the certificates to trust, instead of the system's.
const CERTIFICATES: [&str; 2] = ["SSL_CERT_FILE", "SSL_CERT_DIR"];
const AGENT: &str = concat!("agon/", env!("CARGO_PKG_VERSION"));

#[derive(Debug)]
pub(super) struct Transport {
    connect: Duration,
    /// For `https`, through the user's proxy if there is one.
    safe: OnceLock<Client>,
    /// For `http`, which is this machine or this house.
    plain: OnceLock<Client>,
    /// For models that are served on a socket.
    sockets: Mutex<HashMap<PathBuf, Client>>,
}

/// A request that can be sent any number of times: headers and body are made once.
#[derive(Debug, Clone)]
pub(super) struct Prepared {
    client: Client,
    url: reqwest::Url,
    headers: HeaderMap,
}

impl Transport {
    pub(super) fn new(connect: Duration) -> Self {
        // Whoever was first is as good: there is one provider in this program.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Self {
            connect,
            safe: OnceLock::new(),
            plain: OnceLock::new(),
            sockets: Mutex::default(),
        }
    }

    /// `socket`: where a model on this machine is served.
    pub(super) fn prepare(
        &self,
        spec: &ModelSpec,
        call: &HttpCall,
        socket: Option<&Path>,
    ) -> Result<Prepared, LlmError> {
        let url = reqwest::Url::parse(&call.url).map_err(|error| {
            let text = format!("`{}` is no address ({error}): correct base_url", call.url);
            LlmError::new(ModelFault::Setup, text)
        })?;
        let client = match (socket, url.scheme()) {
            (Some(socket), _) => self.socket(socket)?,
            (None, "https") => once(&self.safe, || self.safe())?,
            (None, "http") => once(&self.plain, || {
                self.plain().build().map_err(|error| unbuilt(&error))
            })?,
            (None, other) => {
                let text =
                    format!("`{other}` is no scheme for a model: use http or https in base_url");
                return Err(LlmError::new(ModelFault::Setup, text));
            }
        };
        Ok(Prepared {
            client,
            url,
            headers: headers(spec, call)?,
        })
    }

    fn builder(&self) -> ClientBuilder {
        Client::builder()
            .redirect(Policy::none())
            .retry(reqwest::retry::never())
            .referer(false)
            .http1_only()
            .connect_timeout(self.connect)
            .pool_idle_timeout(IDLE)
            .tcp_nodelay(true)
            .user_agent(AGENT)
    }

    /// With the certificates of the system, or of the file or folder that the user names instead; where
    /// there are none, as in a minimal container, with Mozilla's.
    fn safe(&self) -> Result<Client, LlmError> {
        let named = CERTIFICATES
            .iter()
            .find(|name| std::env::var_os(name).is_some());
        match (self.builder().build(), named) {
            (Ok(client), _) => Ok(client),
            // Others than those that were named are no help.
            (Err(error), Some(name)) => Err(unbuilt(&error).and(format_args!(
                "{name} is set, and must name certificates in PEM form"
            ))),
            (Err(_), None) => self.mozilla().map_err(|error| unbuilt(&error)),
        }
    }

    fn mozilla(&self) -> reqwest::Result<Client> {
        let roots = webpki_root_certs::TLS_SERVER_ROOT_CERTS
            .iter()
            .map(|root| Certificate::from_der(root))
            .collect::<reqwest::Result<Vec<_>>>()?;
        self.builder().tls_certs_only(roots).build()
    }

    /// Without any certificates: there is nothing to verify, and reading them takes time.
    fn plain(&self) -> ClientBuilder {
        self.builder().no_proxy().tls_certs_only([])
    }

    fn socket(&self, socket: &Path) -> Result<Client, LlmError> {
        let mut sockets = self.sockets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = sockets.get(socket) {
            return Ok(client.clone());
        }
        let client = self.plain().unix_socket(socket).build();
        let client = client.map_err(|error| unbuilt(&error))?;
        sockets.insert(socket.to_owned(), client.clone());
        Ok(client)
    }
}

impl Prepared {
    /// Sends it; resolves with the headers of the answer.
    pub(super) async fn send(&self, body: Bytes) -> Result<reqwest::Response, LlmError> {
        let request = self
            .client
            .post(self.url.clone())
            .headers(self.headers.clone())
            .body(body);
        request.send().await.map_err(|error| broken(&error))
    }

    /// Host and port, for messages.
    pub(super) fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }
}

fn once(
    place: &OnceLock<Client>,
    build: impl FnOnce() -> Result<Client, LlmError>,
) -> Result<Client, LlmError> {
    if let Some(client) = place.get() {
        return Ok(client.clone());
    }
    let client = build()?;
    Ok(place.get_or_init(|| client).clone())
}

fn headers(spec: &ModelSpec, call: &HttpCall) -> Result<HeaderMap, LlmError> {
    let mut headers = HeaderMap::new();
    headers.insert("content-type", HeaderValue::from_static("application/json"));
    // Whatever is compressed can be larger than it looks.
    headers.insert("accept-encoding", HeaderValue::from_static("identity"));
    let own = call
        .headers
        .iter()
        .map(|(name, value)| (*name, value.as_str()));
    let users = spec.settings.headers.iter();
    for (name, value) in own.chain(users.map(|(name, value)| (name.as_str(), value.as_str()))) {
        let name = HeaderName::try_from(name).map_err(|_| unusable(name))?;
        let value = HeaderValue::try_from(value).map_err(|_| unusable(name.as_str()))?;
        headers.insert(name, value);
    }
    if let Some(key) = &spec.key {
        let (name, before) = call.key_header;
        let value = HeaderValue::try_from(format!("{before}{}", key.reveal()));
        let mut value = value.map_err(|_| {
            let text = format!(
                "the key of {} has characters that no header can carry",
                spec.name
            );
            LlmError::new(ModelFault::Setup, text)
        })?;
        value.set_sensitive(true);
        headers.insert(HeaderName::from_static(name), value);
    }
    Ok(headers)
}

fn unusable(name: &str) -> LlmError {
    LlmError::new(
        ModelFault::Setup,
        format!("the header `{name}` can't be sent: correct it"),
    )
}

fn unbuilt(error: &reqwest::Error) -> LlmError {
    LlmError::new(
        ModelFault::Setup,
        format!("no connections can be made: {}", told(error)),
    )
}

/// What a failure of the connection means.
pub(super) fn broken(error: &reqwest::Error) -> LlmError {
    if error.is_timeout() {
        return LlmError::new(
            ModelFault::Timeout,
            format!("no connection in time: {}", told(error)),
        );
    }
    let failed = LlmError::new(ModelFault::Network, told(error));
    if !untrusted(error) {
        return failed;
    }
    // It will be the same the next time.
    failed.lasting().and(
        "nothing was sent; if the service has an authority of its own, name a file with its certificate \
         in SSL_CERT_FILE",
    )
}

/// Whether the service's certificate was refused.
fn untrusted(error: &reqwest::Error) -> bool {
    let mut cause = error.source();
    while let Some(error) = cause {
        // What an I/O error is made of is none of its sources.
        let mut inmost = error;
        while let Some(inner) = inmost.downcast_ref().and_then(std::io::Error::get_ref) {
            inmost = inner;
        }
        if let Some(rustls::Error::InvalidCertificate(_)) = inmost.downcast_ref() {
            return true;
        }
        cause = error.source();
    }
    false
}

/// The whole chain of causes, but not the address: it may hold what is nobody's business.
fn told(error: &reqwest::Error) -> String {
    let mut text = String::new();
    let mut cause = error.source();
    while let Some(error) = cause {
        if !text.is_empty() {
            text.push_str(": ");
        }
        text.push_str(&error.to_string());
        cause = error.source();
    }
    if text.is_empty() {
        "the request failed".to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_without_certificates_has_mozillas() {
        let transport = Transport::new(Duration::from_secs(1));
        assert!(transport.mozilla().is_ok());
        assert!(webpki_root_certs::TLS_SERVER_ROOT_CERTS.len() > 50);
    }
}
