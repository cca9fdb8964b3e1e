//! Sandboxes of this machine, and models that say what a test tells them.

use std::path::PathBuf;
use std::sync::Arc;

use agon_engine::{Desktops, Providers};
use agon_sandbox::{LocalConfig, LocalProvider};
use agon_workflow::{AppConfig, Runtime, RuntimeKind, SandboxConfig, get_llm_config_arg_of};
use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) struct Place {
    folder: TempDir,
    providers: Providers,
}

impl Place {
    pub(crate) fn new() -> Self {
        let config = LocalConfig {
            init: env!("CARGO_BIN_EXE_agon-workflow-init").into(),
            init_args: Vec::new(),
            hidden: Vec::new(),
        };
        let local = Arc::new(LocalProvider::new(config).unwrap());
        Self {
            folder: tempfile::tempdir().unwrap(),
            providers: Providers {
                local: Arc::clone(&local) as _,
                container: local,
                desktops: Desktops::new(0),
                hidden: Vec::new(),
            },
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn providers(&self) -> Providers {
        self.providers.clone()
    }

    /// An agent whose model gives these answers.
    pub(crate) fn config(&self, answers: &[Value]) -> AppConfig {
        let file = self.path("answers");
        let lines: Vec<String> = answers.iter().map(Value::to_string).collect();
        std::fs::write(&file, lines.join("\n")).unwrap();
        let mut config = AppConfig {
            runtime: RuntimeKind::Local,
            max_iterations: 20,
            max_seconds: 120,
            sandbox: SandboxConfig {
                timeout: 30,
                ..SandboxConfig::default()
            },
            ..AppConfig::default()
        };
        let model = format!("mock/turns:{}", file.display());
        config.set_llm_config(get_llm_config_arg_of(&model, None).unwrap());
        config
    }

    pub(crate) async fn runtime(&self, config: &AppConfig) -> Runtime {
        let mut runtime = Runtime::new(config, self.providers()).unwrap();
        runtime.connect().await.unwrap();
        runtime
    }
}

fn call(name: &str, input: Value) -> Value {
    json!({ "tool_calls": [{ "name": name, "input": input }] })
}

pub(crate) fn run(command: &str) -> Value {
    call("execute_bash", json!({ "command": command }))
}

/// A command that is left running after a second.
pub(crate) fn leave(command: &str) -> Value {
    call("execute_bash", json!({ "command": command, "timeout": 1 }))
}

pub(crate) fn finish() -> Value {
    call("finish", json!({ "message": "Done." }))
}
