//! The models that evaluators may ask. Tasks come over the network, so they only choose among those that
//! the operator allows: his own and the sections of his configuration. Knows no question.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agon_core::Purpose;
use agon_llm::config::Config;
use agon_llm::{Account, Budget, Model, ModelSpec, Session};
use tokio::runtime::{Builder, Handle, Runtime};

/// What a call may take, with all its tries, where the configuration says nothing.
const CALL: f64 = 10.0;
/// Whatever it says: a score has its own deadline.
const LONGEST_CALL: f64 = 50.0;

#[derive(Debug)]
pub struct Models {
    session: Arc<Session>,
    config: Config,
    /// The operator's own, which tasks that name none are judged by.
    default: Option<ModelSpec>,
    /// What all tasks together may spend.
    account: Arc<Account>,
    /// Where calls are under way: connections outlive a call.
    runtime: Option<Runtime>,
}

/// Why nobody can be asked.
#[derive(Debug, thiserror::Error)]
pub enum ModelsError {
    #[error(
        "there is no model to ask: name one with --model, or give config.toml a section [llm.NAME]"
    )]
    Nobody,
    #[error("{0}")]
    Unusable(String),
    #[error("no thread could be started for calls of models: {0}")]
    Runtime(std::io::Error),
}

/// A model for one task.
#[derive(Debug)]
pub(super) struct Chosen {
    pub(super) model: Model,
    /// Of this task alone.
    pub(super) account: Arc<Account>,
    /// A call that takes longer is given up.
    pub(super) within: Duration,
    /// Held by who asks: one question at a time.
    pub(super) turn: Mutex<()>,
}

impl Models {
    /// `default` is looked at now: a key that is missing shows before any task.
    pub fn new(
        session: Arc<Session>,
        config: Config,
        default: Option<ModelSpec>,
        budget: Budget,
    ) -> Result<Self, ModelsError> {
        if default.is_none() && config.sections().is_empty() {
            return Err(ModelsError::Nobody);
        }
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("agon-models")
            .enable_all()
            .build()
            .map_err(ModelsError::Runtime)?;
        let models = Self {
            session,
            config,
            default,
            account: Arc::new(Account::of_run(budget)),
            runtime: Some(runtime),
        };
        if models.default.is_some() {
            models.choose(None).map_err(ModelsError::Unusable)?;
        }
        Ok(models)
    }

    /// What a task asks for. The error goes over the wire: it holds no key and no address.
    pub(super) fn choose(&self, wanted: Option<&str>) -> Result<Chosen, String> {
        let mut spec = match (wanted, &self.default) {
            (None, Some(default)) => default.clone(),
            (None, None) => {
                return Err(format!(
                    "success_criteria.model must say which model is asked: {}",
                    self.allowed()
                ));
            }
            (Some(wanted), _) => self.named(wanted)?,
        };
        let name = spec.name.clone();
        if !spec.sees() {
            return Err(format!(
                "the model {name} can't be shown pictures: choose one that sees"
            ));
        }
        let seconds = spec.settings.timeout.filter(|seconds| *seconds > 0.0);
        let seconds = seconds.unwrap_or(CALL).min(LONGEST_CALL);
        spec.settings.timeout = Some(seconds);
        let model = self.session.model(spec);
        let model = model.map_err(|error| format!("the model {name}: {error}"))?;
        let run = Some(Arc::clone(&self.account));
        let account = Arc::new(Account::of_trial(Budget::default(), run));
        Ok(Chosen {
            model: model.on(&account, Purpose::Judge),
            account,
            // The call's own deadline comes first, and says more; it stands still while a call waits
            // for its turn.
            within: Duration::from_secs_f64(seconds + 1.0),
            turn: Mutex::default(),
        })
    }

    /// A name is looked up, and never taken for more than a name: what it would mean elsewhere, such as a
    /// file or another service, counts only where the operator has said the same.
    fn named(&self, wanted: &str) -> Result<ModelSpec, String> {
        let spec = self.config.model(wanted).ok();
        let own = |spec: &ModelSpec| {
            let default = self.default.as_ref();
            default.is_some_and(|default| default.name == spec.name)
        };
        let allowed =
            |spec: &ModelSpec| own(spec) || self.config.sections().contains(&spec.name.as_str());
        spec.filter(allowed).ok_or_else(|| {
            format!(
                "the model {wanted:?} may not be asked here: {}",
                self.allowed()
            )
        })
    }

    fn allowed(&self) -> String {
        let default = self.default.iter().map(|spec| spec.name.as_str());
        let names: BTreeSet<&str> = default.chain(self.config.sections()).collect();
        let names: Vec<&str> = names.into_iter().collect();
        format!(
            "the operator allows {} (more by --model, or by sections of config.toml)",
            names.join(", ")
        )
    }

    pub(super) fn handle(&self) -> Option<&Handle> {
        self.runtime.as_ref().map(Runtime::handle)
    }
}

impl Drop for Models {
    fn drop(&mut self) {
        // Whoever drops it may be in a runtime of his own, where nobody may wait.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

#[cfg(test)]
mod tests {
    use agon_llm::SessionOptions;
    use agon_llm::config::{ConfigSource, Environment};

    use super::*;

    fn models(config: &str, default: Option<&str>) -> Result<Models, ModelsError> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("config.toml"), config).unwrap();
        let source = ConfigSource {
            file: None,
            folder: folder.path().to_owned(),
            environment: Environment::default(),
        };
        let config = Config::load(&source).unwrap();
        let default = default.map(|name| config.model(name).unwrap());
        let session = Session::open(&SessionOptions::default()).unwrap();
        Models::new(session, config, default, Budget::default())
    }

    const CONFIG: &str = r#"
        [llm.eye]
        model = "openai/gpt-4o-mini"
        base_url = "http://127.0.0.1:1/v1"
        api_key = "sk-the-eye-of-the-test"
        [llm.slow]
        model = "mock/text:no"
        timeout = 30
        [llm.hour]
        model = "mock/text:no"
        timeout = 3600
        [llm.blind]
        model = "openai/gpt-4o"
        api_key = "sk-the-blind-of-the-test"
        disable_vision = true
        [llm.keyless]
        model = "openai/gpt-4o"
    "#;

    #[test]
    fn a_task_chooses_among_what_the_operator_allows() {
        let models = models(CONFIG, Some("mock/echo")).unwrap();
        let name = |wanted| {
            let chosen = models.choose(wanted)?;
            Ok::<_, String>(chosen.model.spec().name.clone())
        };
        assert_eq!(name(None).unwrap(), "mock/echo");
        assert_eq!(name(Some("mock/echo")).unwrap(), "mock/echo");
        for spelling in ["eye", "llm.eye", "[llm.eye]"] {
            assert_eq!(name(Some(spelling)).unwrap(), "eye");
        }
        for refused in [
            "openai/gpt-4o-mini",
            "mock/text:yes",
            "mock/script:/etc/passwd",
            "local//etc/passwd",
            "nobody",
            "http://elsewhere/v1",
            "",
        ] {
            let why = name(Some(refused)).unwrap_err();
            let list = "allows blind, eye, hour, keyless, mock/echo, slow";
            assert!(why.contains(list), "{why}");
        }
        let why = name(Some("blind")).unwrap_err();
        assert!(why.contains("pictures"), "{why}");
        let why = name(Some("keyless")).unwrap_err();
        assert!(why.contains("no key"), "{why}");
    }

    #[test]
    fn without_a_model_of_the_operator_the_task_must_name_one() {
        let some = models(CONFIG, None).unwrap();
        let why = some.choose(None).unwrap_err();
        assert!(why.contains("success_criteria.model"), "{why}");
        assert!(some.choose(Some("eye")).is_ok());
        assert!(matches!(models("", None), Err(ModelsError::Nobody)));
    }

    #[test]
    fn what_is_wrong_with_the_operators_model_shows_at_once() {
        for (name, word) in [("keyless", "no key"), ("blind", "pictures")] {
            let error = models(CONFIG, Some(name)).unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        }
    }

    #[test]
    fn a_call_has_ten_seconds_or_what_the_section_says() {
        let models = models(CONFIG, None).unwrap();
        for (name, seconds) in [("eye", 10.0), ("slow", 30.0), ("hour", 50.0)] {
            let chosen = models.choose(Some(name)).unwrap();
            assert_eq!(chosen.model.spec().settings.timeout, Some(seconds));
            assert!(chosen.within > Duration::from_secs_f64(seconds));
        }
    }
}
