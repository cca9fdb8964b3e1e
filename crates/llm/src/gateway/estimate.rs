//! How many tokens a request may come to. A guess: only the provider could tell, and would have to be
//! asked.

use serde_json::Value;

/// Of most texts in most vocabularies.
const BYTES_PER_TOKEN: u64 = 4;

/// What a picture of a screen costs, by and large.
const TOKENS_PER_PICTURE: u64 = 1_500;

/// Longer ones without a space are pictures in disguise.
const PICTURE: usize = 4_096;

pub(super) fn tokens(body: &Value) -> u64 {
    let parts = ["system", "messages", "tools"].map(|part| body.get(part));
    let bytes: u64 = parts.into_iter().flatten().map(bytes).sum();
    (bytes / BYTES_PER_TOKEN).max(1)
}

fn bytes(value: &Value) -> u64 {
    match value {
        Value::String(text) if text.len() > PICTURE && !text.contains(' ') => {
            TOKENS_PER_PICTURE * BYTES_PER_TOKEN
        }
        Value::String(text) => text.len() as u64,
        Value::Array(items) => items.iter().map(bytes).sum(),
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| key.len() as u64 + bytes(value))
            .sum(),
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_count_by_length_and_pictures_by_number() {
        let text = json!({"messages": [{"role": "user", "content": "word ".repeat(400)}]});
        assert!((500..520).contains(&tokens(&text)), "{}", tokens(&text));
        let picture = json!({"messages": ["A".repeat(1 << 20)]});
        assert_eq!(tokens(&picture), 1_500);
        assert_eq!(tokens(&json!({})), 1);
    }
}
