//! The agent's settings as `agent_config` and `condenser_config` of `metadata.json` show them, with the
//! original's keys.

use agon_llm::config::{AgentSection, Condenser};
use serde_json::{Map, Value, json};

use super::options::Options;

impl Options {
    pub fn agent_config(&self) -> Map<String, Value> {
        agent(self.section())
    }

    /// Of the condenser that is used, wherever it was said.
    pub fn condenser_config(&self) -> Map<String, Value> {
        fields(condenser(self.condenser_settings()))
    }
}

fn agent(section: &AgentSection) -> Map<String, Value> {
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
        "condenser": condenser(&section.condenser),
        "model_routing": section.model_routing,
        "extended": section.extended,
        "runtime": section.runtime,
    }))
}

fn condenser(settings: &Condenser) -> Value {
    match settings {
        Condenser::Noop => json!({"type": "noop"}),
        Condenser::ConversationWindow => json!({"type": "conversation_window"}),
        Condenser::ObservationMasking { attention_window } => {
            json!({"type": "observation_masking", "attention_window": attention_window})
        }
        Condenser::BrowserOutputMasking { attention_window } => {
            json!({"type": "browser_output_masking", "attention_window": attention_window})
        }
        Condenser::Recent {
            keep_first,
            max_events,
        } => json!({"type": "recent", "keep_first": keep_first, "max_events": max_events}),
        Condenser::Amortized {
            keep_first,
            max_size,
        } => json!({"type": "amortized", "keep_first": keep_first, "max_size": max_size}),
        Condenser::LlmAttention {
            llm_config,
            keep_first,
            max_size,
        } => json!({
            "type": "llm_attention",
            "llm_config": llm_config,
            "keep_first": keep_first,
            "max_size": max_size,
        }),
        Condenser::Llm {
            llm_config,
            keep_first,
            max_size,
            max_event_length,
        } => summary(
            "llm",
            llm_config.as_deref(),
            [*keep_first, *max_size, *max_event_length],
        ),
        Condenser::Structured {
            llm_config,
            keep_first,
            max_size,
            max_event_length,
        } => summary(
            "structured",
            llm_config.as_deref(),
            [*keep_first, *max_size, *max_event_length],
        ),
        Condenser::Pipeline { condensers } => {
            let inner: Vec<Value> = condensers.iter().map(condenser).collect();
            json!({"type": "pipeline", "condensers": inner})
        }
    }
}

fn summary(kind: &str, model: Option<&str>, [keep_first, max_size, longest]: [u32; 3]) -> Value {
    json!({
        "type": kind,
        "llm_config": model,
        "keep_first": keep_first,
        "max_size": max_size,
        "max_event_length": longest,
    })
}

fn fields(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use agon_llm::config::Environment;

    use super::*;

    #[test]
    fn what_holds_is_shown() {
        let section = AgentSection {
            enable_jupyter: false,
            ..AgentSection::default()
        };
        let settings = Condenser::Pipeline {
            condensers: vec![
                Condenser::Noop,
                Condenser::Recent {
                    keep_first: 1,
                    max_events: 9,
                },
            ],
        };
        let options = Options::with(section, settings, None, None, &Environment::default());
        let options = options.unwrap();
        let agent = options.agent_config();
        assert_eq!(agent["enable_jupyter"], false);
        assert_eq!(agent["condenser"], json!({"type": "conversation_window"}));
        assert_eq!(
            Value::from(options.condenser_config()),
            json!({"type": "pipeline", "condensers": [
                {"type": "noop"}, {"type": "recent", "keep_first": 1, "max_events": 9}]})
        );
    }
}
