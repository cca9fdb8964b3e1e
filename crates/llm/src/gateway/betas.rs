//! Features of Anthropic's API that are not settled yet, which a client asks for by name in a header. Only
//! those pass that change the form of what is said: none that runs something at the provider, keeps
//! something there, or has another price.

use hyper::header::HeaderMap;

const HEADER: &str = "anthropic-beta";

/// With any date at their end.
const HARMLESS: [&str; 14] = [
    "advanced-tool-use-",
    "computer-use-",
    "context-management-",
    "effort-",
    "extended-cache-ttl-",
    "fine-grained-tool-streaming-",
    "interleaved-thinking-",
    "model-context-window-exceeded-",
    "output-128k-",
    "prompt-caching-",
    "structured-outputs-",
    "token-efficient-tools-",
    "tool-examples-",
    "tool-search-tool-",
];

/// `2025-05-14`.
const DATE: usize = 10;

/// Those of the request that are passed on. The others are left out: clients name many for the case that
/// one is of use.
pub(super) fn of(headers: &HeaderMap) -> Vec<String> {
    let lines = headers.get_all(HEADER).iter();
    let names = lines.filter_map(|line| line.to_str().ok());
    let mut passed: Vec<String> = Vec::new();
    for name in names.flat_map(|line| line.split(',')).map(str::trim) {
        if is_harmless(name) && !passed.iter().any(|other| other == name) {
            passed.push(name.to_owned());
        }
    }
    passed
}

fn is_harmless(name: &str) -> bool {
    let date = |date: &str| {
        date.len() == DATE
            && date
                .bytes()
                .all(|byte| byte == b'-' || byte.is_ascii_digit())
    };
    HARMLESS
        .iter()
        .any(|start| name.strip_prefix(start).is_some_and(date))
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    #[test]
    fn known_ones_pass_once_and_others_do_not() {
        let mut headers = HeaderMap::new();
        for line in [
            "claude-code-20250219, interleaved-thinking-2025-05-14,computer-use-2025-01-24",
            "interleaved-thinking-2025-05-14",
            "context-1m-2025-08-07,mcp-client-2025-04-04,files-api-2025-04-14,fast-mode-2026-02-01",
            "effort-x,effort-2025-11-24 x,effort-,effort-2025-11-24-and-more",
        ] {
            headers.append(HEADER, HeaderValue::from_static(line));
        }
        let passed = of(&headers);
        assert_eq!(
            passed,
            ["interleaved-thinking-2025-05-14", "computer-use-2025-01-24"]
        );
    }
}
