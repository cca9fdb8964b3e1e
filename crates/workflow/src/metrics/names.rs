//! Which model a section of a configuration stands for: result files name models, not sections.

use std::collections::BTreeMap;

use agon_llm::ModelSpec;
use agon_store::Manifest;

use crate::eval::{model_name, model_name_of};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelNames(BTreeMap<String, String>);

impl ModelNames {
    /// The models of a run.
    pub fn of_run(manifest: &Manifest) -> Self {
        let stamps = manifest.models.iter();
        // The others were asked for by the model's own name.
        let sections = stamps.filter(|stamp| !is_own_name(&stamp.name, &stamp.model));
        let named = sections.map(|stamp| {
            let model = model_name_of(&stamp.provider, &stamp.model);
            (stamp.name.clone(), model)
        });
        Self(named.collect())
    }

    pub fn of_model(spec: &ModelSpec) -> Self {
        if is_own_name(&spec.name, &spec.model) {
            return Self::default();
        }
        Self(BTreeMap::from([(spec.name.clone(), model_name(spec))]))
    }

    /// The name itself where no model is known for it.
    pub fn of<'a>(&'a self, name: &'a str) -> &'a str {
        self.0.get(name).map_or(name, String::as_str)
    }
}

fn is_own_name(name: &str, model: &str) -> bool {
    let provider = name.strip_suffix(model);
    provider.is_some_and(|provider| provider.is_empty() || provider.ends_with('/'))
}

#[cfg(test)]
mod tests {
    use agon_core::verdict::TurnEnd;
    use agon_store::RunFolder;

    use super::*;
    use crate::config::{AppConfig, get_llm_config_arg_of};
    use crate::dialect::tests::conversation;
    use crate::state::{Bounds, State};

    #[test]
    fn what_names_a_model_already_is_no_section() {
        assert!(is_own_name("gpt-4o", "gpt-4o"));
        assert!(is_own_name("openai/gpt-4o", "gpt-4o"));
        assert!(!is_own_name("eval_gpt-4o", "gpt-4o"));
        assert!(!is_own_name("llm", "gpt-4o"));
    }

    #[test]
    fn a_state_names_the_model_of_its_configuration() {
        let folder = tempfile::tempdir().unwrap();
        let answers = folder.path().join("answers");
        std::fs::write(&answers, "{\"text\": \"x\"}").unwrap();
        let model = format!("mock/turns:{}", answers.display());
        let file = folder.path().join("config.toml");
        std::fs::write(&file, format!("[llm.eval_gpt4]\nmodel = '{model}'\n")).unwrap();
        let mut config = AppConfig::default();
        config.set_llm_config(get_llm_config_arg_of("eval_gpt4", Some(file)).unwrap());
        let events = conversation();
        let early = State::so_far(&events, "", &config.model_names(), Bounds::default());
        let run = RunFolder::at(folder.path());
        let end = Ok(TurnEnd::Finished);
        let late = State::ended("x", &events, &run, &config, &end, None);
        for state in [early, late] {
            let metrics = state.metrics;
            let names = metrics.costs.iter().map(|cost| &cost.model);
            let names = names.chain(metrics.token_usages.iter().map(|used| &used.model));
            let names = names.chain(metrics.response_latencies.iter().map(|call| &call.model));
            let names = names.chain([&metrics.accumulated_token_usage.model]);
            assert_eq!(names.filter(|name| **name != model).count(), 0);
        }
    }

    #[test]
    fn unknown_names_stay() {
        let names = ModelNames(BTreeMap::from([("llm".to_owned(), "gpt-4o".to_owned())]));
        assert_eq!((names.of("llm"), names.of("judge")), ("gpt-4o", "judge"));
    }
}
