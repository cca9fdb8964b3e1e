//! The words that describe functions and schemas to a model. The form of a call is one that users of
//! OpenHands know.

use std::fmt::Write;

use serde_json::Value;

use super::emulation::Function;
use crate::request::ToolChoice;
use crate::wire::body::{list, text};

const FORM: &str = "\
To call a function, end your answer with exactly this form and write nothing after it:

<function=name_of_the_function>
<parameter=name_of_a_parameter>its value</parameter>
<parameter=name_of_another_one>
a value
of several lines
</parameter>
</function>

- Call one function at a time; you are told its result before you go on.
- Give all required parameters. Leave out those that you do not need.
- Write text as it is, without quotes, and everything else as JSON.
- You may think in words before the call.";

pub(super) fn functions(functions: &[Function], choice: &ToolChoice) -> String {
    let mut words = String::from("You can call these functions:\n");
    for function in functions {
        // Writing to a text does not fail.
        let _ = write!(words, "\n## {}\n{}\n", function.name, function.description);
        parameters(&function.parameters, &mut words);
    }
    words.push('\n');
    words.push_str(FORM);
    match choice {
        ToolChoice::Required => words.push_str("\n- Your answer must end with a call."),
        ToolChoice::Named(name) => {
            let _ = write!(words, "\n- Your answer must end with a call of `{name}`.");
        }
        ToolChoice::Auto | ToolChoice::None => {}
    }
    words
}

fn parameters(schema: &Value, words: &mut String) {
    let Some(all) = schema
        .get("properties")
        .and_then(Value::as_object)
        .filter(|all| !all.is_empty())
    else {
        words.push_str("It has no parameters.\n");
        return;
    };
    words.push_str("Parameters:\n");
    for (name, property) in all {
        let kind = match property.get("type") {
            Some(Value::String(kind)) => kind.clone(),
            Some(Value::Array(kinds)) => {
                let kinds: Vec<&str> = kinds.iter().filter_map(Value::as_str).collect();
                kinds.join(" or ")
            }
            _ => "JSON".to_owned(),
        };
        let required = list(schema, "required")
            .iter()
            .any(|required| required == name);
        let need = if required { "required" } else { "optional" };
        let _ = write!(words, "- {name} ({kind}, {need})");
        if let Some(about) = text(property, "description") {
            let _ = write!(words, ": {about}");
        }
        if let Some(values) = property.get("enum") {
            let _ = write!(words, " One of {values}.");
        }
        if kind.contains("array") || kind.contains("object") || kind == "JSON" {
            let _ = write!(words, " Schema: {property}");
        }
        words.push('\n');
    }
}

pub(super) fn schema(schema: &Value) -> String {
    format!(
        "Answer with one JSON value and nothing else: no words before or after it, no fence around it. \
         It must obey this JSON schema:\n{schema}"
    )
}
