//! Makes container sandboxes on one engine.

use std::path::PathBuf;

use agon_core::environment::Network;
use async_trait::async_trait;
use bollard::query_parameters::{CreateContainerOptions, StartContainerOptions};
use tokio::io::AsyncWriteExt;
use tokio::time::timeout;

use super::engine::{Address, Engine, failed, refused};
use super::folder::Folder;
use super::leftovers;
use super::run_as::RunAs;
use super::sandbox::{ContainerSandbox, OwnedContainer, REMOVAL};
use super::{processes, spec};
use crate::contract::{Provider, Request, Sandbox, Writer};
use crate::error::SandboxError;
use crate::hidden::Hidden;
use crate::local::Uplink;

#[derive(Debug)]
pub struct ContainerProvider {
    engine: Engine,
    owner: String,
    hidden: Hidden,
    /// How networks of containers are opened, where that is ours to do.
    uplink: Option<Uplink>,
}

impl ContainerProvider {
    /// Connects to the engine of `DOCKER_HOST`, or else to the one behind Docker's or Podman's usual
    /// socket.
    pub async fn connect() -> Result<Self, SandboxError> {
        let engine = Engine::connect(Address::find()?).await?;
        Ok(Self {
            uplink: engine.uplink(),
            engine,
            owner: leftovers::owner_label()?,
            hidden: Hidden::default(),
        })
    }

    /// Names folders of the host that are seen in no container, even where they lie in the folder that
    /// it works in: suites and runs.
    #[must_use]
    pub fn hiding(mut self, folders: Vec<PathBuf>) -> Self {
        self.hidden = Hidden::new(folders);
        self
    }

    /// Removes the containers whose owner, a process of this host, has died, and only those. Says
    /// how many there were.
    pub async fn remove_dead_owners(&self) -> Result<usize, SandboxError> {
        leftovers::remove_dead_owners(&self.engine.docker).await
    }

    /// The digest that pins an image: of its manifest where it came from a registry, else its id.
    pub async fn image_digest(&self, image: &str) -> Result<String, SandboxError> {
        let found = match self.engine.docker.inspect_image(image).await {
            Err(error) if matches!(refused(&error), Some((404, _))) => Err(no_image(image)),
            other => other.map_err(failed("could not look at an image")),
        }?;
        found
            .repo_digests
            .into_iter()
            .flatten()
            .next()
            .or(found.id)
            .ok_or_else(|| no_image(image))
    }

    async fn start(
        &self,
        request: &Request,
        run_as: &RunAs,
    ) -> Result<OwnedContainer, SandboxError> {
        let folder = Folder::of(request);
        let uplink = match request.environment.network {
            Network::None => None,
            Network::Open => self.uplink.as_ref(),
        };
        let name_server = uplink.map(Uplink::name_server);
        let body = spec::create_body(request, &folder, run_as, &self.owner, name_server)?;
        let image = body.image.clone().unwrap_or_default();
        // Owned before it exists: whatever happens from here on, it is removed.
        let name = format!("agon-{:016x}", rand::random::<u64>());
        let mut owned = OwnedContainer::new(self.engine.clone(), name.clone(), folder);
        let docker = &self.engine.docker;
        let named = CreateContainerOptions {
            name: Some(name.clone()),
            ..CreateContainerOptions::default()
        };
        match docker.create_container(Some(named), body).await {
            Err(error) if matches!(refused(&error), Some((404, _))) => {
                return Err(no_image(&image));
            }
            other => other.map_err(not_started)?,
        };
        owned.created = true;
        let input = match &request.display {
            Some(_) => Some(self.let_display_start(&name).await?),
            None => None,
        };
        docker
            .start_container(&name, None::<StartContainerOptions>)
            .await
            .map_err(not_started)?;
        drop(input);
        if let Some(uplink) = uplink {
            owned.network = Some(owned.container.open_network(uplink).await?);
        }
        Ok(owned)
    }

    /// Keep what it returns until the container has started: what was written is on its way in it.
    async fn let_display_start(&self, container: &str) -> Result<Writer, SandboxError> {
        let cannot = || SandboxError::io("could not reach the first process of a container");
        let mut input = self.engine.input_of(container).await.map_err(cannot())?;
        let given = input.write_all(processes::GO.as_bytes()).await;
        given.map_err(cannot())?;
        input.flush().await.map_err(cannot())?;
        Ok(input)
    }
}

fn not_started(error: bollard::errors::Error) -> SandboxError {
    match refused(&error) {
        Some((_, reason)) => SandboxError::Start(reason.to_owned()),
        None => failed("could not start a container")(error),
    }
}

fn no_image(image: &str) -> SandboxError {
    SandboxError::Missing(format!(
        "the container engine has no image `{image}`: get it with `docker pull {image}`, or make \
         it with `docker import`"
    ))
}

#[async_trait]
impl Provider for ContainerProvider {
    async fn prepare(&self, request: &Request) -> Result<Box<dyn Sandbox>, SandboxError> {
        let start = async {
            let work = request.work.as_deref();
            let run_as = RunAs::of(work, &self.hidden, &self.engine.docker).await?;
            let container = self.start(request, &run_as).await?;
            let disk = request.environment.disk;
            Ok(ContainerSandbox::new(container, run_as, disk))
        };
        match timeout(request.start, start).await {
            Ok(sandbox) => sandbox.map(|sandbox| Box::new(sandbox) as Box<dyn Sandbox>),
            Err(_) => Err(SandboxError::Timeout {
                what: "starting a container",
                seconds: request.start.as_secs_f64(),
            }),
        }
    }

    async fn settle(&self) {
        let removals = &self.engine.removals;
        removals.close();
        // What takes longer is found by its owner label.
        let _ = timeout(REMOVAL, removals.wait()).await;
        removals.reopen();
    }

    async fn describe(&self) -> Result<String, SandboxError> {
        let version = self
            .engine
            .docker
            .version()
            .await
            .map_err(failed("could not ask the container engine for its version"))?;
        let podman = version
            .components
            .iter()
            .flatten()
            .any(|component| component.name.starts_with("Podman"));
        Ok(format!(
            "{} {} (API {}; open networks: {})",
            if podman { "podman" } else { "docker" },
            version.version.unwrap_or_default(),
            self.engine.docker.client_version(),
            match self.uplink {
                Some(_) => "closed to this machine",
                None => "the engine's own",
            }
        ))
    }
}
