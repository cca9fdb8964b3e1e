//! The address of another server. It comes from the network, so it is held to what an address of the
//! arena may be.

use reqwest::Url;

/// Longer than any address that is meant.
const LONGEST: usize = 2048;

/// A base address without a slash at its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeerUrl(String);

impl PeerUrl {
    /// Only `http`, without a name and password in it; slashes at its end are passed over.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.len() > LONGEST {
            return Err(format!("the address is longer than {LONGEST} bytes"));
        }
        let url = Url::parse(text.trim()).map_err(|error| {
            format!("{text:?} is no address ({error}); give one such as http://127.0.0.1:8001")
        })?;
        if url.scheme() != "http" {
            return Err(format!(
                "{text:?} is no http:// address, and the arena speaks nothing else"
            ));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("an address with a name and password is not taken; use a token".to_owned());
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(format!("{text:?} has a query; give the base address alone"));
        }
        Ok(Self(url.as_str().trim_end_matches('/').to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The full address of one of the paths of [`super::path`].
    pub fn join(&self, path: &str) -> String {
        format!("{}{path}", self.0)
    }
}

impl std::fmt::Display for PeerUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slashes_at_the_end_do_no_harm() {
        for text in [
            "http://127.0.0.1:8001",
            "http://127.0.0.1:8001/",
            "http://127.0.0.1:8001//",
        ] {
            let url = PeerUrl::parse(text).unwrap();
            assert_eq!(
                url.join("/evaluator/status"),
                "http://127.0.0.1:8001/evaluator/status"
            );
        }
    }

    #[test]
    fn what_is_no_plain_http_address_is_refused() {
        let long = format!("http://{}", "a".repeat(3000));
        for text in [
            "",
            "127.0.0.1:8001",
            "file:///etc/passwd",
            "https://a",
            "unix:/run/docker.sock",
            "http://user:password@a",
            "http://a/?x=1",
            "http://",
            &long,
        ] {
            assert!(PeerUrl::parse(text).is_err(), "{text}");
        }
    }
}
