//! A Docker Engine for tests and measurements: one that already answers, or one of our own on a
//! socket and data folder of its own. Ours lives as long as we do: its supervisor holds the other
//! end of a pipe, so that a failure, Ctrl-C or even `kill -9` of this program stops it as well.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::console;
use crate::debian::{self, Root};
use crate::docker_api::DockerApi;
use crate::failure::{Failure, Trying};
use crate::workspace;

const SYSTEM_SOCKET: &str = "/var/run/docker.sock";
const SUPERVISOR: &str = include_str!("docker_engine.sh");
const READY_WITHIN: Duration = Duration::from_secs(60);
const STOPPED_WITHIN: Duration = Duration::from_secs(40);
const PROBE_EVERY: Duration = Duration::from_millis(50);

#[derive(Debug)]
pub(crate) struct DockerEngine {
    api: DockerApi,
    supervisor: Option<Supervisor>,
}

impl DockerEngine {
    /// An engine that answers already, at `DOCKER_HOST` or the usual place.
    pub(crate) fn running() -> Result<Option<Self>, Failure> {
        let socket = match std::env::var("DOCKER_HOST") {
            Ok(host) => match host.strip_prefix("unix://") {
                Some(path) => PathBuf::from(path),
                None => {
                    return Err(Failure::usage(format!(
                        "DOCKER_HOST is `{host}`: unset it, or let it name a unix:// socket"
                    )));
                }
            },
            Err(_) => PathBuf::from(SYSTEM_SOCKET),
        };
        let api = DockerApi::at(socket);
        Ok(api.answers().then_some(Self {
            api,
            supervisor: None,
        }))
    }

    /// Starts an engine of our own.
    pub(crate) fn start() -> Result<Self, Failure> {
        Self::start_in(&workspace::cache()?.join("test-engine"))
    }

    /// `state` keeps images, log and lock: one engine at a time.
    fn start_in(state: &Path) -> Result<Self, Failure> {
        std::fs::create_dir_all(state).trying(format!("make {}", state.display()))?;
        let run = fresh_folder()?;
        let api = DockerApi::at(run.join("d.sock"));
        let supervisor = Supervisor::start(state, &run)?;
        let engine = Self {
            api,
            supervisor: Some(supervisor),
        };
        engine.wait_until_ready(&state.join("log"))?;
        // What a killed command left in an engine that is ours alone.
        engine.api.post("/containers/prune", &Value::Null)?;
        Ok(engine)
    }

    pub(crate) fn api(&self) -> &DockerApi {
        &self.api
    }

    fn wait_until_ready(&self, log: &Path) -> Result<(), Failure> {
        let deadline = Instant::now() + READY_WITHIN;
        while !self.api.answers() {
            let ended = self
                .supervisor
                .as_ref()
                .is_some_and(|supervisor| supervisor.ended_within(PROBE_EVERY));
            if ended || Instant::now() > deadline {
                return Err(Failure::new(format!(
                    "the Docker Engine did not start; the end of {}:\n{}",
                    log.display(),
                    last_lines(&std::fs::read_to_string(log).unwrap_or_default(), 15)
                )));
            }
        }
        Ok(())
    }
}

/// The shell that watches over the engine; dropping it stops both.
#[derive(Debug)]
struct Supervisor {
    process: Child,
    /// Closed when the supervisor has ended: it holds the other end of its standard output.
    ended: Receiver<()>,
}

impl Supervisor {
    fn start(state: &Path, run: &Path) -> Result<Self, Failure> {
        let root = Root::reachable()?.ok_or_else(|| {
            Failure::usage(
                "only root can start a Docker Engine: run this as root, or start an engine \
                 yourself and set DOCKER_HOST to its unix:// socket",
            )
        })?;
        let mut process = root
            .command("bash")
            .args(["-c", SUPERVISOR, "docker-engine"])
            .args([state, run])
            .arg(debian::gid()?.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // Ctrl-C is for us; the engine ends after us.
            .process_group(0)
            .spawn()
            .trying("start the supervisor of the Docker Engine")?;
        let stdout = process.stdout.take();
        let (started, has_started) = mpsc::channel();
        let (end, ended) = mpsc::channel::<()>();
        std::thread::spawn(move || {
            let _end = end;
            for _line in stdout
                .into_iter()
                .flat_map(|pipe| BufReader::new(pipe).lines())
                .map_while(Result::ok)
            {
                let _ = started.send(());
            }
        });
        // No deadline of our own: waiting for another engine's end has one in the supervisor.
        let supervisor = Self { process, ended };
        has_started
            .recv()
            .trying("start the Docker Engine: its supervisor ended")?;
        Ok(supervisor)
    }

    fn ended_within(&self, time: Duration) -> bool {
        !matches!(
            self.ended.recv_timeout(time),
            Err(RecvTimeoutError::Timeout)
        )
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        if self.ended_within(STOPPED_WITHIN) {
            let _ = self.process.wait();
        } else {
            console::complain("the Docker Engine takes long to stop; it goes on without us");
        }
    }
}

/// A folder of our own with a short name: socket paths must fit into 107 bytes.
fn fresh_folder() -> Result<PathBuf, Failure> {
    let base = Path::new("/tmp");
    let pid = std::process::id();
    for attempt in 0..100 {
        let folder = base.join(format!("agon-engine.{pid}.{attempt}"));
        // Others may not list it; the engine's group must reach the socket.
        match std::fs::DirBuilder::new().mode(0o711).create(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error).trying(format!("make {}", folder.display())),
        }
    }
    Err(Failure::new(
        "cannot make a folder under /tmp: all names are taken",
    ))
}

fn last_lines(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Everything at once, because starting an engine takes a while.
    #[test]
    fn an_engine_of_our_own_answers_keeps_images_and_leaves_nothing_behind() {
        let state = std::env::temp_dir().join(format!("agon-engine-state.{}", std::process::id()));
        let tar = state.join("rootfs.tar");
        std::fs::create_dir_all(&state).unwrap();
        // Two blocks of zeros are an empty archive.
        std::fs::write(&tar, [0; 1024]).unwrap();

        let engine = DockerEngine::start_in(&state).unwrap();
        let api = engine.api().clone();
        assert_eq!(api.image_labels("empty:latest").unwrap(), None);
        let changes = ["LABEL agon.recipe=7".to_owned(), "ENV A=\"b c\"".to_owned()];
        api.import(&tar, "empty:3", &changes).unwrap();
        let labels = api.image_labels("empty:3").unwrap().unwrap();
        assert_eq!(labels["agon.recipe"], "7");
        drop(engine);

        assert!(!api.answers());
        let run = PathBuf::from(api.docker_host().strip_prefix("unix://").unwrap());
        assert!(!run.parent().unwrap().exists());
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
        assert!(!mounts.contains(state.to_str().unwrap()), "{mounts}");
        std::fs::remove_dir_all(&state).unwrap();
    }

    #[test]
    fn an_engine_that_cannot_start_says_why() {
        let state = std::env::temp_dir().join(format!("agon-engine-bad.{}", std::process::id()));
        std::fs::create_dir_all(&state).unwrap();
        std::fs::write(state.join("data"), "a file where a folder must be").unwrap();
        let error = DockerEngine::start_in(&state).unwrap_err().to_string();
        std::fs::remove_dir_all(&state).unwrap();
        assert!(error.contains("did not start"), "{error}");
        assert!(error.contains("data"), "{error}");
    }

    #[test]
    fn only_the_end_of_a_log_is_shown() {
        assert_eq!(last_lines("a\nb\nc\n", 2), "b\nc");
        assert_eq!(last_lines("a", 2), "a");
        assert_eq!(last_lines("", 2), "");
    }
}
