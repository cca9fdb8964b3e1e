//! What the configuration says about the agent, found before the first trial.

use std::sync::Arc;

use agon_core::{ActionKind, Digest};
use agon_llm::Session;
use agon_llm::config::{self, AgentSection, Config, ConfigError, Environment};

use super::condense::{self, Condenser};
use super::prompt;
use super::tools::ToolKind;

/// The section of its own that the agent has, if there is one.
const SECTION: &str = "CodeActAgent";

#[derive(Debug, Clone)]
pub struct Options {
    section: AgentSection,
    /// As it was asked for: what it is made from has no identity of its own.
    settings: config::Condenser,
    condenser: Condenser,
    template: String,
}

impl Options {
    /// `[agent.CodeActAgent]` or else `[agent]`, and the condenser that goes with it. Without a
    /// configuration: what holds if nothing is said.
    pub fn of(
        config: Option<&Arc<Config>>,
        session: Option<&Arc<Session>>,
        environment: &Environment,
    ) -> Result<Self, String> {
        let config = config.map(Arc::as_ref);
        let section = match config {
            Some(config) => section(config).map_err(|error| error.to_string())?,
            None => AgentSection::default(),
        };
        let settings = condenser(&section, config).map_err(|error| error.to_string())?;
        Self::with(section, settings, config, session, environment)
    }

    /// What is wrong with the sections that it is read from, if anything. Nothing is opened.
    pub fn must_read(config: &Config) -> Result<(), ConfigError> {
        let section = section(config)?;
        condenser(&section, Some(config)).map(drop)
    }

    /// With a section and a condenser that were chosen otherwise.
    pub fn with(
        section: AgentSection,
        condenser: config::Condenser,
        config: Option<&Config>,
        session: Option<&Arc<Session>>,
        environment: &Environment,
    ) -> Result<Self, String> {
        Ok(Self {
            template: prompt::template(&section, config, environment)?,
            condenser: Condenser::open(&condenser, config, session)?,
            settings: condenser,
            section,
        })
    }

    pub fn section(&self) -> &AgentSection {
        &self.section
    }

    /// The condenser as the configuration names it.
    pub fn condenser_settings(&self) -> &config::Condenser {
        &self.settings
    }

    pub(super) fn condenser(&self) -> &Condenser {
        &self.condenser
    }

    pub(super) fn template(&self) -> &str {
        &self.template
    }

    /// What is switched on and not there.
    pub(super) fn complaint(&self) -> Option<String> {
        self.section.enable_llm_editor.then(|| {
            "enable_llm_editor: there is no `edit_file`, `str_replace_editor` is offered instead"
                .to_owned()
        })
    }

    /// Over everything but the model: prompts, settings, tools.
    pub(super) fn digest(&self) -> Digest {
        let tools: Vec<_> = ToolKind::ALL
            .into_iter()
            .map(|tool| tool.definition(&ActionKind::ALL))
            .collect();
        let parts = [
            self.template.clone(),
            condense::PROMPT.to_owned(),
            format!("{:?}", self.section),
            format!("{:?}", self.settings),
            format!("{tools:?}"),
        ];
        Digest::of_parts(parts.iter().map(String::as_bytes))
    }
}

fn section(config: &Config) -> Result<AgentSection, ConfigError> {
    let workflow = config.workflow();
    let own = match workflow.agent(Some(SECTION)) {
        Err(ConfigError::NoSection { .. }) => workflow.agent(None),
        own => own,
    };
    own.cloned()
}

/// `[condenser]`, else what the agent's section says. Summaries cost money: nobody gets them unasked.
fn condenser(
    section: &AgentSection,
    config: Option<&Config>,
) -> Result<config::Condenser, ConfigError> {
    let said = match config {
        Some(config) => config.workflow().condenser(None)?,
        None => None,
    };
    Ok(said.unwrap_or(&section.condenser).clone())
}

#[cfg(test)]
mod tests {
    use agon_llm::config::ConfigSource;

    use super::*;

    fn config(text: &str) -> Arc<Config> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        std::fs::write(&file, text).unwrap();
        let source = ConfigSource {
            file: Some(file),
            folder: folder.path().to_owned(),
            environment: Environment::default(),
        };
        Arc::new(Config::load(&source).unwrap())
    }

    fn options(text: &str) -> Result<Options, String> {
        Options::of(Some(&config(text)), None, &Environment::default())
    }

    #[test]
    fn the_agents_own_section_wins_over_the_general_one() {
        let both = "[agent]\nenable_cmd = false\n[agent.CodeActAgent]\nenable_jupyter = false\n";
        let both = options(both).unwrap();
        assert!(!both.section().enable_cmd && !both.section().enable_jupyter);
        let general = options("[agent]\nenable_jupyter = false\n").unwrap();
        assert!(general.section().enable_cmd && !general.section().enable_jupyter);
    }

    #[test]
    fn the_condenser_is_the_one_that_is_said() {
        use config::Condenser as C;
        let of = |text| options(text).unwrap().condenser_settings().clone();
        // No summaries unless they are asked for.
        assert_eq!(of(""), C::ConversationWindow);
        let window = "[agent.condenser]\ntype = \"conversation_window\"\n";
        assert_eq!(of(window), C::ConversationWindow);
        assert!(matches!(
            of("[agent.condenser]\ntype = \"llm\"\n"),
            C::Llm { .. }
        ));
        assert_eq!(of("[condenser]\ntype = \"noop\"\n"), C::Noop);
        assert_eq!(of("[agent.condenser]\ntype = \"noop\"\n"), C::Noop);
        let none = Options::of(None, None, &Environment::default()).unwrap();
        assert_eq!(none.condenser_settings(), &C::ConversationWindow);
    }

    #[test]
    fn condensers_that_are_not_built_say_what_to_use() {
        for kind in ["structured", "llm_attention"] {
            let error = options(&format!("[condenser]\ntype = \"{kind}\"\n")).unwrap_err();
            assert!(error.contains("not built: use `llm`"), "{error}");
        }
        let error = options("[condenser]\ntype = \"llm\"\nllm_config = \"small\"\n").unwrap_err();
        assert!(error.contains("small"), "{error}");
    }

    #[test]
    fn the_digest_is_over_what_matters() {
        let of = |text| options(text).unwrap().digest();
        assert_eq!(of(""), of(""));
        assert_ne!(of(""), of("[agent]\nenable_think = false\n"));
        assert_ne!(of(""), of("[condenser]\ntype = \"noop\"\n"));
        assert_ne!(
            of(""),
            of("[agent]\nsystem_prompt_filename = \"system_prompt_long_horizon.j2\"\n")
        );
    }
}
