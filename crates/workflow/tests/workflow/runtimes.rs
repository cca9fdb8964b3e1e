//! Runtimes in the hands of a program.

use std::fs;

use agon_workflow::runtime::RuntimeError;
use agon_workflow::{AppConfig, CmdRunAction};

use crate::place::{Place, finish};

#[tokio::test]
async fn all_of_a_folder_is_copied_out_or_an_error_tells_why_not() {
    let place = Place::new();
    let workspace = place.path("workspace");
    fs::create_dir(&workspace).unwrap();
    let large = fs::File::create(workspace.join("big")).unwrap();
    large.set_len((256 << 20) + 1).unwrap();
    let config = AppConfig {
        workspace_base: Some(workspace),
        ..place.config(&[finish()])
    };
    let mut runtime = place.runtime(&config).await;
    let made = "mkdir -p many some/deep && echo one > some/a && echo two > some/deep/b \
                && (cd many && seq 20001 | xargs touch)";
    let made = runtime.run_action(CmdRunAction::new(made)).await.unwrap();
    assert_eq!(made.success(), Some(true), "{}", made.content());
    let into = place.path("out");
    runtime.copy_from("/work/some", &into).await.unwrap();
    assert_eq!(fs::read_to_string(into.join("a")).unwrap(), "one\n");
    assert_eq!(fs::read_to_string(into.join("deep/b")).unwrap(), "two\n");
    for (path, why) in [
        ("/work/many", "holds more than 20000 files"),
        ("/work/big", "large"),
        ("/work/nothing", "can't be looked at"),
    ] {
        let into = place.path("refused");
        let error = runtime.copy_from(path, &into).await.unwrap_err();
        assert!(error.to_string().contains(why), "{path}: {error}");
        // Whoever left it so is graded by it.
        assert!(error.of_agent(), "{path}");
        assert!(!into.exists(), "{path}");
    }
    let error = runtime.list_files(Some("/work/nothing")).await.unwrap_err();
    assert!(matches!(error, RuntimeError::Unusable(_)), "{error}");
    assert_eq!(
        runtime.list_files(Some("/work/some")).await.unwrap(),
        ["deep/", "a"]
    );
    runtime.close().await;
}

#[tokio::test]
async fn a_reclaimed_runtime_has_a_new_shell_and_the_same_files_and_variables() {
    let place = Place::new();
    let mut runtime = place.runtime(&place.config(&[finish()])).await;
    let variables = [("WHO".to_owned(), "it's me".to_owned())].into();
    runtime.add_env_vars(&variables).await.unwrap();
    let before = "echo kept > file; cat() { echo lies; }; sleep 600 & cd /tmp";
    runtime.run_action(CmdRunAction::new(before)).await.unwrap();
    runtime.reclaim().await.unwrap();
    let after = "pwd; cat file; echo $WHO; pgrep -c sleep";
    let seen = runtime.run_action(CmdRunAction::new(after)).await.unwrap();
    assert_eq!(seen.content().trim(), "/work\nkept\nit's me\n0");
    runtime.close().await;
}
