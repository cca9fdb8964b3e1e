//! Streams as the service gives them, and what is no stream.

use agon_core::ModelFault;
use serde_json::{Value, json};

use super::answers::{answer, message};
use crate::client::Delta;
use crate::error::LlmError;
use crate::wire::contract::Adapter;
use crate::wire::responses::Responses;

fn assemble(events: &[Value]) -> Result<(Vec<Delta>, Value), LlmError> {
    let mut assembler = Responses.assembler();
    let mut shown = Vec::new();
    for event in events {
        let name = event.get("type").and_then(Value::as_str);
        shown.extend(assembler.event(name, &event.to_string())?);
    }
    Ok((shown, assembler.finish()?))
}

#[test]
fn the_last_event_carries_the_answer() {
    let body = answer(json!([message("Hello")]));
    let events = [
        json!({"type": "response.created", "response": {"status": "in_progress", "error": null}, "sequence_number": 0}),
        json!({"type": "response.output_item.added", "output_index": 0, "item": {"type": "message"}}),
        json!({"type": "response.reasoning_summary_text.delta", "item_id": "rs", "delta": "Hm."}),
        json!({"type": "response.output_text.delta", "item_id": "msg_1", "delta": "Hel"}),
        json!({"type": "response.output_text.delta", "item_id": "msg_1", "delta": "lo"}),
        json!({"type": "response.function_call_arguments.delta", "delta": "{"}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": message("Hello")}),
        json!({"type": "response.completed", "response": body}),
    ];
    let (shown, made) = assemble(&events).unwrap();
    let expected = [
        Delta::Reasoning("Hm.".to_owned()),
        Delta::Text("Hel".to_owned()),
        Delta::Text("lo".to_owned()),
    ];
    assert_eq!(shown, expected);
    assert_eq!(made, body);
}

#[test]
fn items_are_kept_for_services_that_leave_them_out_of_the_end() {
    let events = [
        json!({"type": "response.output_item.done", "output_index": 0, "item": message("Hello")}),
        json!({"type": "response.completed", "response": answer(json!([]))}),
    ];
    assert_eq!(
        assemble(&events).unwrap().1,
        answer(json!([message("Hello")]))
    );
}

#[test]
fn what_is_no_stream() {
    let begun = json!({"type": "response.output_text.delta", "delta": "Hel"});
    let mut failed = answer(json!([]));
    failed["error"] = json!({"code": "server_error", "message": "broke"});
    for (events, fault) in [
        (vec![], ModelFault::Network),
        (vec![begun.clone()], ModelFault::Network),
        (
            vec![
                begun.clone(),
                json!({"type": "response.failed", "response": failed}),
            ],
            ModelFault::Overload,
        ),
        (
            vec![
                begun.clone(),
                json!({"type": "error", "code": "rate_limit_exceeded", "message": "slow", "param": null}),
            ],
            ModelFault::RateLimit,
        ),
        (
            vec![
                begun,
                json!({"type": "error", "error": {"type": "invalid_request_error", "code": "context_length_exceeded", "message": "long"}}),
            ],
            ModelFault::ContextOverflow,
        ),
    ] {
        assert_eq!(assemble(&events).unwrap_err().fault, fault, "{events:?}");
    }
    let broken = Responses.assembler().event(None, "<html>").unwrap_err();
    assert_eq!(broken.fault, ModelFault::BrokenResponse);
}
