//! What is wrong is named with its place, and what to do.

use super::place::Place;

#[test]
fn unknown_keys_and_wrong_types_are_named_with_their_line() {
    for (config, said) in [
        (
            "[llm]\nmodel = 'a'\nmodle = 'b'\n",
            "config.toml:3: [llm] has an unknown key `modle`, did you mean `model`?",
        ),
        (
            "[llm.x]\nbanana = 1\n",
            "config.toml:2: [llm.x] has an unknown key `banana`",
        ),
        (
            "[llm]\n\n[llm.x]\ntemperature = '0.0'\n",
            "config.toml:4: `temperature` of [llm.x] must be a number",
        ),
        (
            "[llm]\nnum_retries = -1\n",
            "config.toml:2: `num_retries` of [llm] must be a whole number, 0 or larger",
        ),
        (
            "[llm]\ndrop_params = 'yes'\n",
            "config.toml:2: `drop_params` of [llm] must be true or false",
        ),
        (
            "[llm]\nretry_min_wait = -1\n",
            "config.toml:2: `retry_min_wait` of [llm] must be a number, 0 or larger",
        ),
        (
            "[llm]\ntemperature = inf\n",
            "config.toml:2: `temperature` of [llm] must be a number",
        ),
        (
            "[llm]\ninput_cost_per_token = 1e-15\n",
            "config.toml:2: `input_cost_per_token` of [llm] must be an amount in dollars with at most 12 \
             decimals",
        ),
        (
            "[llm.x.y]\nmodel = 'a'\n",
            "config.toml:1: [llm.x] has an unknown key `y`",
        ),
        (
            "[[llm]]\nmodel = 'a'\n",
            "config.toml:1: `llm` must be a table: begin it with [llm]",
        ),
    ] {
        assert_eq!(Place::new(config).error(), said, "{config}");
    }
}

#[test]
fn a_variable_that_can_not_be_read_is_named() {
    let place = Place::new("[llm]\nmodel = 'mock/echo'\n").set("LLM_TEMPERATURE", "warm");
    assert_eq!(
        place.error(),
        "the variable LLM_TEMPERATURE: its value must be a number"
    );
    let place = Place::new("")
        .set("LLM_MODLE", "x")
        .set("LLM_SOMETHING_ELSE", "y");
    assert_eq!(
        place.warnings(),
        ["the variable LLM_MODLE is not known, did you mean LLM_MODEL?"]
    );
}

#[test]
fn a_missing_section_gets_the_nearest_and_all_there_are() {
    let place = Place::new("[llm]\nmodel = 'mock/echo'\n[llm.eval_gpt4]\n[llm.other]\n");
    let error = |name: &str| place.short(&place.config().model(name).unwrap_err().to_string());
    let said = error("llm.eval_gtp4");
    assert!(
        said.starts_with(
            "`eval_gtp4`: there is no such section, did you mean `eval_gpt4`?; config.toml has: llm, \
             eval_gpt4, other; models that need none: openai/MODEL,"
        ),
        "{said}"
    );
    let said = error("gpt-4o");
    assert!(said.contains("did you mean `openai/gpt-4o`?"), "{said}");
    let said = error("bedrock/claude");
    assert!(said.starts_with("bedrock/claude: models on AWS"), "{said}");
    let error = Place::new("")
        .config()
        .model("llm")
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("config.toml has: no [llm] section"),
        "{error}"
    );
}

#[test]
fn a_model_that_nobody_serves_names_its_section() {
    let place =
        Place::new("[llm.aws]\nmodel = 'bedrock/x'\naws_access_key_id = 'AKIA0123456789'\n");
    let error = place.config().model("aws").unwrap_err().to_string();
    assert!(
        error.starts_with("the model of [llm.aws]: models on AWS"),
        "{error}"
    );
    assert!(error.contains("LiteLLM"), "{error}");
}

#[test]
fn other_sections_are_warned_about() {
    let place = Place::new("[lmm]\na = 1\n[mcp]\n[security]\nconfirmation_mode = true\n[zebra]\n");
    assert_eq!(
        place.warnings(),
        [
            "config.toml:1: section [lmm] is not known, did you mean `llm`?",
            "config.toml:3: [mcp] is not used by Agon",
            "config.toml:4: [security] is not used by Agon",
            "config.toml:6: section [zebra] is not known",
        ]
    );
}

#[test]
fn files_are_bounded() {
    let place = Place::new(&format!("# {}\n", "x".repeat(1 << 20)));
    assert_eq!(
        place.error(),
        "can't read config.toml: it is larger than 1024 KiB"
    );
    let deep = format!(
        "[llm]\ncompletion_kwargs = {}{}\n",
        "[".repeat(50_000),
        "]".repeat(50_000)
    );
    assert!(
        Place::new(&deep)
            .error()
            .starts_with("config.toml:2: this is no TOML")
    );
}

#[test]
fn keys_in_the_wrong_place_are_refused() {
    for (kwargs, said) in [
        ("{ api_key = 'hush-hush' }", "must hold no api_key"),
        (
            "{ extra_headers = { Authorization = 'hush-hush' } }",
            "looks like a key: use api_key",
        ),
        (
            "{ extra_headers = { X-Api-Key = 'hush-hush' } }",
            "looks like a key: use api_key",
        ),
        (
            "{ extra_headers = 'hush-hush' }",
            "must be a table of texts",
        ),
        ("{ extra_body = 'hush-hush' }", "must be a table"),
    ] {
        let place = Place::new(&format!(
            "[llm]\nmodel = 'gpt-4o'\ncompletion_kwargs = {kwargs}\n"
        ));
        let error = place.config().model("llm").unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
        assert!(!error.contains("hush"), "{error}");
    }
}
