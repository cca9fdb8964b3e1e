//! A client for services that are spoken to without TLS, such as those on this machine. It needs no
//! certificates, so that it also works where the system has none.

use reqwest::ClientBuilder;
use reqwest::redirect::Policy;

/// No proxy and no redirect: such a service is where the user said, or nowhere.
pub fn plain_http() -> ClientBuilder {
    // Whoever was first is as good: there is one provider in this program.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .no_proxy()
        .redirect(Policy::none())
        .tls_certs_only([])
}
