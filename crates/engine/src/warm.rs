//! Desktops in containers, the next ones started ahead: a trial that takes one finds its X server and
//! window manager running. Each is used once. Knows nothing of tasks.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agon_core::environment::Grading;
use agon_core::{Environment, Fault};
use agon_desktop::{ContainerDisplay, Desktop, DesktopConfig};
use agon_sandbox::{DisplayMount, Owner, Provider, Request, Sandbox};
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::seat::{blocking, fault, start};

/// Kinds of desktops for which some are held at the same time.
const KINDS: usize = 3;

/// Stands where the name of a trial would: labels can't be changed later.
const NOBODYS: &str = "(warm)";

/// For those that are on their way when a run ends.
const LAST_STARTS: Duration = Duration::from_secs(20);

/// A desktop that nobody has used. The container goes with the sandbox.
#[derive(Debug)]
pub(crate) struct Ready {
    pub(crate) sandbox: Box<dyn Sandbox>,
    pub(crate) desktop: Desktop,
}

/// A container whose display is coming up.
#[derive(Debug)]
struct Coming {
    sandbox: Box<dyn Sandbox>,
    display: ContainerDisplay,
}

impl Coming {
    /// Can be dropped at any time.
    async fn start(
        provider: &dyn Provider,
        request: &Request,
        config: DesktopConfig,
    ) -> Result<Self, Fault> {
        let display = ContainerDisplay::new(config).map_err(|error| fault(&error))?;
        let mut request = request.clone();
        request.display = Some(DisplayMount {
            folder: display.folder(),
            start: display.start(),
        });
        for (name, value) in ContainerDisplay::environment() {
            let env = &mut request.environment.env;
            env.insert(name.to_owned(), value.to_owned());
        }
        let sandbox = start(provider.prepare(&request), request.start).await?;
        Ok(Self { sandbox, display })
    }

    /// Has to be awaited: a thread waits for the display meanwhile.
    async fn ready(self) -> Result<Ready, Fault> {
        let Self { sandbox, display } = self;
        let desktop = blocking(move || display.connect()).await?;
        Ok(Ready { sandbox, desktop })
    }
}

impl Ready {
    async fn start(
        provider: &dyn Provider,
        request: &Request,
        config: DesktopConfig,
    ) -> Result<Self, Fault> {
        let coming = Coming::start(provider, request, config).await?;
        coming.ready().await
    }

    /// Itself, if it still answers.
    async fn alive(self) -> Option<Self> {
        let Self { sandbox, desktop } = self;
        let answers = spawn_blocking(move || desktop.answers().then_some(desktop));
        let desktop = answers.await.ok().flatten()?;
        Some(Self { sandbox, desktop })
    }
}

/// What makes one desktop as good as another.
#[derive(Debug, Clone, PartialEq)]
struct Key {
    environment: Environment,
    run: String,
}

impl Key {
    /// `None` for those that are shown something of the host.
    fn of(request: &Request) -> Option<Self> {
        if !request.read_only.is_empty() || request.work.is_some() {
            return None;
        }
        let mut environment = request.environment.clone();
        // These change nothing about a container or its display.
        environment.apps.clear();
        environment.programs.clear();
        environment.grading = Grading::Fresh;
        environment.settle = None;
        environment.group = None;
        Some(Self {
            environment,
            run: request.owner.run.clone(),
        })
    }
}

#[derive(Debug)]
struct Kind {
    key: Key,
    ready: VecDeque<Ready>,
    /// On their way.
    starting: usize,
}

#[derive(Debug)]
pub(crate) struct Warm {
    /// How many of each kind are held.
    most: usize,
    /// The one that was asked for last is the last.
    kinds: Mutex<Vec<Kind>>,
    starts: Mutex<Starts>,
}

#[derive(Debug, Default)]
struct Starts {
    tasks: JoinSet<()>,
    given_up: CancellationToken,
}

impl Warm {
    pub(crate) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self {
            most,
            kinds: Mutex::default(),
            starts: Mutex::default(),
        })
    }

    /// One that was started ahead, or else one that is started now. From the second of a kind on, the
    /// next ones are started: a run with one desktop starts one.
    pub(crate) async fn take(
        self: &Arc<Self>,
        provider: &Arc<dyn Provider>,
        request: &Request,
        config: DesktopConfig,
    ) -> Result<Ready, Fault> {
        let Some(key) = Key::of(request).filter(|_| self.most > 0) else {
            return Ready::start(provider.as_ref(), request, config).await;
        };
        let known = self.note(&key);
        while let Some(ready) = self.held(&key) {
            if let Some(ready) = ready.alive().await {
                self.refill(&key, provider, request, &config);
                return Ok(ready);
            }
        }
        let ready = Ready::start(provider.as_ref(), request, config.clone()).await?;
        if known {
            self.refill(&key, provider, request, &config);
        }
        Ok(ready)
    }

    /// Ends those that are held, and those that are on their way: a display that is coming up is waited
    /// for, so that nothing of it is left behind.
    pub(crate) async fn close(&self) {
        let mut starts = std::mem::take(&mut *lock(&self.starts));
        starts.given_up.cancel();
        let all = async { while starts.tasks.join_next().await.is_some() {} };
        // What takes longer is removed by the next start.
        timeout(LAST_STARTS, all).await.ok();
        drop(std::mem::take(&mut *self.lock()));
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Kind>> {
        lock(&self.kinds)
    }

    /// Whether the kind was known already.
    fn note(&self, key: &Key) -> bool {
        let mut kinds = self.lock();
        if let Some(at) = kinds.iter().position(|kind| kind.key == *key) {
            let kind = kinds.remove(at);
            kinds.push(kind);
            return true;
        }
        if kinds.len() == KINDS {
            // What is held of it goes with it.
            kinds.remove(0);
        }
        kinds.push(Kind {
            key: key.clone(),
            ready: VecDeque::new(),
            starting: 0,
        });
        false
    }

    fn held(&self, key: &Key) -> Option<Ready> {
        let mut kinds = self.lock();
        let kind = kinds.iter_mut().find(|kind| kind.key == *key)?;
        kind.ready.pop_front()
    }

    fn refill(
        self: &Arc<Self>,
        key: &Key,
        provider: &Arc<dyn Provider>,
        request: &Request,
        config: &DesktopConfig,
    ) {
        let missing = {
            let mut kinds = self.lock();
            let Some(kind) = kinds.iter_mut().find(|kind| kind.key == *key) else {
                return;
            };
            let missing = self.most.saturating_sub(kind.ready.len() + kind.starting);
            kind.starting += missing;
            missing
        };
        let mut starts = lock(&self.starts);
        while starts.tasks.try_join_next().is_some() {}
        for _ in 0..missing {
            let (warm, provider) = (Arc::clone(self), Arc::clone(provider));
            let (key, config) = (key.clone(), config.clone());
            let request = Request {
                owner: Owner {
                    run: request.owner.run.clone(),
                    trial: NOBODYS.to_owned(),
                },
                ..request.clone()
            };
            let given_up = starts.given_up.clone();
            starts.tasks.spawn(async move {
                let coming = Coming::start(provider.as_ref(), &request, config);
                // Whoever takes next finds out by himself why it can't be started.
                let ready = match given_up.run_until_cancelled(coming).await {
                    Some(Ok(coming)) => coming.ready().await.ok(),
                    Some(Err(_)) | None => None,
                };
                warm.keep(&key, ready);
            });
        }
    }

    fn keep(&self, key: &Key, ready: Option<Ready>) {
        let mut kinds = self.lock();
        if let Some(kind) = kinds.iter_mut().find(|kind| kind.key == *key) {
            kind.starting = kind.starting.saturating_sub(1);
            kind.ready.extend(ready);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use agon_core::EnvironmentKind;
    use agon_sandbox::ReadOnlyFolder;

    use super::*;

    fn request() -> Request {
        let mut environment = Environment::of_kind(EnvironmentKind::Desktop);
        environment.image = Some("desktop:1".to_owned());
        Request {
            environment,
            owner: Owner {
                run: "run".to_owned(),
                trial: "test/a 1".to_owned(),
            },
            read_only: Vec::new(),
            display: None,
            work: None,
            start: Duration::from_secs(60),
        }
    }

    #[test]
    fn what_the_container_is_made_of_makes_the_kind() {
        let plain = request();
        let mut other = request();
        other.owner.trial = "test/b 1".to_owned();
        other.environment.apps = vec!["xterm".to_owned()];
        assert_eq!(Key::of(&plain), Key::of(&other));
        let changes: [fn(&mut Request); 8] = [
            |it| it.environment.image = Some("other:1".to_owned()),
            |it| it.environment.screen = Some("640x480".to_owned()),
            |it| it.environment.memory.0 += 1,
            |it| it.environment.network = agon_core::environment::Network::Open,
            |it| it.environment.cwd = Some("/home".to_owned()),
            |it| it.environment.gl = true,
            |it| {
                it.environment
                    .env
                    .insert("LANG".to_owned(), "de".to_owned());
            },
            |it| it.owner.run = "another".to_owned(),
        ];
        for change in changes {
            let mut other = request();
            change(&mut other);
            assert_ne!(Key::of(&plain), Key::of(&other), "{other:?}");
        }
    }

    #[test]
    fn who_is_shown_something_of_the_host_is_like_nobody_else() {
        let mut shown = request();
        shown.read_only.push(ReadOnlyFolder {
            host: "/opt".into(),
            inside: "/opt".to_owned(),
        });
        assert_eq!(Key::of(&shown), None);
        let mut mounted = request();
        mounted.work = Some("/home".into());
        assert_eq!(Key::of(&mounted), None);
    }

    #[test]
    fn the_kind_that_was_asked_for_longest_ago_is_forgotten() {
        let warm = Warm::new(2);
        let kind = |number: usize| {
            let mut request = request();
            request.environment.image = Some(format!("desktop:{number}"));
            Key::of(&request).unwrap()
        };
        for number in 0..KINDS {
            assert!(!warm.note(&kind(number)));
        }
        assert!(warm.note(&kind(0)));
        assert!(!warm.note(&kind(KINDS)));
        assert!(warm.note(&kind(0)));
        assert!(!warm.note(&kind(1)));
    }
}
