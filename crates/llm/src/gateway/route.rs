//! What a request is for, by its method and path.

use hyper::Method;

use crate::wire::Spoken;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Route {
    /// A question to a model, in this form.
    Ask(Spoken),
    CountTokens,
    Models,
    Model(String),
    /// There is no such path, or not with this method.
    Unknown,
}

impl Route {
    /// Clients differ in whether the version is part of what they are told.
    pub(super) fn of(method: &Method, path: &str) -> Self {
        let path = path.trim_matches('/');
        let path = path.strip_prefix("v1/").unwrap_or(path);
        match (method, path) {
            (&Method::POST, "chat/completions") => Self::Ask(Spoken::Chat),
            (&Method::POST, "responses") => Self::Ask(Spoken::Responses),
            (&Method::POST, "messages") => Self::Ask(Spoken::Messages),
            (&Method::POST, "messages/count_tokens") => Self::CountTokens,
            (&Method::GET, "models") => Self::Models,
            (&Method::GET, path) => match path.strip_prefix("models/") {
                Some(name) => Self::Model(unescaped(name)),
                None => Self::Unknown,
            },
            _ => Self::Unknown,
        }
    }

    /// The form of what goes wrong.
    pub(super) fn wire(&self, messages_client: bool) -> Spoken {
        match self {
            Self::Ask(wire) => *wire,
            Self::CountTokens => Spoken::Messages,
            _ if messages_client => Spoken::Messages,
            _ => Spoken::Chat,
        }
    }
}

/// Names of models hold slashes, which clients may escape.
fn unescaped(name: &str) -> String {
    name.replace("%2F", "/")
        .replace("%2f", "/")
        .replace("%3A", ":")
        .replace("%3a", ":")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_work_with_and_without_the_version() {
        for prefix in ["", "/", "/v1/"] {
            let of = |method, path: &str| Route::of(&method, &format!("{prefix}{path}"));
            assert_eq!(
                of(Method::POST, "chat/completions"),
                Route::Ask(Spoken::Chat)
            );
            assert_eq!(of(Method::POST, "responses"), Route::Ask(Spoken::Responses));
            assert_eq!(of(Method::POST, "messages/"), Route::Ask(Spoken::Messages));
            assert_eq!(
                of(Method::POST, "messages/count_tokens"),
                Route::CountTokens
            );
            assert_eq!(of(Method::GET, "models"), Route::Models);
            let model = Route::Model("openai/gpt-4o".to_owned());
            assert_eq!(of(Method::GET, "models/openai%2Fgpt-4o"), model);
            assert_eq!(of(Method::GET, "messages"), Route::Unknown);
            assert_eq!(of(Method::POST, "embeddings"), Route::Unknown);
        }
    }
}
