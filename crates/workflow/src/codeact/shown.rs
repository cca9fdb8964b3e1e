//! The agent's settings as `agent_config` and `condenser_config` of `metadata.json` show them, with the
//! original's keys.

use agon_llm::ModelSpec;
use agon_llm::config::AgentSection;
use serde_json::{Map, Value, json};

use super::condense::Condenser;
use super::options::Options;
use crate::eval::llm_config_json;

impl Options {
    /// `llm`: the agent's own model, if it has one.
    pub fn agent_config(&self, llm: Option<&ModelSpec>) -> Map<String, Value> {
        agent(self.section(), condenser(self.condenser(), llm))
    }

    /// Of the condenser that is used, wherever it was said.
    pub fn condenser_config(&self, llm: Option<&ModelSpec>) -> Map<String, Value> {
        fields(condenser(self.condenser(), llm))
    }
}

fn agent(section: &AgentSection, condenser: Value) -> Map<String, Value> {
    fields(json!({
        "llm_config": section.llm_config,
        "classpath": section.classpath,
        "system_prompt_filename": section.system_prompt_filename,
        "enable_browsing": section.enable_browsing,
        "enable_editor": section.enable_editor,
        "enable_jupyter": section.enable_jupyter,
        "enable_cmd": section.enable_cmd,
        "enable_think": section.enable_think,
        "enable_finish": section.enable_finish,
        "enable_prompt_extensions": section.enable_prompt_extensions,
        "enable_mcp": section.enable_mcp,
        "enable_history_truncation": section.enable_history_truncation,
        "enable_som_visual_browsing": section.enable_som_visual_browsing,
        "enable_plan_mode": section.enable_plan_mode,
        "enable_stuck_detection": section.enable_stuck_detection,
        "cli_mode": section.cli_mode,
        "enable_llm_editor": section.enable_llm_editor,
        "enable_condensation_request": section.enable_condensation_request,
        "disabled_microagents": section.disabled_microagents,
        "condenser": condenser,
        // Objects that the original has no null for.
        "model_routing": section.model_routing.clone().unwrap_or_default(),
        "extended": section.extended.clone().unwrap_or_default(),
        "runtime": section.runtime,
    }))
}

/// `own`: the model of one that asks the agent's.
fn condenser(used: &Condenser, own: Option<&ModelSpec>) -> Value {
    match used {
        Condenser::Noop => json!({"type": "noop"}),
        Condenser::Window => json!({"type": "conversation_window"}),
        Condenser::Masking { window } => {
            json!({"type": "observation_masking", "attention_window": window})
        }
        Condenser::PageMasking { window } => {
            json!({"type": "browser_output_masking", "attention_window": window})
        }
        Condenser::Recent { keep_first, most } => {
            json!({"type": "recent", "keep_first": keep_first, "max_events": most})
        }
        Condenser::Amortized { keep_first, most } => {
            json!({"type": "amortized", "keep_first": keep_first, "max_size": most})
        }
        Condenser::Llm {
            model,
            keep_first,
            most,
            longest,
        } => {
            let asked = model.as_ref().map(agon_llm::Model::spec).or(own);
            json!({
                "type": "llm",
                // The whole model, as the original has it there; never its name.
                "llm_config": asked.map(llm_config_json).unwrap_or_default(),
                "keep_first": keep_first,
                "max_size": most,
                "max_event_length": longest,
            })
        }
        Condenser::Pipeline(inner) => {
            let inner: Vec<Value> = inner.iter().map(|one| condenser(one, own)).collect();
            json!({"type": "pipeline", "condensers": inner})
        }
    }
}

fn fields(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use agon_llm::config::{self, Environment};
    use agon_llm::{Provider, Settings, Wire};

    use super::*;

    #[test]
    fn what_holds_is_shown() {
        let section = AgentSection {
            enable_jupyter: false,
            ..AgentSection::default()
        };
        let settings = config::Condenser::Pipeline {
            condensers: vec![
                config::Condenser::Noop,
                config::Condenser::Recent {
                    keep_first: 1,
                    max_events: 9,
                },
            ],
        };
        let options = Options::with(section, settings, None, None, &Environment::default());
        let options = options.unwrap();
        let agent = options.agent_config(None);
        assert_eq!(agent["enable_jupyter"], false);
        let used = json!({"type": "pipeline", "condensers": [
            {"type": "noop"}, {"type": "recent", "keep_first": 1, "max_events": 9}]});
        assert_eq!(agent["condenser"], used, "the one that is used");
        assert_eq!(Value::from(options.condenser_config(None)), used);
    }

    /// The original's own reader takes no null and no name of a section for these.
    #[test]
    fn what_is_an_object_there_is_one_here() {
        let settings = config::Condenser::Llm {
            llm_config: None,
            keep_first: 1,
            max_size: 100,
            max_event_length: 10_000,
        };
        let section = AgentSection::default();
        let options = Options::with(section, settings, None, None, &Environment::default());
        let options = options.unwrap();
        let own = ModelSpec {
            name: "openai/m".to_owned(),
            provider: Provider::OpenAi,
            wire: Wire::Chat,
            model: "m".to_owned(),
            base_url: String::new(),
            key: None,
            settings: Settings {
                timeout: Some(2.5),
                retry_min_wait: 0.5,
                ..Settings::default()
            },
        };
        let agent = options.agent_config(Some(&own));
        assert_eq!(agent["model_routing"], json!({}));
        assert_eq!(agent["extended"], json!({}));
        for condenser in [
            &agent["condenser"],
            &options.condenser_config(Some(&own)).into(),
        ] {
            let llm = &condenser["llm_config"];
            assert_eq!(llm["model"], "m", "{condenser}");
            assert_eq!(llm["timeout"], 3, "whole seconds");
            assert_eq!(llm["retry_min_wait"], 1);
            assert_eq!(llm["retry_max_wait"], 64);
        }
        let none = options.condenser_config(None);
        assert_eq!(none["llm_config"], json!({}));
    }
}
