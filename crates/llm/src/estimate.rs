//! How many tokens a body may come to. A guess: only the provider could tell, and would have to be asked.

use serde_json::Value;

/// Of most texts in most vocabularies.
const BYTES_PER_TOKEN: u64 = 4;

/// What a picture of a screen costs, by and large.
const TOKENS_PER_PICTURE: u64 = 1_500;

/// Of a document that is given as it is; most of it is no text.
const BYTES_PER_TOKEN_OF_FILE: u64 = 16;

/// Where the content of a picture or a file stands.
const CONTENTS: [&str; 2] = ["data", "file_data"];

/// Of a whole body or any part of it; never 0.
pub(crate) fn tokens(body: &Value) -> u64 {
    (bytes("", body, false).div_ceil(BYTES_PER_TOKEN)).max(1)
}

/// Of so many bytes of an answer.
pub(crate) const fn of_bytes(bytes: u64) -> u64 {
    bytes.div_ceil(BYTES_PER_TOKEN)
}

/// `pictured`: it stands in an object that says of itself that it is a picture.
fn bytes(key: &str, value: &Value, pictured: bool) -> u64 {
    match value {
        Value::String(text) if text.starts_with("data:image/") => picture(),
        Value::String(text) if CONTENTS.contains(&key) => match pictured {
            true => picture(),
            false => text.len() as u64 * BYTES_PER_TOKEN / BYTES_PER_TOKEN_OF_FILE,
        },
        Value::String(text) => text.len() as u64,
        Value::Array(items) => items.iter().map(|item| bytes(key, item, false)).sum(),
        Value::Object(map) => {
            let media = ["media_type", "mimeType", "mime_type"];
            let media = media.iter().find_map(|key| map.get(*key)?.as_str());
            let pictured = media.is_some_and(|media| media.starts_with("image/"));
            map.iter()
                .map(|(key, value)| key.len() as u64 + bytes(key, value, pictured))
                .sum()
        }
        _ => 1,
    }
}

const fn picture() -> u64 {
    TOKENS_PER_PICTURE * BYTES_PER_TOKEN
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_count_by_length_and_pictures_by_number() {
        let text = json!([{"role": "user", "content": "word ".repeat(400)}]);
        assert!((500..520).contains(&tokens(&text)), "{}", tokens(&text));
        let data = "A".repeat(1 << 20);
        for picture in [
            json!([format!("data:image/png;base64,{data}")]),
            json!({"source": {"type": "base64", "media_type": "image/png", "data": data}}),
            json!({"inlineData": {"mimeType": "image/png", "data": data}}),
        ] {
            assert!((1_500..1_520).contains(&tokens(&picture)));
        }
        assert_eq!(tokens(&json!("")), 1);
    }

    #[test]
    fn a_long_word_is_no_picture() {
        let words = json!([{"role": "user", "content": "A".repeat(1 << 20)}]);
        assert!(tokens(&words) >= 1 << 18);
        let file = json!({"file": {"file_data": "A".repeat(1 << 20)}});
        assert!(tokens(&file) >= 1 << 16);
    }
}
