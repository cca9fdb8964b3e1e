//! The models that an agent may ask, and the names it may call them by.

use serde_json::{Value, json};

use crate::client::Model;
use crate::spec::{ModelSpec, Provider};

/// For whoever does not care.
const ANY: [&str; 2] = ["agon", "default"];

/// Where a client leaves a prefix that only told its library which form to use.
const PREFIXES: [&str; 2] = ["openai/", "anthropic/"];

/// No name is longer.
const LONGEST: usize = 256;

/// A model with the name that the agent sees.
#[derive(Debug)]
pub(super) struct Offer {
    pub(super) name: String,
    pub(super) model: Model,
}

/// Never empty.
#[derive(Debug)]
pub(super) struct Allowed {
    first: Offer,
    others: Vec<Offer>,
}

impl Allowed {
    pub(super) fn new(models: Vec<Model>) -> Option<Self> {
        let mut offers = models.into_iter().map(|model| Offer {
            name: shown(model.spec()),
            model,
        });
        Some(Self {
            first: offers.next()?,
            others: offers.collect(),
        })
    }

    pub(super) fn first(&self) -> &Offer {
        &self.first
    }

    fn iter(&self) -> impl Iterator<Item = &Offer> {
        std::iter::once(&self.first).chain(&self.others)
    }

    /// `None`: it is not one of ours.
    pub(super) fn find(&self, asked: Option<&str>) -> Option<&Offer> {
        let Some(asked) = asked else {
            return Some(&self.first);
        };
        if asked.len() > LONGEST {
            return None;
        }
        let bare = PREFIXES
            .iter()
            .find_map(|prefix| asked.strip_prefix(prefix));
        self.by_name(asked)
            .or_else(|| bare.and_then(|bare| self.by_name(bare)))
    }

    fn by_name(&self, asked: &str) -> Option<&Offer> {
        if ANY.contains(&asked) {
            return Some(&self.first);
        }
        self.iter().find(|offer| {
            let spec = offer.model.spec();
            offer.name == asked || spec.name == asked || spec.model == asked
        })
    }

    /// For the message to whoever asks for another.
    pub(super) fn names(&self) -> String {
        let names: Vec<_> = self
            .iter()
            .map(|offer| format!("`{}`", offer.name))
            .collect();
        names.join(", ")
    }

    /// As OpenAI's clients read it.
    pub(super) fn list(&self) -> Value {
        let data: Vec<_> = self.iter().map(Offer::describe).collect();
        json!({"object": "list", "data": data})
    }

    /// As Anthropic's do.
    pub(super) fn list_for_messages(&self) -> Value {
        let data: Vec<_> = self.iter().map(Offer::describe_for_messages).collect();
        let last = self.others.last().unwrap_or(&self.first);
        json!({"data": data, "first_id": self.first.name, "last_id": last.name, "has_more": false})
    }
}

impl Offer {
    pub(super) fn describe(&self) -> Value {
        json!({"id": self.name, "object": "model", "created": 0, "owned_by": "agon"})
    }

    pub(super) fn describe_for_messages(&self) -> Value {
        json!({
            "type": "model",
            "id": self.name,
            "display_name": self.name,
            "created_at": "1970-01-01T00:00:00Z",
        })
    }
}

/// Names of models of this machine are paths on it, which are nobody's business inside of a sandbox.
fn shown(spec: &ModelSpec) -> String {
    let path = matches!(spec.provider, Provider::Local | Provider::Mock) && spec.name.contains('/');
    match path {
        true => ANY[0].to_owned(),
        false => spec.name.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::tests::mock;

    #[test]
    fn one_prefix_is_taken_off_and_long_names_are_nobody_s() {
        let allowed = Allowed::new(vec![mock("text:a"), mock("text:b")]).unwrap();
        let found = |name: &str| {
            let offer = allowed.find(Some(name));
            offer.map(|offer| offer.model.spec().model.clone())
        };
        for (name, expected) in [
            ("openai/agon", Some("text:a")),
            ("anthropic/text:b", Some("text:b")),
            ("openai/openai/text:b", None),
            ("", None),
        ] {
            assert_eq!(found(name).as_deref(), expected, "{name}");
        }
        // Deeper than any stack.
        let deep = format!("{}text:b", "openai/".repeat(4 << 20));
        assert_eq!(found(&deep), None);
    }
}
