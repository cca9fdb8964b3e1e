//! `[core]`, `[sandbox]`, `[agent]`, `[condenser]`.

use agon_core::Money;

use super::place::Place;
use crate::config::{AgentSection, Condenser, Core, Sandbox};

#[test]
fn without_a_file_there_are_defaults() {
    let config = Place::new("").config();
    let workflow = config.workflow();
    assert_eq!(workflow.core().unwrap(), &Core::default());
    assert_eq!(workflow.sandbox().unwrap(), &Sandbox::default());
    assert_eq!(workflow.agent(None).unwrap(), &AgentSection::default());
    assert_eq!(workflow.condenser(None).unwrap(), None);
    let core = Core::default();
    assert_eq!(
        (core.max_iterations, &*core.default_agent),
        (500, "CodeActAgent")
    );
    let sandbox = Sandbox::default();
    assert_eq!((sandbox.timeout, sandbox.close_delay), (120, 3_600));
}

#[test]
fn values_are_read_and_variables_win() {
    let place = Place::new(
        r#"
        [core]
        max_iterations = 10
        max_budget_per_task = 2.5
        [sandbox]
        timeout = 60
        volumes = "/a:/b:ro"
        docker_runtime_kwargs = { mem_limit = "1g" }
        [agent]
        enable_browsing = false
        [agent.CodeActAgent]
        llm_config = "eval"
        [agent.CodeActAgent.condenser]
        type = "recent"
        keep_first = 2
        [condenser]
        type = "llm"
        llm_config = "summary"
        [condenser.both]
        type = "pipeline"
        condensers = [{ type = "noop" }, { type = "observation_masking", attention_window = 5 }]
        "#,
    )
    .set("SANDBOX_TIMEOUT", "90")
    .set("MAX_ITERATIONS", "20")
    .set("DEBUG", "app:*");
    let config = place.config();
    let workflow = config.workflow();
    let core = workflow.core().unwrap();
    assert_eq!(
        core.max_budget_per_task,
        Some(Money::from_micros(2_500_000))
    );
    assert_eq!(workflow.sandbox().unwrap().timeout, 90);
    let agent = workflow.agent(Some("[agent.CodeActAgent]")).unwrap();
    assert!(!agent.enable_browsing && agent.enable_editor);
    assert_eq!(agent.llm_config.as_deref(), Some("eval"));
    let recent = Condenser::Recent {
        keep_first: 2,
        max_events: 100,
    };
    assert_eq!(agent.condenser, recent);
    let summary = Condenser::Llm {
        llm_config: Some("summary".to_owned()),
        keep_first: 1,
        max_size: 100,
        max_event_length: 10_000,
    };
    assert_eq!(workflow.condenser(None).unwrap(), Some(&summary));
    let both = Condenser::Pipeline {
        condensers: vec![
            Condenser::Noop,
            Condenser::ObservationMasking {
                attention_window: 5,
            },
        ],
    };
    assert_eq!(workflow.condenser(Some("both")).unwrap(), Some(&both));
    // Other programs have a DEBUG too: the rest still counts.
    assert_eq!(core.max_iterations, 20);
    assert_eq!(
        place.warnings(),
        ["the variable DEBUG: its value must be true or false"]
    );
}

#[test]
fn what_is_wrong_is_an_error_of_those_who_ask_for_it() {
    let place = Place::new(
        r#"[llm]
model = "mock/echo"
[core]
new_key = 1
[sandbox]
timeuot = 3
[agent.a]
enable_cmd = 1
[condenser.c]
type = "amortized"
keep_first = 60
[condenser.d]
type = "recnt"
"#,
    );
    let config = place.config();
    assert_eq!(config.model("llm").unwrap().model, "echo");
    let workflow = config.workflow();
    workflow.core().unwrap();
    let errors = [
        workflow.sandbox().unwrap_err(),
        workflow.agent(Some("a")).unwrap_err(),
        workflow.condenser(Some("c")).unwrap_err(),
        workflow.condenser(Some("d")).unwrap_err(),
    ];
    let errors = errors.map(|error| place.short(&error.to_string()));
    let types = "noop, observation_masking, browser_output_masking, recent, llm, amortized, \
                 llm_attention, structured, pipeline, conversation_window";
    assert_eq!(
        errors,
        [
            "config.toml:6: [sandbox] has an unknown key `timeuot`, did you mean `timeout`?".to_owned(),
            "config.toml:8: `enable_cmd` of [agent.a] must be true or false".to_owned(),
            "config.toml:10: `type` of [condenser.c] needs a keep_first that is less than half of max_size"
                .to_owned(),
            format!(
                "config.toml:13: `type` of [condenser.d] is unknown, did you mean `recent`?; it is one of: \
                 {types}"
            ),
        ]
    );
    let warnings = place.warnings();
    assert_eq!(
        warnings[0],
        "config.toml:4: [core] has an unknown key `new_key`"
    );
    assert_eq!(warnings[1..], errors);
    let missing = workflow.agent(Some("b")).unwrap_err().to_string();
    assert_eq!(
        missing,
        "there is no [agent.b], did you mean `a`?; there are: a"
    );
    let missing = workflow.condenser(Some("zzzzz")).unwrap_err().to_string();
    assert_eq!(missing, "there is no [condenser.zzzzz]; there are: c, d");
}
