//! What was changed in a container, and which programs of its image it has no more, as the engine tells it:
//! what is inside may lie.

use std::collections::HashSet;
use std::io;
use std::path::Path;
use std::time::Duration;

use bollard::models::ContainerInspectResponse;
use bollard::query_parameters::ContainerArchiveInfoOptions;
use serde::Deserialize;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};
use tokio::time::timeout;

use super::engine::{Address, Engine, failed, refused};
use super::program_paths::Kind;
use super::sandbox::Container;
use crate::error::SandboxError;

/// For the whole look.
const LOOK: Duration = Duration::from_secs(60);
/// Most bytes of the engine's list.
const LONGEST_LIST: u64 = 64 << 20;
/// How many single files are looked at.
const MOST_LOOKS: usize = 300;
/// Where programs are looked for unless the image says otherwise.
const USUAL_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// As the engine writes the modes of files.
const IS_FOLDER: u32 = 1 << 31;
const IS_LINK: u32 = 1 << 27;

const TOO_MANY: &str = "more was changed in the container than can be looked at";

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Change {
    #[serde(rename = "Path")]
    pub(super) path: String,
    /// [`MODIFIED`], [`ADDED`] or [`DELETED`].
    #[serde(rename = "Kind")]
    kind: u8,
}

impl Change {
    /// `path` is from the root, without the slash.
    pub(super) fn new(path: &Path, kind: Kind) -> Self {
        Self {
            path: format!("/{}", path.display()),
            kind: match kind {
                Kind::Modified => MODIFIED,
                Kind::Added => ADDED,
                Kind::Deleted => DELETED,
            },
        }
    }

    pub(super) fn kind(&self) -> Kind {
        match self.kind {
            ADDED => Kind::Added,
            DELETED => Kind::Deleted,
            _ => Kind::Modified,
        }
    }
}

const MODIFIED: u8 = 0;
const ADDED: u8 = 1;
const DELETED: u8 = 2;

/// What a list of changes gives cause to.
#[derive(Debug, Default, PartialEq, Eq)]
struct Suspects {
    /// Replaced for certain.
    replaced: Vec<String>,
    /// Changed, but perhaps folders: those change with what comes and goes in them.
    changed: Vec<String>,
    /// New programs, and where the image may have one of the same name, which is found no more.
    hiding: Vec<(String, String)>,
}

/// Programs and libraries that the image brought and that are not what they were.
pub(super) async fn replaced(container: &Container) -> Result<Vec<String>, SandboxError> {
    match timeout(LOOK, look(container)).await {
        Ok(found) => found,
        Err(_) => Err(too_many()),
    }
}

/// All that was changed since the image, or nothing where that is too long to be read.
pub(super) async fn list(container: &Container) -> Result<Option<Vec<Change>>, SandboxError> {
    let path = format!("/containers/{}/changes", container.name);
    let cannot = SandboxError::io("could not ask what was changed in a container");
    let answer = container.engine.get(&path).await.map_err(cannot)?;
    let Some(list) = answer else {
        return Ok(None);
    };
    let changes: Option<Vec<Change>> = serde_json::from_slice(&list).map_err(|error| {
        SandboxError::io("could not read what was changed in a container")(error.into())
    })?;
    Ok(Some(changes.unwrap_or_default()))
}

async fn look(container: &Container) -> Result<Vec<String>, SandboxError> {
    let changes = list(container).await?.ok_or_else(too_many)?;
    let Suspects {
        mut replaced,
        changed,
        hiding,
    } = suspects(&changes, &container.path().await?);
    if changed.len() + hiding.len() > MOST_LOOKS {
        return Err(too_many());
    }
    for path in changed {
        if container
            .mode(&path)
            .await?
            .is_none_or(|mode| mode & IS_FOLDER == 0)
        {
            replaced.push(path);
        }
    }
    for (new, hidden) in hiding {
        let folder = hidden.rsplit_once('/').map_or("", |(folder, _)| folder);
        // The programs of a folder that is a link are those of another one.
        let real = |mode: u32| mode & IS_LINK == 0;
        if container.mode(folder).await?.is_some_and(real)
            && container.mode(&hidden).await?.is_some()
        {
            replaced.push(new);
        }
    }
    replaced.sort();
    replaced.dedup();
    Ok(replaced)
}

fn too_many() -> SandboxError {
    SandboxError::Denied(TOO_MANY.to_owned())
}

/// Where programs of a container are looked for.
pub(super) fn path_of(container: &ContainerInspectResponse) -> String {
    let env = container
        .config
        .as_ref()
        .and_then(|config| config.env.as_ref());
    let mut env = env.into_iter().flatten();
    let path = env.find_map(|variable| variable.strip_prefix("PATH="));
    path.unwrap_or(USUAL_PATH).to_owned()
}

impl Container {
    /// Where its programs are looked for.
    pub(super) async fn path(&self) -> Result<String, SandboxError> {
        let found = self.engine.docker.inspect_container(&self.name, None).await;
        let found = found.map_err(failed("could not look at the container"))?;
        Ok(path_of(&found))
    }

    pub(super) async fn mode(&self, path: &str) -> Result<Option<u32>, SandboxError> {
        let options = ContainerArchiveInfoOptions {
            path: path.to_owned(),
        };
        let docker = &self.engine.docker;
        let found = docker.get_container_archive_info(&self.name, Some(options));
        match found.await {
            Ok(found) => Ok(Some(found.file_mode)),
            Err(error) if matches!(refused(&error), Some((400 | 404, _))) => Ok(None),
            Err(error) => Err(failed("could not look at a file of the container")(error)),
        }
    }
}

impl Engine {
    /// By hand, because bollard would hold any answer whole. Nothing, if it is longer than it may be.
    async fn get(&self, path: &str) -> io::Result<Option<Vec<u8>>> {
        let version = self.docker.client_version();
        // Answers to this version of HTTP end with the connection.
        let request = format!("GET /v{version}{path} HTTP/1.0\r\nHost: engine\r\n\r\n");
        match &self.address {
            Address::Unix(path) => ask(UnixStream::connect(path).await?, &request).await,
            Address::Tcp(host) => ask(TcpStream::connect(host).await?, &request).await,
        }
    }
}

async fn ask<S>(mut stream: S, request: &str) -> io::Result<Option<Vec<u8>>>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    let mut bounded = stream.take(LONGEST_LIST);
    bounded.read_to_end(&mut answer).await?;
    if bounded.limit() == 0 {
        return Ok(None);
    }
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n");
    let end = end.ok_or_else(|| io::Error::other("the engine's answer is not HTTP"))?;
    let body = answer.split_off(end + 4);
    let status = answer.split(|byte| *byte == b' ').nth(1);
    match status {
        Some(b"200") => Ok(Some(body)),
        _ => Err(io::Error::other(
            String::from_utf8_lossy(&body).into_owned(),
        )),
    }
}

fn suspects(changes: &[Change], path: &str) -> Suspects {
    let added: HashSet<&str> = changes
        .iter()
        .filter(|change| change.kind == ADDED)
        .map(|change| change.path.as_str())
        .collect();
    let holders: HashSet<&str> = changes
        .iter()
        .filter_map(|change| folder(&change.path))
        .collect();
    let mut found = Suspects::default();
    for Change { path: file, kind } in changes {
        let loaded = *kind != DELETED && is_loaded_by_itself(file);
        match *kind {
            _ if loaded => found.replaced.push(file.clone()),
            DELETED if is_program(file) => found.replaced.push(file.clone()),
            MODIFIED if is_program(file) && !holders.contains(file.as_str()) => {
                found.changed.push(file.clone());
            }
            ADDED => {
                let hidden = hidden_by(file, path).filter(|old| !added.contains(old.as_str()));
                found.hiding.extend(hidden.map(|old| (file.clone(), old)));
            }
            _ => {}
        }
    }
    found
}

fn folder(path: &str) -> Option<&str> {
    path.rsplit_once('/').map(|(folder, _)| folder)
}

/// Files of the same name in folders that are searched later than this one's.
fn hidden_by<'a>(file: &'a str, path: &'a str) -> impl Iterator<Item = String> + 'a {
    let (own, name) = file.rsplit_once('/').unwrap_or_default();
    let same = move |folder: &&str| folder.trim_end_matches('/') == own;
    path.split(':')
        .skip_while(move |folder| !same(folder))
        .filter(move |folder| folder.starts_with('/') && !same(folder))
        .map(move |folder| format!("{}/{name}", folder.trim_end_matches('/')))
}

/// What every program, or every Python, runs without being asked to.
fn is_loaded_by_itself(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    path == "/etc/ld.so.preload" || ["sitecustomize.py", "usercustomize.py"].contains(&name)
}

/// Whether this is where images have programs and libraries. What package managers write anew whenever
/// anything is installed is neither.
fn is_program(path: &str) -> bool {
    let Some(below) = path.strip_prefix('/') else {
        return false;
    };
    let below = below.strip_prefix("usr/").unwrap_or(below);
    let (local, below) = match below.strip_prefix("local/") {
        Some(below) => (true, below),
        None => (false, below),
    };
    let Some((place, inside)) = below.split_once('/') else {
        return false;
    };
    let installed = local
        && ["/site-packages/", "/dist-packages/"]
            .iter()
            .any(|it| path.contains(it));
    let written_anew = path.ends_with(".cache") || inside.starts_with("locale/");
    matches!(place, "bin" | "sbin") || (place.starts_with("lib") && !installed && !written_anew)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(changes: &[(&str, u8)]) -> Suspects {
        let changes: Vec<_> = changes
            .iter()
            .map(|&(path, kind)| Change {
                path: path.to_owned(),
                kind,
            })
            .collect();
        suspects(&changes, USUAL_PATH)
    }

    #[test]
    fn what_is_installed_replaces_nothing() {
        let installed = found(&[
            ("/usr", MODIFIED),
            ("/usr/bin", MODIFIED),
            ("/usr/bin/jq", ADDED),
            ("/usr/lib/x86_64-linux-gnu", MODIFIED),
            ("/usr/lib/x86_64-linux-gnu/libjq.so.1", ADDED),
            ("/usr/lib/locale/locale-archive", MODIFIED),
            ("/etc/ld.so.cache", MODIFIED),
            ("/usr/lib/x86_64-linux-gnu/gdk/loaders.cache", MODIFIED),
            (
                "/usr/local/lib/python3.12/site-packages/numpy/core.py",
                MODIFIED,
            ),
            ("/usr/local/lib/python3.12/site-packages/old.py", DELETED),
            ("/var/lib/dpkg/status", MODIFIED),
            ("/tmp/bin/cat", ADDED),
            ("/etc/ld.so.preload", DELETED),
        ]);
        let old = ["/sbin/jq", "/bin/jq"].map(|old| ("/usr/bin/jq".to_owned(), old.to_owned()));
        let expected = Suspects {
            hiding: old.to_vec(),
            ..Suspects::default()
        };
        assert_eq!(
            installed, expected,
            "whether these are there is to be looked at"
        );
    }

    #[test]
    fn what_the_image_brought_is_suspected_when_it_changes() {
        let changed = found(&[
            ("/usr/bin/cat", MODIFIED),
            ("/bin/sh", DELETED),
            ("/lib64/ld-linux.so.2", MODIFIED),
            ("/usr/local/lib/python3.12/json/__init__.py", MODIFIED),
            ("/etc/ld.so.preload", ADDED),
            ("/usr/lib/python3/dist-packages/sitecustomize.py", ADDED),
            ("/usr/lib/touched", MODIFIED),
        ]);
        assert_eq!(
            changed.changed,
            [
                "/usr/bin/cat",
                "/lib64/ld-linux.so.2",
                "/usr/local/lib/python3.12/json/__init__.py",
                "/usr/lib/touched"
            ]
        );
        assert_eq!(
            changed.replaced,
            [
                "/bin/sh",
                "/etc/ld.so.preload",
                "/usr/lib/python3/dist-packages/sitecustomize.py"
            ]
        );
    }

    #[test]
    fn a_new_program_hides_those_that_are_found_later() {
        let added = found(&[("/usr/local/bin/cat", ADDED), ("/sbin/cat", ADDED)]);
        let hidden: Vec<_> = added.hiding.iter().map(|(_, old)| old.as_str()).collect();
        assert_eq!(
            hidden,
            ["/usr/sbin/cat", "/usr/bin/cat", "/bin/cat", "/bin/cat"]
        );
    }

    #[tokio::test]
    async fn answers_have_an_end() {
        let answered = |text: &'static str| async move {
            let (ours, mut theirs) = tokio::io::duplex(1 << 10);
            let answer = tokio::spawn(async move {
                theirs.write_all(text.as_bytes()).await.unwrap();
                let mut request = [0; 3];
                theirs.read_exact(&mut request).await.unwrap();
            });
            let read = ask(ours, "GET").await;
            answer.await.unwrap();
            read.map_err(|error| error.to_string())
        };
        let read = answered("HTTP/1.0 200 OK\r\nA: b\r\n\r\n[]").await;
        assert_eq!(read, Ok(Some(b"[]".to_vec())));
        let refused = answered("HTTP/1.0 404 Not Found\r\n\r\nno such container").await;
        assert_eq!(refused, Err("no such container".to_owned()));
        assert!(answered("").await.is_err());
    }
}
