//! The picture that a model saw, found in the request that was recorded, whichever provider's shape that
//! has. Only what can be nothing but a picture is taken.

use serde_json::Value;

/// Bodies are not nested deeper.
const DEEPEST: usize = 32;
/// Letters of one picture.
const MOST: usize = 16 << 20;
const KINDS: [&str; 4] = ["image/png", "image/jpeg", "image/webp", "image/gif"];

/// The last picture in a request, as a `data:` address.
pub(super) fn picture_in(request: &Value) -> Option<String> {
    find(request, 0)
}

fn find(value: &Value, depth: usize) -> Option<String> {
    if depth > DEEPEST {
        return None;
    }
    match value {
        Value::String(text) => of_address(text),
        Value::Array(items) => items.iter().rev().find_map(|item| find(item, depth + 1)),
        Value::Object(fields) => {
            let text = |name: &str| fields.get(name).and_then(Value::as_str);
            let kinds = ["media_type", "mime_type", "mimeType"];
            let kind = kinds.into_iter().find_map(text);
            match (kind, text("data")) {
                (Some(kind), Some(data)) => address(kind, data),
                _ => fields.values().find_map(|value| find(value, depth + 1)),
            }
        }
        _ => None,
    }
}

fn of_address(text: &str) -> Option<String> {
    let (kind, data) = text.strip_prefix("data:")?.split_once(";base64,")?;
    address(kind, data)
}

fn address(kind: &str, data: &str) -> Option<String> {
    let kind = KINDS.into_iter().find(|known| *known == kind)?;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    let sound = !data.is_empty() && data.len() <= MOST && data.bytes().all(plain);
    sound.then(|| format!("data:{kind};base64,{data}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_picture_is_found_in_every_provider_s_shape() {
        let chat = json!({ "messages": [{ "role": "user", "content": [
            { "type": "text", "text": "data:image/png;base64 is what I send" },
            { "type": "image_url", "image_url": { "url": "data:image/png;base64,AAAA" } },
        ] }] });
        let messages = json!({ "messages": [{ "content": [{ "type": "image",
            "source": { "type": "base64", "media_type": "image/png", "data": "AAAA" } }] }] });
        let gemini = json!({ "contents": [{ "parts": [
            { "inlineData": { "mimeType": "image/png", "data": "AAAA" } }] }] });
        for body in [chat, messages, gemini] {
            let found = picture_in(&body);
            assert_eq!(found.as_deref(), Some("data:image/png;base64,AAAA"));
        }
    }

    #[test]
    fn nothing_else_is_taken_for_a_picture() {
        for text in [
            "data:text/html;base64,AAAA",
            "data:image/svg+xml;base64,AAAA",
            "data:image/png;base64,",
            "data:image/png;base64,A\"onload=x",
            "https://example.org/a.png",
        ] {
            assert_eq!(picture_in(&json!([text])), None, "{text}");
        }
    }
}
