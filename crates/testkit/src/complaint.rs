//! What a browser complains about, as one line each: errors of scripts and on the console, refused loads, and
//! dialogs that no test asked for. Warnings do not count.

use serde_json::Value;

/// Of an event of the DevTools protocol, if it is one.
pub(crate) fn complaint(event: &str, said: &Value) -> Option<String> {
    match event {
        "Log.entryAdded" => {
            let entry = &said["entry"];
            let place = if entry["url"].is_string() {
                text(&entry["url"])
            } else {
                text(&entry["source"])
            };
            let line = &entry["lineNumber"];
            let line = line
                .as_u64()
                .map_or("-".to_owned(), |line| line.to_string());
            (entry["level"] == "error").then(|| format!("{place} {line} {}", text(&entry["text"])))
        }
        "Runtime.consoleAPICalled" => {
            let severe = said["type"] == "error" || said["type"] == "assert";
            let words = said["args"].as_array().into_iter().flatten();
            let words: Vec<String> = words.map(shown).collect();
            let place = place(&said["stackTrace"]["callFrames"][0]);
            severe.then(|| format!("{place} console: {}", words.join(" ")))
        }
        "Runtime.exceptionThrown" => {
            let thrown = &said["exceptionDetails"];
            let (what, error) = (text(&thrown["text"]), shown(&thrown["exception"]));
            Some(format!("{} {what} {error}", place(thrown)))
        }
        // A page may always ask before it is left.
        "Page.javascriptDialogOpening" if said["type"] != "beforeunload" => Some(format!(
            "{} dialog: {} {}",
            text(&said["url"]),
            text(&said["type"]),
            text(&said["message"])
        )),
        _ => None,
    }
}

fn place(at: &Value) -> String {
    let url = text(&at["url"]);
    let url = if url.is_empty() { "javascript" } else { &url };
    format!("{url} {}:{}", at["lineNumber"], at["columnNumber"])
}

/// A value of a script.
fn shown(value: &Value) -> String {
    let told = ["description", "value", "type"].map(|name| text(&value[name]));
    told.into_iter()
        .find(|told| !told.is_empty())
        .unwrap_or_default()
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn errors_are_complaints_and_say_where() {
        let load = json!({"entry": {"level": "error", "source": "network",
            "url": "http://127.0.0.1:5/x", "text": "Failed to load resource: 404"}});
        assert_eq!(
            complaint("Log.entryAdded", &load).unwrap(),
            "http://127.0.0.1:5/x - Failed to load resource: 404"
        );
        let console = json!({"type": "error", "args": [{"type": "string", "value": "no"},
            {"type": "object", "description": "Object"}, {"type": "number", "value": 5}],
            "stackTrace": {"callFrames": [{"url": "a.js", "lineNumber": 3, "columnNumber": 4}]}});
        assert_eq!(
            complaint("Runtime.consoleAPICalled", &console).unwrap(),
            "a.js 3:4 console: no Object 5"
        );
        let thrown = json!({"exceptionDetails": {"text": "Uncaught", "url": "", "lineNumber": 1,
            "columnNumber": 2, "exception": {"description": "Error: oh"}}});
        assert_eq!(
            complaint("Runtime.exceptionThrown", &thrown).unwrap(),
            "javascript 1:2 Uncaught Error: oh"
        );
        let dialog = json!({"type": "alert", "message": "pwned", "url": "http://a/"});
        assert_eq!(
            complaint("Page.javascriptDialogOpening", &dialog).unwrap(),
            "http://a/ dialog: alert pwned"
        );
    }

    #[test]
    fn warnings_and_news_are_none() {
        let warning = json!({"entry": {"level": "warning", "source": "other", "text": "hm"}});
        assert_eq!(complaint("Log.entryAdded", &warning), None);
        assert_eq!(
            complaint("Runtime.consoleAPICalled", &json!({"type": "warning"})),
            None
        );
        assert_eq!(complaint("Page.loadEventFired", &json!({})), None);
        let leaving = json!({"type": "beforeunload"});
        assert_eq!(complaint("Page.javascriptDialogOpening", &leaving), None);
    }
}
