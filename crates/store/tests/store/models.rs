//! What was said to models: short bodies in the event, long ones as blobs, pictures once; and all of it
//! back as it was.

use std::fs;

use agon_core::{Digest, EventBody, ModelFault, Purpose, Said};
use agon_store::{RunReader, RunWriter};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::fixture::{copy_of_golden, golden_models};

fn writer() -> (tempfile::TempDir, RunWriter, RunReader) {
    let (root, folder) = copy_of_golden();
    fs::remove_dir_all(folder.path().join("blobs")).unwrap();
    let writer = RunWriter::open(&folder).unwrap();
    let reader = RunReader::open(folder.path()).unwrap();
    (root, writer, reader)
}

fn blobs(writer: &RunWriter) -> usize {
    let folders = fs::read_dir(writer.folder().path().join("blobs"))
        .into_iter()
        .flatten();
    folders
        .map(|folder| fs::read_dir(folder.unwrap().path()).unwrap().count())
        .sum()
}

/// Bytes that begin like a PNG.
fn picture(seed: u8) -> Vec<u8> {
    let noise = (0..20_000u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8 ^ seed);
    b"\x89PNG".iter().copied().chain(noise).collect()
}

#[test]
fn a_short_body_stays_in_the_event() {
    let (_root, writer, reader) = writer();
    let body = json!({ "messages": [{ "role": "user", "content": "hello" }] });
    let said = writer.keep_said(&body).unwrap();
    assert_eq!(said, Said::Here(body.clone()));
    assert_eq!(reader.said(&said).unwrap(), body);
    assert_eq!(blobs(&writer), 0);
}

/// Whoever knows a digest of the run must not get what is behind it by writing it down.
#[test]
fn what_a_body_itself_says_is_no_reference() {
    let (_root, writer, reader) = writer();
    let secret = writer.keep_said(&json!(vec!["a secret"; 600])).unwrap();
    let Said::Blob { blob, .. } = secret else {
        panic!("{secret:?}");
    };
    let long = "x".repeat(5_000);
    for body in [
        json!({ "$agon_blob": blob }),
        json!([{ "$agon_blob": blob, "base64_after": "" }, long]),
        json!({ "$agon_plain": { "$agon_blob": blob } }),
        json!({ "$agon_plain": [long], "a": 1 }),
        json!({ "a": { "$agon_plain": { "$agon_plain": 1 } } }),
        json!({ "blob": blob, "bytes": 1 }),
        json!({ "blob": blob, "bytes": 1, "$agon_plain": long }),
    ] {
        let said = writer.keep_said(&body).unwrap();
        // As an event is read.
        let said: Said = serde_json::from_str(&serde_json::to_string(&said).unwrap()).unwrap();
        assert_eq!(reader.said(&said).unwrap(), body);
    }
}

#[test]
fn a_body_can_not_be_nested_until_its_event_is_unreadable() {
    let (_root, writer, reader) = writer();
    let nested = |deep: usize| (0..deep).fold(json!(1), |inner, _| json!([inner]));
    let said = writer.keep_said(&nested(100)).unwrap();
    assert_eq!(reader.said(&said).unwrap(), nested(100));
    let said = writer.keep_said(&nested(126)).unwrap();
    assert_eq!(said, Said::Here(json!("nested too deeply to be kept")));
    let many = (0..60).fold(json!(1), |inner, _| json!({ "$agon_plain": inner }));
    assert!(matches!(
        writer.keep_said(&many).unwrap(),
        Said::Here(Value::String(_))
    ));
}

/// A short list of references to one long text would be more than fits into memory.
#[test]
fn what_is_put_together_is_bounded_in_sum() {
    let (_root, writer, reader) = writer();
    let long = json!(["x".repeat(40 << 20)]);
    let said = writer.keep_said(&long).unwrap();
    let Said::Here(Value::Array(items)) = &said else {
        panic!("{said:?}");
    };
    assert_eq!(reader.said(&said).unwrap(), long);
    let many = Said::Here(Value::Array(vec![items[0].clone(); 7]));
    assert!(reader.said(&many).is_err());
}

#[test]
fn a_body_of_many_short_texts_is_one_blob() {
    let (_root, writer, reader) = writer();
    let body = json!({ "messages": vec!["a sentence of some length"; 1000] });
    let said = writer.keep_said(&body).unwrap();
    assert!(
        matches!(said, Said::Blob { bytes: 1..2000, .. }),
        "{said:?}"
    );
    assert_eq!(reader.said(&said).unwrap(), body);
    assert_eq!(blobs(&writer), 1);
}

#[test]
fn pictures_of_a_conversation_are_kept_once_as_what_they_are() {
    let (_root, writer, reader) = writer();
    let (one, two) = (picture(1), picture(2));
    let url = |bytes: &[u8]| format!("data:image/png;base64,{}", BASE64_STANDARD.encode(bytes));
    let bodies = [
        json!({ "messages": [{ "url": url(&one) }] }),
        json!({ "messages": [{ "url": url(&one) }, "and", { "url": url(&two) }] }),
        // As Anthropic and Gemini want it.
        json!({ "contents": [{ "data": BASE64_STANDARD.encode(&one) }] }),
    ];
    for body in &bodies {
        let said = writer.keep_said(body).unwrap();
        assert!(matches!(said, Said::Here(_)));
        assert_eq!(reader.said(&said).unwrap(), *body);
    }
    assert_eq!(blobs(&writer), 2);
    let kept = writer.folder().blob(&Digest::of(&one));
    assert_eq!(fs::read(kept).unwrap(), one);
}

#[test]
fn a_long_text_is_kept_apart_and_a_forged_one_is_found() {
    let (_root, writer, reader) = writer();
    let body = json!({ "system": "Be brief. ".repeat(1000), "temperature": 0.1 });
    let said = writer.keep_said(&body).unwrap();
    let Said::Here(short) = &said else {
        panic!("{said:?}")
    };
    assert_eq!(reader.said(&said).unwrap(), body);
    let digest: Digest = serde_json::from_value(short["system"]["$agon_blob"].clone()).unwrap();
    fs::write(writer.folder().blob(&digest), "something else").unwrap();
    let error = format!("{:?}", reader.said(&said).unwrap_err());
    assert!(error.contains("has changed"), "{error}");
}

#[test]
fn the_model_calls_of_format_1_are_read() {
    let reader = RunReader::open(&golden_models()).unwrap();
    let model = &reader.manifest().models[0];
    assert_eq!(
        (model.name.as_str(), model.model.as_str()),
        ("eval_gpt4", "gpt-4o")
    );
    assert_eq!(model.host.as_deref(), Some("api.openai.com"));
    assert_eq!(model.settings["temperature"], 0.0);
    let line = reader.trials().unwrap().remove(0);
    assert_eq!((line.usage.calls, line.usage.unpriced_calls), (3, 1));
    assert_eq!(
        (line.usage.cached_tokens, line.usage.reasoning_tokens),
        (800, 12)
    );
    let calls: Vec<_> = reader
        .events(&line)
        .unwrap()
        .into_iter()
        .filter_map(|event| match event.body {
            EventBody::Model(call) => Some(call),
            _ => None,
        })
        .collect();
    let purposes: Vec<_> = calls.iter().map(|call| call.purpose).collect();
    use Purpose::{Agent, Gateway, Judge};
    assert_eq!(purposes, [Agent, Gateway, Gateway, Judge]);
    assert_eq!(calls[2].fault, Some(ModelFault::RateLimit));
    assert!(calls[3].taped);
    for call in &calls {
        let body = reader.said(call.request.as_ref().unwrap()).unwrap();
        assert!(body["messages"].is_array());
    }
    let shown = reader.said(calls[1].request.as_ref().unwrap()).unwrap();
    let url = shown["messages"][0]["content"][0]["image_url"]["url"].as_str();
    assert!(url.unwrap().starts_with("data:image/png;base64,iVBOR"));
}

fn any_body() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<i64>().prop_map(Value::from),
        ".{0,20}".prop_map(Value::from),
        (4000usize..5000).prop_map(|length| Value::from("é".repeat(length / 2))),
        prop::collection::vec(any::<u8>(), 3000..4000).prop_map(|bytes| {
            Value::from(format!("data:x;base64,{}", BASE64_STANDARD.encode(bytes)))
        }),
        "[A-Za-z0-9+/]{4100,4200}={0,2}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(("[a-z]{1,6}", inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn whatever_was_said_comes_back(body in any_body()) {
        let (_root, writer, reader) = writer();
        let said = writer.keep_said(&body).unwrap();
        let text = serde_json::to_string(&said).unwrap();
        prop_assert!(text.len() < 5000, "{}", text.len());
        prop_assert_eq!(reader.said(&serde_json::from_str(&text).unwrap()).unwrap(), body);
    }
}
