//! Keys that older versions wrote, in terms of today's.

use serde_json::{Map, Value};

/// Means nothing any more.
const DROPPED: &[&str] = &[
    "keep_prompt",
    "task_completed",
    "translated_ipython_code",
    "formatted_output_and_error",
];

pub(super) fn args(args: &mut Map<String, Value>) {
    rename(args, "is_confirmed", "confirmation_state");
    rename(args, "images_urls", "image_urls");
    drop_all(args);
}

pub(super) fn extras(kind: &str, extras: &mut Map<String, Value>) {
    if kind == "run" {
        for (old, new) in [("exit_code", "exit_code"), ("command_id", "pid")] {
            let Some(value) = extras.remove(old) else {
                continue;
            };
            let metadata = extras
                .entry("metadata")
                .or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(metadata) = metadata {
                metadata.insert(new.to_owned(), value);
            }
        }
    }
    if let Some(Value::Object(metadata)) = extras.get_mut("metadata") {
        metadata.retain(|_, value| !value.is_null());
    }
    drop_all(extras);
}

fn rename(fields: &mut Map<String, Value>, old: &str, new: &str) {
    if let Some(value) = fields.remove(old)
        && !fields.contains_key(new)
    {
        fields.insert(new.to_owned(), value);
    }
}

fn drop_all(fields: &mut Map<String, Value>) {
    for key in DROPPED {
        fields.remove(*key);
    }
}
