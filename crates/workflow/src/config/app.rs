//! The configuration of one agent at work on one instance.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::str::FromStr;

use agon_core::environment::Network;
use agon_core::{Environment, EnvironmentKind, Limits, Money, Seconds};
use agon_llm::config::{Sandbox, Workflow};

use super::llm::LlmConfig;
use crate::metrics::ModelNames;
use crate::state::Bounds;

/// Where commands run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RuntimeKind {
    /// A container of `base_container_image`.
    #[default]
    Docker,
    /// A sandbox on this machine, with its programs.
    Local,
}

impl FromStr for RuntimeKind {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "docker" | "eventstream" | "container" => Ok(Self::Docker),
            "local" | "cli" => Ok(Self::Local),
            other => Err(format!(
                "there is no runtime `{other}`: use docker or local"
            )),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct SandboxConfig {
    pub base_container_image: String,
    /// Tell the agent what is wrong with a source file that it changed.
    pub enable_auto_lint: bool,
    /// Seconds after which a command is left running, and a cell interrupted.
    pub timeout: u32,
    pub use_host_network: bool,
    /// Variables that its programs see.
    pub runtime_startup_env_vars: BTreeMap<String, String>,
}

impl Default for SandboxConfig {
    fn default() -> Self {
        Self::from(&Sandbox::default())
    }
}

impl From<&Sandbox> for SandboxConfig {
    fn from(section: &Sandbox) -> Self {
        let variables = section.runtime_startup_env_vars.iter();
        Self {
            base_container_image: section.base_container_image.clone(),
            enable_auto_lint: section.enable_auto_lint,
            timeout: u32::try_from(section.timeout).unwrap_or(u32::MAX),
            use_host_network: section.use_host_network,
            runtime_startup_env_vars: variables
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
        }
    }
}

#[derive(Debug, Clone)]
pub struct AppConfig {
    /// `CodeActAgent`, or any agent that `agon run --agent` takes.
    pub default_agent: String,
    pub runtime: RuntimeKind,
    pub max_iterations: u32,
    /// Nothing is no limit, as in the original.
    pub max_budget_per_task: Option<Money>,
    /// Seconds of the agent's turn: no task may last for ever.
    pub max_seconds: u32,
    pub sandbox: SandboxConfig,
    /// A folder of this machine that the sandbox works in, instead of one of its own. A benchmark's
    /// grading never sees it.
    pub workspace_base: Option<PathBuf>,
    /// A trajectory whose actions are played first.
    pub replay_trajectory_path: Option<PathBuf>,
    /// Where the trajectory is written.
    pub save_trajectory_path: Option<PathBuf>,
    /// Where the record is kept; without it, nowhere for long.
    pub session_folder: Option<PathBuf>,
    /// Offer the actions of a browser, which the sandbox must have.
    pub enable_browser: bool,
    /// The agent's model.
    pub llm: Option<LlmConfig>,
}

/// As long as the longest of the original's benchmarks.
const EIGHT_HOURS: u32 = 8 * 3600;

impl Default for AppConfig {
    fn default() -> Self {
        Self {
            default_agent: "CodeActAgent".to_owned(),
            runtime: RuntimeKind::default(),
            max_iterations: 500,
            max_budget_per_task: None,
            max_seconds: EIGHT_HOURS,
            sandbox: SandboxConfig::default(),
            workspace_base: None,
            replay_trajectory_path: None,
            save_trajectory_path: None,
            session_folder: None,
            enable_browser: false,
            llm: None,
        }
    }
}

impl AppConfig {
    /// What `[core]` and `[sandbox]` say.
    pub fn of_sections(sections: &Workflow) -> Result<Self, String> {
        let told = |error: agon_llm::config::ConfigError| error.to_string();
        let core = sections.core().map_err(told)?;
        Ok(Self {
            default_agent: core.default_agent.clone(),
            runtime: match &core.runtime {
                Some(kind) => kind.parse()?,
                None => RuntimeKind::default(),
            },
            max_iterations: core.max_iterations,
            max_budget_per_task: core.max_budget_per_task,
            sandbox: SandboxConfig::from(sections.sandbox().map_err(told)?),
            workspace_base: core.workspace_base.clone(),
            replay_trajectory_path: core.replay_trajectory_path.clone(),
            save_trajectory_path: core.save_trajectory_path.clone(),
            ..Self::default()
        })
    }

    pub fn set_llm_config(&mut self, llm: LlmConfig) {
        self.llm = Some(llm);
    }

    pub fn get_llm_config(&self) -> Option<&LlmConfig> {
        self.llm.as_ref()
    }

    /// The sandbox that it asks for.
    pub(crate) fn environment(&self) -> Environment {
        let kind = match self.runtime {
            RuntimeKind::Docker => EnvironmentKind::Container,
            RuntimeKind::Local => EnvironmentKind::Local,
        };
        let mut environment = Environment::of_kind(kind);
        if self.runtime == RuntimeKind::Docker {
            environment.image = Some(self.sandbox.base_container_image.clone());
        }
        if self.sandbox.use_host_network {
            environment.network = Network::Open;
        }
        environment.env = self.sandbox.runtime_startup_env_vars.clone();
        environment
    }

    /// What the agent is allowed, as its state tells.
    pub(crate) fn bounds(&self) -> Bounds {
        Bounds {
            max_iterations: self.max_iterations,
            max_budget: self.budget(),
        }
    }

    /// What its model is called in metrics.
    pub(crate) fn model_names(&self) -> ModelNames {
        let llm = self.llm.as_ref();
        llm.map(|llm| ModelNames::of_model(llm.spec()))
            .unwrap_or_default()
    }

    fn budget(&self) -> Option<Money> {
        self.max_budget_per_task.filter(|most| *most > Money::ZERO)
    }

    pub(crate) fn limits(&self) -> Limits {
        Limits {
            steps: self.max_iterations,
            seconds: Seconds::whole(self.max_seconds),
            // As in the original, a command that takes too long is left running: the agent decides.
            command: Seconds::whole(self.max_seconds),
            patience: Some(Seconds::whole(self.sandbox.timeout)),
            money: self.budget(),
            ..Limits::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A new configuration of the original says 0.0 where no limit is meant.
    #[test]
    fn no_money_at_all_is_no_limit() {
        for (said, held) in [
            (None, None),
            (Some(Money::ZERO), None),
            (Some(Money::from_picos(1)), Some(Money::from_picos(1))),
        ] {
            let config = AppConfig {
                max_budget_per_task: said,
                ..AppConfig::default()
            };
            assert_eq!(config.limits().money, held);
            assert_eq!(config.bounds().max_budget, held);
        }
    }
}
