//! What conversations do before anything is started.

use std::sync::Arc;
use std::time::Duration;

use agon_core::Money;
use agon_llm::{Account, Budget};

use super::run::bounded;
use super::{Allotment, ControllerError, Conversation};
use crate::config::{AppConfig, RuntimeKind, get_llm_config_arg_of};
use crate::runtime::{Runtime, RuntimeError};
use crate::state::State;

/// A conversation that is given something, in a runtime that was not connected.
async fn begun(budget: Budget) -> (Result<State, ControllerError>, Duration) {
    let mut config = AppConfig {
        runtime: RuntimeKind::Local,
        ..AppConfig::default()
    };
    let file = tempfile::NamedTempFile::new().unwrap();
    let section = "[llm.test]\nmodel = 'openai/nobody-knows-it'\napi_key = 'sk-none'\n";
    std::fs::write(file.path(), section).unwrap();
    let llm = get_llm_config_arg_of("test", Some(file.path().to_owned()));
    config.set_llm_config(llm.unwrap());
    let mut runtime = Runtime::new(&config, agon_engine::providers(&[])).unwrap();
    let run = Arc::new(Account::of_run(budget.clone()));
    let given = Allotment::of(&run, &budget);
    let conversation = Box::pin(Conversation::new(&config, "Hello.").run(&mut runtime));
    let ended = Arc::clone(&given).around(conversation).await;
    let turns = *given.turns().borrow();
    (ended, turns)
}

#[tokio::test]
async fn the_time_of_its_turn_is_told_to_whoever_waits_for_the_try() {
    let (ended, turns) = begun(Budget::default()).await;
    assert!(
        matches!(
            ended,
            Err(ControllerError::Runtime(RuntimeError::NotConnected))
        ),
        "{ended:?}"
    );
    assert_eq!(turns, Duration::from_secs(8 * 3600));
}

#[tokio::test]
async fn a_budget_of_money_needs_a_price() {
    let budget = Budget {
        tokens: None,
        money: Some(Money::from_micros(1)),
    };
    let (ended, _) = begun(budget).await;
    assert!(
        matches!(ended, Err(ControllerError::NoPrice(_))),
        "{ended:?}"
    );
}

#[test]
fn a_trajectory_that_is_too_large_is_not_read() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "[{}]").unwrap();
    assert_eq!(bounded(file.path(), 4).unwrap(), "[{}]");
    let error = bounded(file.path(), 3).unwrap_err();
    assert!(error.contains("larger than 3 bytes"), "{error}");
}
