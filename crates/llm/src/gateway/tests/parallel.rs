//! Many calls at once in front of one budget: together they come to no more than it allows.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use agon_core::{Money, Usage};
use serde_json::json;

use super::ground::{hello, sandbox, with};
use super::upstream::{Call, service};
use crate::account::Budget;
use crate::client::{Session, SessionOptions};

/// What sixteen calls at once came to.
struct Sold {
    /// Tokens that the service has really worked for.
    tokens: u64,
    answered: usize,
    refused: usize,
    spent: Usage,
}

/// Each asks for 5,000 tokens, and the service gives what it is asked for.
async fn sixteen(budget: Budget, reports: bool) -> Sold {
    let (model, mut calls) = service().await;
    let mut spec = model.spec().clone();
    spec.settings.max_output_tokens = None;
    spec.settings.input_cost_per_token = Some(Money::from_micros(1));
    spec.settings.output_cost_per_token = Some(Money::from_micros(2));
    let session = Session::open(&SessionOptions::default()).unwrap();
    let model = session.model(spec).unwrap();
    let ground = with(vec![model], budget, 16, sandbox());
    let sold = Arc::new(AtomicU64::new(0));
    let sells = Arc::clone(&sold);
    tokio::spawn(async move {
        while let Some(call) = calls.recv().await {
            tokio::spawn(sell(call, Arc::clone(&sells), reports));
        }
    });
    let mut body = hello();
    body["max_tokens"] = 5_000.into();
    let asked = (0..16).map(|_| ground.post("/v1/chat/completions", &body));
    let answers = futures_util::future::join_all(asked).await;
    let count = |wanted| {
        answers
            .iter()
            .filter(|(status, _)| *status == wanted)
            .count()
    };
    Sold {
        tokens: sold.load(Ordering::SeqCst),
        answered: count(200),
        refused: count(402),
        spent: ground.account.spent(),
    }
}

async fn sell(call: Call, sold: Arc<AtomicU64>, reports: bool) {
    let tokens = call.body["max_tokens"].as_u64().unwrap();
    sold.fetch_add(7 + tokens, Ordering::SeqCst);
    let mut body = json!({"id": "x", "choices": [{"index": 0, "finish_reason": "length",
        "message": {"role": "assistant", "content": "word".repeat(tokens as usize)}}]});
    if reports {
        body["usage"] = json!({"prompt_tokens": 7, "completion_tokens": tokens});
    }
    // Others come meanwhile.
    tokio::task::yield_now().await;
    call.answer("200 OK", &body).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixteen_calls_at_once_spend_no_more_than_the_limit_of_tokens() {
    for (tokens, most_answered) in [(1_000, 1), (12_000, 3)] {
        let budget = Budget {
            tokens: Some(tokens),
            money: None,
        };
        let sold = sixteen(budget, true).await;
        assert!(sold.tokens <= tokens, "{} of {tokens}", sold.tokens);
        assert_eq!(sold.spent.tokens(), sold.tokens);
        assert!((1..=most_answered).contains(&sold.answered));
        assert_eq!(sold.answered + sold.refused, 16);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixteen_calls_at_once_spend_no_more_than_the_limit_of_money() {
    let most = Money::from_micros(24_000);
    let budget = Budget {
        tokens: None,
        money: Some(most),
    };
    let sold = sixteen(budget, true).await;
    assert!(sold.spent.money.unwrap() <= most, "{:?}", sold.spent);
    assert!(sold.answered >= 2 && sold.answered + sold.refused == 16);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_that_does_not_count_is_counted_all_the_same() {
    let budget = Budget {
        tokens: Some(12_000),
        money: None,
    };
    let sold = sixteen(budget, false).await;
    assert!(sold.tokens <= 13_000, "{}", sold.tokens);
    assert!(
        sold.spent.tokens() * 10 >= sold.tokens * 9,
        "{:?}",
        sold.spent
    );
    assert_eq!(sold.spent.unpriced_calls, sold.answered as u64);
    assert!(sold.spent.money.is_some(), "by its estimate");
}
