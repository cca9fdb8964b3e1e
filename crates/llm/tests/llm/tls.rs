//! Models behind `https://`: a server with a certificate of an authority that only its users know. What is
//! trusted is said in the environment, so a process of its own asks.

use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

use crate::place::{KEY, Place};
use crate::server::{Reaction, Server};

const URL: &str = "AGON_TEST_TLS_URL";
/// Set by others, they would lead elsewhere.
const PROXIES: [&str; 4] = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];

/// A front with TLS for a server without.
struct Front {
    url: String,
    /// The authority's certificate.
    authority: String,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Front {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Front {
    /// `host`: whom the certificate is for.
    async fn start(server: &Server, host: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let authority = params.self_signed(&key).unwrap().pem();
        let issuer = Issuer::new(params, key);
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![host.to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &issuer).unwrap();
        let ring = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let config = ServerConfig::builder_with_provider(ring)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("https://{}/v1", listener.local_addr().unwrap());
        let behind = server.url.replace("http://", "").replace("/v1", "");
        let task = tokio::spawn(async move {
            let mut open = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, behind) = (acceptor.clone(), behind.clone());
                open.spawn(async move {
                    // A client that does not trust us hangs up here.
                    let Ok(mut safe) = acceptor.accept(stream).await else {
                        return;
                    };
                    let mut plain = TcpStream::connect(behind).await.unwrap();
                    let _ = tokio::io::copy_bidirectional(&mut safe, &mut plain).await;
                });
            }
        });
        Self {
            url,
            authority,
            task,
        }
    }

    /// What another process, which trusts what is in `trusted`, is told. `None`: what this machine does.
    async fn told(&self, trusted: Option<&Path>) -> String {
        let mut command = tokio::process::Command::new(std::env::current_exe().unwrap());
        command
            .args([
                "tls::in_another_process",
                "--exact",
                "--ignored",
                "--nocapture",
            ])
            .env(URL, &self.url)
            .env_remove("SSL_CERT_FILE")
            .env_remove("SSL_CERT_DIR")
            .stdin(Stdio::null())
            .kill_on_drop(true);
        for name in PROXIES {
            command.env_remove(name);
        }
        if let Some(file) = trusted {
            command.env("SSL_CERT_FILE", file);
        }
        let output = tokio::time::timeout(Duration::from_secs(60), command.output()).await;
        let output = output.unwrap().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        // Without the line, the whole of it shows why.
        let told = text.lines().find_map(|line| line.split_once("told: "));
        told.map_or_else(|| text.clone(), |(_, told)| told.to_owned())
    }
}

#[tokio::test]
#[ignore = "started by the tests of this file, in processes of their own"]
async fn in_another_process() {
    let place = Place::at(&std::env::var(URL).unwrap());
    let told = match place.ask().await {
        Ok(text) => format!("answer {text}"),
        Err(error) => format!("{error} after {}", place.record().tries),
    };
    println!("told: {told}");
}

#[tokio::test]
async fn an_authority_that_the_user_names_is_trusted() {
    let server = Server::start([Reaction::hello()]).await;
    let front = Front::start(&server, "127.0.0.1").await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("authority.pem");
    std::fs::write(&file, &front.authority).unwrap();
    assert_eq!(front.told(Some(&file)).await, "answer hello");
    let seen = server.seen();
    assert_eq!(seen.len(), 1);
    assert!(seen[0].head.contains(KEY), "{}", seen[0].head);
}

#[tokio::test]
async fn one_that_nobody_knows_gets_no_key() {
    let server = Server::start([Reaction::hello()]).await;
    let front = Front::start(&server, "127.0.0.1").await;
    let told = front.told(None).await;
    assert!(told.starts_with("network: "), "{told}");
    assert!(
        told.contains("certificate") && told.contains("SSL_CERT_FILE"),
        "{told}"
    );
    assert!(told.ends_with("after 1"), "it is not tried again: {told}");
    assert_eq!(server.count(), 0, "nothing was sent");

    // Another authority of the same kind is no better.
    let other = Front::start(&server, "127.0.0.1").await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("authority.pem");
    std::fs::write(&file, &other.authority).unwrap();
    assert!(front.told(Some(&file)).await.starts_with("network: "));
    assert_eq!(server.count(), 0);
}

#[tokio::test]
async fn a_certificate_for_somebody_else_gets_no_key() {
    let server = Server::start([Reaction::hello()]).await;
    let front = Front::start(&server, "models.example").await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("authority.pem");
    std::fs::write(&file, &front.authority).unwrap();
    let told = front.told(Some(&file)).await;
    assert!(
        told.starts_with("network: ") && told.contains("certificate"),
        "{told}"
    );
    assert_eq!(server.count(), 0);
}

#[tokio::test]
async fn a_file_without_certificates_is_said() {
    let server = Server::start([Reaction::hello()]).await;
    let front = Front::start(&server, "127.0.0.1").await;
    let told = front.told(Some(Path::new("/no/such/file"))).await;
    assert!(
        told.starts_with("setup: ") && told.contains("SSL_CERT_FILE"),
        "{told}"
    );
    assert_eq!(server.count(), 0);
}
