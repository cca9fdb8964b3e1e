//! No key is seen: not in errors, not in warnings, not in any `Debug`.

use super::place::Place;

const HUSH: &str = "hush-9f8e7d6c5b4a";

#[test]
fn nothing_of_a_configuration_prints_a_key() {
    let config = format!(
        r#"
        [core]
        jwt_secret = "{HUSH}-1"
        search_api_key = "{HUSH}-2"
        file_store_web_hook_headers = {{ Authorization = "{HUSH}-3" }}
        [sandbox]
        api_key = "{HUSH}-4"
        runtime_startup_env_vars = {{ TOKEN = "{HUSH}-5" }}
        [llm]
        model = "gpt-4o"
        api_key = "{HUSH}-6"
        aws_access_key_id = "{HUSH}-7"
        aws_secret_access_key = "{HUSH}-8"
        [llm.x]
        seed = 1
        "#
    );
    let place = Place::new(&config)
        .file(".env", "OPENAI_API_KEY=hush-9f8e7d6c5b4a-9\n")
        .set("LLM_API_KEY", "hush-9f8e7d6c5b4a-10")
        .set("SANDBOX_ENV_SECRET", "hush-9f8e7d6c5b4a-11");
    let loaded = place.config();
    let shown = format!(
        "{loaded:?} {loaded:#?} {:?} {:?} {:?} {:?}",
        place.source(),
        loaded.warnings(),
        loaded.model("llm").unwrap(),
        loaded.model_and_key("x").unwrap(),
    );
    assert!(!shown.contains("9f8e7d"), "{shown}");
    assert!(shown.contains("Key(..)"));
    let passed: Vec<_> = loaded
        .workflow()
        .sandbox()
        .unwrap()
        .runtime_startup_env_vars
        .iter()
        .collect();
    assert_eq!(
        passed,
        [
            ("SECRET", "hush-9f8e7d6c5b4a-11"),
            ("TOKEN", "hush-9f8e7d6c5b4a-5")
        ]
    );
}

#[test]
fn no_mistake_prints_a_key() {
    for config in [
        format!("[llm]\napi_key = {HUSH}\n"),
        format!("[llm]\napi_key = ['{HUSH}']\n"),
        format!("[llm]\nmodel = ['{HUSH}']\n"),
        format!("[llm]\ntemperature = '{HUSH}'\n"),
        format!("[llm]\napi_kee = '{HUSH}'\n"),
        format!("[llm]\napi_key = '{HUSH}'\napi_key = '{HUSH}'\n"),
        format!("llm = '{HUSH}'\n"),
    ] {
        let error = Place::new(&config).load().unwrap_err();
        let shown = format!("{error} {error:?}");
        assert!(!shown.contains("9f8e7d"), "{config}: {shown}");
    }
    for config in [
        format!("[core]\nmax_iterations = '{HUSH}'\n"),
        format!("[sandbox]\napi_kee = '{HUSH}'\n"),
        format!("[condenser]\ntype = '{HUSH}'\n"),
        format!("[agent]\ncondenser = {{ type = '{HUSH}' }}\n"),
    ] {
        let place = Place::new(&config);
        let shown = format!("{:?} {:?}", place.warnings(), place.config());
        assert_eq!(place.warnings().len(), 1, "{config}");
        assert!(!shown.contains("9f8e7d"), "{config}: {shown}");
    }
}
