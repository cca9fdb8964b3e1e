//! What every test here stands on.

use std::path::PathBuf;
use std::time::Duration;

use agon_core::Environment;
use agon_core::environment::EnvironmentKind;
use agon_core::quantity::ByteSize;
use agon_sandbox::{
    Exec, ExecOutput, LocalConfig, LocalProvider, Owner, Provider, Request, Sandbox,
};

/// Names another init where the tests' own folder cannot be read.
pub(crate) const INIT: &str = "AGON_TEST_INIT";

pub(crate) fn init() -> PathBuf {
    let init = std::env::var_os(INIT);
    init.map_or_else(
        || env!("CARGO_BIN_EXE_agon-sandbox-init").into(),
        Into::into,
    )
}

pub(crate) fn provider() -> LocalProvider {
    LocalProvider::new(config()).expect("bubblewrap must be installed")
}

pub(crate) fn config() -> LocalConfig {
    LocalConfig {
        init: init(),
        init_args: Vec::new(),
        hidden: Vec::new(),
    }
}

pub(crate) fn request() -> Request {
    let mut environment = Environment::of_kind(EnvironmentKind::Local);
    environment.memory = ByteSize::mib(256);
    environment.disk = ByteSize::mib(32);
    environment.processes = 64;
    Request {
        environment,
        owner: Owner {
            run: "test".to_owned(),
            trial: "test".to_owned(),
        },
        read_only: Vec::new(),
        display: None,
        work: None,
        start: Duration::from_secs(30),
    }
}

/// Holds a process as only a tracer can: killed, it waits in its exit until the tracer has ended.
pub(crate) struct Tracer(std::process::Child);

impl Tracer {
    pub(crate) fn of(pid: u32) -> Self {
        use std::io::Read;
        let hold = format!(
            "import ctypes, time\n\
             held = ctypes.CDLL(None).ptrace(0x4206, {pid}, 0, 0x40)\n\
             print(held, end='', flush=True)\ntime.sleep(600)"
        );
        let mut python = std::process::Command::new("/usr/bin/python3");
        python.args(["-c", &hold]);
        let mut tracer = python.stdout(std::process::Stdio::piped()).spawn().unwrap();
        let mut held = [0];
        let mut said = tracer.stdout.take().unwrap();
        said.read_exact(&mut held).unwrap();
        assert_eq!(held, *b"0", "process {pid} can't be traced");
        Self(tracer)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Tracer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The numbers, outside of all sandboxes, of processes with exactly this command line.
pub(crate) fn outside(line: &str) -> Vec<u32> {
    let line = format!("{line} ").replace(' ', "\0").into_bytes();
    let folders = std::fs::read_dir("/proc").unwrap().flatten();
    let numbers = folders.filter_map(|it| it.file_name().to_str()?.parse().ok());
    numbers
        .filter(|pid: &u32| {
            std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|it| it == line)
        })
        .collect()
}

/// A sandbox with the provider that it needs to live.
pub(crate) struct Ground {
    pub(crate) sandbox: Box<dyn Sandbox>,
    pub(crate) provider: LocalProvider,
}

pub(crate) async fn ground() -> Ground {
    let provider = provider();
    let sandbox = provider.prepare(&request()).await.unwrap();
    Ground { sandbox, provider }
}

impl Ground {
    pub(crate) async fn sh(&self, command: &str) -> ExecOutput {
        sh(self.sandbox.as_ref(), command).await
    }

    /// How many programs have a command line that begins so. None is counted where `ps` does not answer.
    pub(crate) async fn count(&self, beginning: &str) -> Option<usize> {
        let count = format!("all=$(ps -eo args) && echo \"$all\" | grep -c '^{beginning}'");
        text(&self.sh(&count).await.stdout.bytes)
            .trim()
            .parse()
            .ok()
    }

    /// Waits until every program whose command line begins so has ended.
    pub(crate) async fn wait_for_end(&self, beginning: &str) {
        while self.count(beginning).await.unwrap() > 0 {}
    }
}

pub(crate) async fn sh(sandbox: &dyn Sandbox, command: &str) -> ExecOutput {
    let exec = Exec::shell(command, Duration::from_secs(30));
    sandbox.exec(&exec).await.unwrap()
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
