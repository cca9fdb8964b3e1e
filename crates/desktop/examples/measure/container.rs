//! Desktops in containers: their captures, and their starts in turns with a bare container that holds
//! nothing but an X server.

use std::time::{Duration, Instant};

use agon_core::Environment;
use agon_core::environment::EnvironmentKind;
use agon_desktop::{ContainerDisplay, Desktop, DesktopConfig, Size};
use agon_sandbox::container::ContainerProvider;
use agon_sandbox::{DisplayMount, OwnedFolder, Owner, Provider, Request, Sandbox};
use tokio::runtime::Runtime;

use crate::docker::{Docker, until_it_answers};
use crate::figure::{Failed, Figure};
use crate::times::Times;

const CAPTURES: usize = 500;
const STARTS: usize = 12;
const START: Duration = Duration::from_secs(60);

pub(crate) fn capture(image: &str) -> Result<Vec<Figure>, Failed> {
    let config = DesktopConfig {
        size: Size::new(1920, 1080),
        start: START,
        ..DesktopConfig::default()
    };
    let engine = Engine::connect()?;
    let (sandbox, desktop) = engine.start(image, config)?;
    let times = Times::of(CAPTURES, || Ok(desktop.screen().capture()?));
    engine.runtime.block_on(sandbox.destroy());
    let times = times?;
    let name = "container_capture_p50_ms";
    Ok(vec![
        Figure::new(name, times.p50(), None).noting(times.spread("ours")),
    ])
}

/// Ours with its window manager to the first frame; the bare one until its X server answers.
pub(crate) fn cold_start(image: &str) -> Result<Vec<Figure>, Failed> {
    let config = DesktopConfig {
        start: START,
        ..DesktopConfig::default()
    };
    let engine = Engine::connect()?;
    let docker = Docker::from_environment()?;
    let (mut ours, mut bare) = (Times::default(), Times::default());
    for round in 0..=STARTS {
        let called = Instant::now();
        let (sandbox, desktop) = engine.start(image, config.clone())?;
        let captured = desktop.screen().capture();
        let our_time = called.elapsed();
        drop((captured?, desktop));
        engine.runtime.block_on(sandbox.destroy());
        let bare_time = bare_start(&docker, image, config.size)?;
        // The first ones read the image from the disk.
        if round > 0 {
            ours.add(our_time);
            bare.add(bare_time);
        }
    }
    Ok(vec![
        Figure::new("cold_start_container_ms", ours.p50(), Some(bare.p50()))
            .noting(ours.spread("ours"))
            .noting(bare.spread("bare container with Xvfb")),
        Figure::new(
            "cold_start_container_ratio",
            ours.p50() / bare.p50(),
            Some(1.0),
        ),
    ])
}

fn bare_start(docker: &Docker, image: &str, size: Size) -> Result<Duration, Failed> {
    let called = Instant::now();
    let folder = OwnedFolder::new()?;
    let sockets = folder.path().join("x");
    std::fs::create_dir(&sockets)?;
    let container = docker.start_x_server(image, &sockets, size)?;
    let answered = until_it_answers(&sockets.join("X0"));
    let time = called.elapsed();
    docker.remove(&container)?;
    answered.map(|()| time)
}

struct Engine {
    runtime: Runtime,
    provider: ContainerProvider,
}

impl Engine {
    fn connect() -> Result<Self, Failed> {
        let runtime = Runtime::new()?;
        let provider = runtime.block_on(ContainerProvider::connect())?;
        Ok(Self { runtime, provider })
    }

    /// As a trial does it.
    fn start(
        &self,
        image: &str,
        config: DesktopConfig,
    ) -> Result<(Box<dyn Sandbox>, Desktop), Failed> {
        let display = ContainerDisplay::new(config)?;
        let request = Request {
            environment: Environment {
                image: Some(image.to_owned()),
                ..Environment::of_kind(EnvironmentKind::Desktop)
            },
            owner: Owner {
                run: "bench".to_owned(),
                trial: "bench".to_owned(),
            },
            read_only: Vec::new(),
            display: Some(DisplayMount {
                folder: display.folder(),
                start: display.start(),
            }),
            work: None,
            start: START,
        };
        let sandbox = self.runtime.block_on(self.provider.prepare(&request))?;
        let desktop = display.connect()?;
        Ok((sandbox, desktop))
    }
}
