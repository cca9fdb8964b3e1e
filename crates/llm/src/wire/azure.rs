//! Addresses at Azure, which has one per deployment for chat completions and one for all of them for
//! Responses. Who is Azure was decided by the configuration: only there a model of OpenAI's forms has a
//! version of the API.

/// Where the key goes.
pub(super) const KEY: (&str, &str) = ("api-key", "");

pub(super) fn chat(base: &str, model: &str, version: &str) -> String {
    let deployment = match split(base) {
        (root, None | Some("")) => format!("{root}/openai/deployments/{model}"),
        // A deployment that is named already, or Azure's `v1`.
        (_, Some(_)) => base.to_owned(),
    };
    format!("{deployment}/chat/completions?api-version={version}")
}

pub(super) fn responses(base: &str, version: &str) -> String {
    let place = match split(base) {
        (root, Some(rest)) if !rest.is_empty() && !rest.starts_with("/deployments/") => {
            format!("{root}/openai{rest}")
        }
        (root, _) => format!("{root}/openai"),
    };
    format!("{place}/responses?api-version={version}")
}

/// What stands before the folder `openai` of the path, and after it. The host may begin or end with that
/// word as well: it is none of the path.
fn split(base: &str) -> (&str, Option<&str>) {
    let host = base.find("://").map_or(0, |at| at + 3);
    let path = base[host..].find('/').map_or(base.len(), |at| host + at);
    let found = base[path..]
        .match_indices("/openai")
        .find_map(|(at, name)| {
            let (before, after) = base.split_at(path + at);
            let rest = &after[name.len()..];
            (rest.is_empty() || rest.starts_with('/')).then_some((before, rest))
        });
    found.map_or((base, None), |(before, rest)| (before, Some(rest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_looked_for_in_the_path_only() {
        let deployment = "/openai/deployments/m/chat/completions?api-version=v";
        for (base, chat_at, responses_at) in [
            (
                "https://openai-r.openai.azure.com",
                format!("https://openai-r.openai.azure.com{deployment}"),
                "https://openai-r.openai.azure.com/openai/responses?api-version=v",
            ),
            (
                "https://openai",
                format!("https://openai{deployment}"),
                "https://openai/openai/responses?api-version=v",
            ),
            (
                "https://x.azure-api.net/openai-team/a",
                format!("https://x.azure-api.net/openai-team/a{deployment}"),
                "https://x.azure-api.net/openai-team/a/openai/responses?api-version=v",
            ),
            (
                "https://x.azure-api.net/a/openai",
                format!("https://x.azure-api.net/a{deployment}"),
                "https://x.azure-api.net/a/openai/responses?api-version=v",
            ),
            (
                "https://r.openai.azure.com/openai/deployments/mine",
                "https://r.openai.azure.com/openai/deployments/mine/chat/completions?api-version=v"
                    .to_owned(),
                "https://r.openai.azure.com/openai/responses?api-version=v",
            ),
            (
                "https://r.openai.azure.com/openai/v1",
                "https://r.openai.azure.com/openai/v1/chat/completions?api-version=v".to_owned(),
                "https://r.openai.azure.com/openai/v1/responses?api-version=v",
            ),
        ] {
            assert_eq!(chat(base, "m", "v"), chat_at);
            assert_eq!(responses(base, "v"), responses_at);
        }
    }
}
