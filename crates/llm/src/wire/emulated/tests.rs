//! Both ways: what is described can be called, what is called can be read, and nothing breaks the reader.

use agon_core::Usage;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::emulation::Function;
use super::{Emulated, answer, calls, conversation};
use crate::message::{Part, ToolCall};
use crate::reply::{Reply, Stop};
use crate::request::{Output, Request, Tool, ToolChoice};
use crate::spec::Provider;
use crate::wire::sample::{spec, tool_talk, weather};

fn said(text: &str, stop: Stop) -> Reply {
    Reply {
        parts: vec![Part::Text(text.to_owned())],
        stop,
        usage: Usage::default(),
        model: "m".to_owned(),
        raw: Value::Null,
    }
}

fn function(parameters: Value) -> Vec<Function> {
    vec![Function {
        name: "f".to_owned(),
        description: String::new(),
        parameters,
    }]
}

fn emulated(request: &Request) -> (Emulated, Request) {
    Emulated::of(&spec(Provider::Local, "model.gguf"), request).unwrap()
}

#[test]
fn a_model_that_can_do_everything_gets_the_request_as_it_is() {
    let spec = spec(Provider::OpenAi, "gpt-4o");
    assert!(Emulated::of(&spec, &tool_talk()).is_none());
}

#[test]
fn tools_and_their_results_become_words() {
    let (_, made) = emulated(&tool_talk());
    assert!(made.tools.is_empty());
    assert_eq!(made.sampling.stop, ["</function"]);
    let text = |part: &Part| match part {
        Part::Text(text) => text.clone(),
        Part::Image(_) => "(picture)".to_owned(),
        other => panic!("{other:?}"),
    };
    let messages = made.messages.iter().map(|message| {
        let parts: Vec<String> = message.parts.iter().map(text).collect();
        format!("# {:?}\n{}", message.role, parts.join("\n--\n"))
    });
    let messages: Vec<String> = messages.collect();
    insta::assert_snapshot!(format!(
        "# System\n{}\n{}",
        made.system.unwrap(),
        messages.join("\n")
    ));
}

#[test]
fn calls_are_read_and_text_before_them_is_kept() {
    let request = Request {
        tools: vec![
            weather(),
            Tool::Computer {
                width: 800,
                height: 600,
            },
        ],
        ..tool_talk()
    };
    let (emulated, _) = emulated(&request);
    let text = "I click.\n<function=computer>\n<parameter=action>click</parameter>\n\
                <parameter=x>10</parameter>\n<parameter=y> 20 </parameter>\n</function>";
    let reply = emulated.read(said(text, Stop::End), false).unwrap();
    assert_eq!(reply.text(), "I click.");
    assert_eq!(reply.stop, Stop::ToolCalls);
    let call = reply.tool_calls().next().unwrap();
    // Two calls came before.
    assert_eq!(
        (call.id.as_str(), call.name.as_str()),
        ("call_2", "computer")
    );
    assert_eq!(call.input, json!({"action": "click", "x": 10, "y": 20}));
}

#[test]
fn a_stop_word_may_cut_a_call_but_the_token_limit_may_not() {
    let (emulated, _) = emulated(&tool_talk());
    for text in [
        "<function=weather>\n<parameter=city>Bern</parameter>\n",
        "<function=weather>\n<parameter=city>Bern</parameter>\n</function",
        "<function=weather>\n<parameter=city>Bern",
        "<tool_call>\n<function=weather>{\"city\": \"Bern\"}</function>\n</tool_call>",
    ] {
        let reply = emulated.read(said(text, Stop::StopWord), false).unwrap();
        let calls: Vec<&ToolCall> = reply.tool_calls().collect();
        assert_eq!(calls.len(), 1, "{text}");
        assert_eq!(calls[0].input, json!({"city": "Bern"}), "{text}");
        assert_eq!(reply.text(), "", "{text}");
    }
    let half = "<function=weather>\n<parameter=city>Be";
    let reply = emulated.read(said(half, Stop::MaxTokens), false).unwrap();
    assert_eq!((reply.text().as_str(), reply.stop), (half, Stop::MaxTokens));
}

#[test]
fn no_tool_may_be_called_if_none_is_wanted() {
    let request = Request {
        tool_choice: ToolChoice::None,
        ..tool_talk()
    };
    let (emulated, made) = emulated(&request);
    assert_eq!(made.system.as_deref(), Some("Be brief."));
    let text = "<function=weather></function>";
    assert_eq!(
        emulated.read(said(text, Stop::End), false).unwrap().text(),
        text
    );
}

#[test]
fn values_get_the_types_they_shall_have() {
    let functions = function(json!({"properties": {
        "n": {"type": "integer"}, "b": {"type": "boolean"}, "s": {"type": "string"},
        "l": {"type": ["array", "null"]}, "o": {},
    }}));
    let text = "<function=f><parameter=n>7</parameter><parameter=b>True</parameter>\
                <parameter=s>7</parameter><parameter=l>\n[1]\n</parameter><parameter=o>{\"a\":1}</parameter>\
                <parameter=x>[2]</parameter></function>";
    let found = calls::read(text, &functions);
    let expected = json!({"n": 7, "b": true, "s": "7", "l": [1], "o": {"a": 1}, "x": "[2]"});
    assert_eq!(found.calls, [("f".to_owned(), expected)]);
    let found = calls::read(
        "<function=f><parameter=n>many</parameter></function>",
        &functions,
    );
    assert_eq!(found.calls, [("f".to_owned(), json!({"n": "many"}))]);
}

#[test]
fn a_value_may_hold_the_end_of_a_call_and_lines_of_its_own() {
    let text = "<function=f>\n<parameter=s>\n  a\n</function>\n\nb\n</parameter>\n</function> then";
    let found = calls::read(
        text,
        &function(json!({"properties": {"s": {"type": "string"}}})),
    );
    assert_eq!(
        found.calls,
        [("f".to_owned(), json!({"s": "  a\n</function>\n\nb"}))]
    );
    assert_eq!(found.text, "then");
}

#[test]
fn what_is_no_call_stays_text() {
    for text in [
        "",
        "a < b",
        "<function=",
        "<function=>",
        "<function= a b >x",
        "</function>",
    ] {
        let found = calls::read(text, &[]);
        assert_eq!((found.text.as_str(), found.calls.len()), (text, 0));
    }
}

#[test]
fn many_open_blocks_are_read_in_linear_time() {
    // Quadratic work on a megabyte would not end while anybody waits for this test.
    for word in [
        "<function=f>",
        "<function=f><parameter=a>",
        "<parameter=a>",
        "<function=f><",
    ] {
        let text = word.repeat(1_000_000 / word.len());
        let _ = calls::read(&text, &[]);
    }
    let _ = answer::read(&"{".repeat(1_000_000), &json!({}));
}

#[test]
fn json_is_found_wherever_it_is() {
    let schema = json!({
        "type": "object",
        "properties": {"score": {"type": "integer"}, "kind": {"enum": ["a", "b"]}},
        "required": ["score"],
        "additionalProperties": false,
    });
    for text in [
        "{\"score\": 3}",
        "Here you are:\n```json\n{\"score\": 3}\n```\nGood?",
        "I [think] it is {\"score\": 3} {",
        "{bad} {\"score\": \"x\"} {\"score\": 3}",
    ] {
        assert_eq!(
            answer::read(text, &schema).as_deref(),
            Ok("{\"score\": 3}"),
            "{text}"
        );
    }
    for (text, why) in [
        ("no", "holds no JSON"),
        ("{\"kind\": \"a\"}", "`score` is missing"),
        ("{\"score\": 1.5}", "`score`: 1.5 is not of type"),
        ("{\"score\": 1, \"kind\": \"c\"}", "none of the values"),
        ("{\"score\": 1, \"more\": 2}", "`more` is not known"),
        ("[1]", "not of type"),
    ] {
        let error = answer::read(text, &schema).unwrap_err();
        assert!(error.contains(why), "{text}: {error}");
    }
}

#[test]
fn a_broken_answer_is_asked_for_again() {
    let request = Request {
        output: Output::Json {
            name: "score".to_owned(),
            schema: json!({"type": "object", "required": ["score"]}),
        },
        ..Request::user("How good?")
    };
    let spec = spec(Provider::OpenAi, "o1-mini");
    let (emulated, made) = Emulated::of(&spec, &request).unwrap();
    assert_eq!(made.output, Output::Text);
    assert!(
        made.system
            .unwrap()
            .contains("{\"required\":[\"score\"],\"type\":\"object\"}")
    );
    let error = emulated.read(said("good", Stop::End), false).unwrap_err();
    // It is the model that failed, and not its service.
    assert_eq!(error.fault, agon_core::ModelFault::BadAnswer);
    assert!(!error.fault.of_service() && !error.passing());
    let reply = emulated.read(said("good", Stop::End), true).unwrap();
    assert_eq!(reply.text(), "good");
    let reply = emulated
        .read(said("So: {\"score\": 1}", Stop::End), false)
        .unwrap();
    assert_eq!(reply.text(), "{\"score\": 1}");
}

#[test]
fn schemas_that_refer_to_themselves_end() {
    let schema = json!({"anyOf": [{"$ref": "#"}, {"$ref": "#"}]});
    assert!(answer::read("1", &schema).is_err());
    let tree = json!({"$ref": "#/$defs/t", "$defs": {"t": {
        "type": "object", "properties": {"l": {"$ref": "#/$defs/t"}}, "required": ["v"],
    }}});
    assert!(answer::read("{\"v\": 1, \"l\": {\"v\": 2}}", &tree).is_ok());
    assert!(answer::read("{\"v\": 1, \"l\": {}}", &tree).is_err());
}

fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("<function=".to_owned()),
        Just("f>".to_owned()),
        Just("<parameter=".to_owned()),
        Just("</parameter>".to_owned()),
        Just("</function".to_owned()),
        Just(">".to_owned()),
        Just("{\"a\":[".to_owned()),
        Just("]}\"\\".to_owned()),
        "[a-zäé€ \n\r]{0,4}",
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn nothing_breaks_the_readers(text in pieces()) {
        let functions = function(json!({"properties": {"a": {"type": "integer"}}}));
        let found = calls::read(&text, &functions);
        prop_assert!(found.text.len() <= text.len());
        let _ = answer::read(&text, &json!({"type": "object"}));
    }

    #[test]
    fn calls_survive_both_ways(
        values in proptest::collection::btree_map("[a-z_]{1,8}", "[^<\n\r][^<\r]{0,20}[^<\n\r]", 0..5),
    ) {
        let input: Value = values.into_iter().map(|(name, value)| (name, Value::String(value))).collect::<serde_json::Map<_, _>>().into();
        let call = ToolCall { id: "x".to_owned(), name: "f".to_owned(), input: input.clone(), raw: None };
        let text = conversation::call(&call);
        let found = calls::read(&text, &function(json!({})));
        prop_assert_eq!(found.calls, [("f".to_owned(), input)]);
        prop_assert!(found.closed);
    }
}
