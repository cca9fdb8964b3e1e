//! Who wins: a section over `[llm]`, a variable over the file, the environment over `.env`.

use super::place::Place;
use crate::config::KeyOrigin;
use crate::spec::ModelSpec;

const TWO: &str = r#"
[llm]
model = "openai/base"
api_key = "sk-base-00000001"
temperature = 0.3
seed = 1

[llm.own]
model = "openai/own"
temperature = 0.9
"#;

fn key(spec: &ModelSpec) -> Option<&str> {
    spec.key.as_ref().map(|key| key.reveal())
}

#[test]
fn a_section_inherits_what_it_does_not_say() {
    let config = Place::new(TWO).config();
    let (own, origin) = config.model_and_key("own").unwrap();
    assert_eq!(
        (&*own.model, own.settings.temperature, own.settings.seed),
        ("own", Some(0.9), Some(1))
    );
    assert_eq!(key(&own), Some("sk-base-00000001"));
    assert_eq!(origin, KeyOrigin::Section("llm".to_owned()));
}

#[test]
fn variables_override_the_base_and_what_is_inherited() {
    let place = Place::new(TWO)
        .set("LLM_TEMPERATURE", "0.5")
        .set("LLM_SEED", "7")
        .set("LLM_MODEL", "openai/other")
        .set("LLM_API_KEY", "sk-env-000000001")
        .set("LLM_DROP_PARAMS", "false")
        .set("LLM_TIMEOUT", "");
    let config = place.config();
    let (base, origin) = config.model_and_key("llm").unwrap();
    assert_eq!(
        (&*base.model, base.settings.temperature),
        ("other", Some(0.5))
    );
    assert_eq!(origin, KeyOrigin::Variable("LLM_API_KEY".to_owned()));
    let own = config.model("own").unwrap();
    assert_eq!(
        (&*own.model, own.settings.temperature, own.settings.seed),
        ("own", Some(0.9), Some(7))
    );
    assert!(!own.settings.drop_params);
    assert_eq!(key(&own), Some("sk-env-000000001"));
}

#[test]
fn variables_alone_make_a_base_section() {
    let place = Place::new("").set("LLM_MODEL", "mock/echo");
    let config = place.config();
    assert_eq!(config.sections(), ["llm"]);
    assert_eq!(config.model("llm").unwrap().model, "echo");
}

#[test]
fn the_environment_wins_over_dot_env() {
    let place = Place::new("")
        .file(
            ".env",
            "export LLM_MODEL=mock/echo\nOPENAI_API_KEY='sk-dotenv-00001' # mine\n",
        )
        .set("LLM_MODEL", "openai/gpt-4o");
    let base = place.config().model("llm").unwrap();
    assert_eq!(
        (&*base.model, key(&base)),
        ("gpt-4o", Some("sk-dotenv-00001"))
    );
}

#[test]
fn a_folder_called_dot_env_is_no_settings() {
    let place = Place::new("[llm]\nmodel = 'mock/echo'\n").file(".env/bin/python", "");
    assert_eq!(place.warnings(), [""; 0]);
}

#[test]
fn a_key_is_not_inherited_by_another_service() {
    let config = r#"
        [llm]
        model = "claude-x"
        api_key = "sk-ant-0000000001"
        [llm.gpt]
        model = "gpt-4o"
        [llm.elsewhere]
        base_url = "https://elsewhere.test/v1"
        [llm.same]
        model = "claude-y"
    "#;
    let config = Place::new(config).config();
    let gpt = config.model("gpt").unwrap();
    assert_eq!(key(&gpt), None);
    assert_eq!(
        gpt.settings.not_ready.as_deref(),
        Some(
            "there is no key (the one of [llm] is for another service): put api_key into [llm.gpt], or \
             set OPENAI_API_KEY"
        )
    );
    assert_eq!(key(&config.model("elsewhere").unwrap()), None);
    assert_eq!(
        key(&config.model("same").unwrap()),
        Some("sk-ant-0000000001")
    );
}

#[test]
fn a_key_without_a_model_is_for_all_that_name_one() {
    let config = "[llm]\napi_key = 'sk-for-all-0001'\n[llm.a]\nmodel = 'gpt-4o'\n[llm.b]\nmodel = 'claude-x'\n";
    let config = Place::new(config).config();
    for name in ["a", "b"] {
        assert_eq!(key(&config.model(name).unwrap()), Some("sk-for-all-0001"));
    }
}

#[test]
fn a_providers_variable_does_not_go_to_another_host() {
    let config = "[llm.a]\nmodel = 'openai/x'\nbase_url = 'http://localhost:8000/v1'\n";
    let place = Place::new(config).set("OPENAI_API_KEY", "sk-openai-000001");
    let (spec, origin) = place.config().model_and_key("a").unwrap();
    assert_eq!((key(&spec), origin), (None, KeyOrigin::NotNeeded));
    assert_eq!(spec.settings.not_ready, None);
}

#[test]
fn the_environment_goes_before_the_file_at_the_vendors_own_host() {
    let config = "[llm]\nmodel = 'gpt-4o'\napi_key = 'sk-file-000001'\n\
        [llm.own]\napi_key = 'sk-file-000002'\n\
        [llm.proxy]\nmodel = 'openai/x'\nbase_url = 'http://localhost:1/v1'\napi_key = 'sk-file-000003'\n";
    let place = || Place::new(config).set("OPENAI_API_KEY", "sk-vendor-000001");
    let keys = |place: Place| {
        let config = place.config();
        ["llm", "own", "proxy"].map(|name| key(&config.model(name).unwrap()).map(str::to_owned))
    };
    let expected = |keys: [&str; 3]| keys.map(|key| Some(key.to_owned()));
    let vendor = "sk-vendor-000001";
    assert_eq!(keys(place()), expected([vendor, vendor, "sk-file-000003"]));
    // What is said of [llm] alone is said of it more clearly.
    let base = place().set("LLM_API_KEY", "sk-env-0000002");
    let found = keys(base);
    assert_eq!(found[0].as_deref(), Some("sk-env-0000002"));
    assert_eq!(found[2].as_deref(), Some("sk-file-000003"));
}

#[test]
fn an_empty_key_is_none() {
    let place = Place::new("[llm]\nmodel = 'gpt-4o'\napi_key = ''\nbase_url = ''\n");
    let place = place.set("OPENAI_API_KEY", "sk-openai-000002");
    assert_eq!(
        key(&place.config().model("llm").unwrap()),
        Some("sk-openai-000002")
    );
}

#[test]
fn the_file_is_looked_for_in_order() {
    let place = Place::new("[llm.here]\nmodel = 'mock/echo'\n")
        .file("other.toml", "[llm.other]\nmodel = 'mock/echo'\n")
        .file(
            "home/.config/agon/config.toml",
            "[llm.home]\nmodel = 'mock/echo'\n",
        );
    let mut source = place.source();
    let home = source.folder.join("home").display().to_string();
    let with =
        |pairs: &[(&str, &str)]| crate::config::Environment::from_iter(pairs.iter().copied());
    let sections = |source: &crate::config::ConfigSource| {
        let config = crate::config::Config::load(source).unwrap();
        config.sections().join(" ")
    };
    source.environment = with(&[("HOME", &home)]);
    assert_eq!(sections(&source), "here");
    source.environment = with(&[("AGON_CONFIG", "other.toml"), ("HOME", &home)]);
    assert_eq!(sections(&source), "other");
    std::fs::remove_file(source.folder.join("config.toml")).unwrap();
    source.environment = with(&[("HOME", &home)]);
    assert_eq!(sections(&source), "home");
    source.file = Some("none.toml".into());
    let error = crate::config::Config::load(&source)
        .unwrap_err()
        .to_string();
    assert!(
        error.ends_with("none.toml: there is no such file"),
        "{error}"
    );
}
