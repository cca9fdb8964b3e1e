//! Templates over the fields of a row. What the agent gets to see is filled in from a row without its
//! hidden fields, so that a template can't leak what it is not given; that one asks for them is told
//! before any row is filled in. No includes, bounded steps, nothing undefined.

use std::collections::{BTreeMap, BTreeSet};

use globset::GlobSet;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Error, UndefinedBehavior, Value};

use super::dataset::Fields;
use crate::source::{Content, Node, NodeError, Span, nearest};

const FUEL: u64 = 200_000;
const MAX_OUTPUT: usize = 1 << 20;
/// Beside the fields of the row: all of them, and its id.
const INSTANCE: &str = "instance";
pub(super) const ID: &str = "id";

/// Who gets to see what a template makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Agent,
    /// The grader, the simulated user and the oracle.
    Ours,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Taken as it is.
    Plain,
    /// Texts in it with `{{` or `{%` are templates.
    Inline,
    /// A file that is one template.
    File,
}

#[derive(Debug)]
pub(super) struct Templates {
    environment: Environment<'static>,
    /// Every field that some row has.
    fields: BTreeSet<String>,
    hidden: GlobSet,
}

/// What templates are filled in from.
#[derive(Debug, Clone)]
pub(super) struct Contexts {
    agent: Value,
    ours: Value,
}

impl Contexts {
    pub(super) fn of(&self, side: Side) -> &Value {
        match side {
            Side::Agent => &self.agent,
            Side::Ours => &self.ours,
        }
    }
}

impl Templates {
    pub(super) fn new(fields: BTreeSet<String>, hidden: GlobSet) -> Self {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_auto_escape_callback(|_| AutoEscape::None);
        environment.set_fuel(Some(FUEL));
        let mut syntax = SyntaxConfig::builder();
        if let Ok(syntax) = syntax.keep_trailing_newline(true).build() {
            environment.set_syntax(syntax);
        }
        Self {
            environment,
            fields,
            hidden,
        }
    }

    pub(super) fn is_hidden(&self, field: &str) -> bool {
        self.hidden.is_match(field)
    }

    /// The names of the fields that are hidden.
    pub(super) fn hidden(&self) -> Vec<String> {
        let hidden = self.fields.iter().filter(|field| self.is_hidden(field));
        hidden.cloned().collect()
    }

    /// Reads the templates of a value, and refuses those that ask for what they must not have.
    pub(super) fn learn(
        &mut self,
        node: &Node,
        side: Side,
        form: Form,
        errors: &mut Vec<NodeError>,
    ) {
        match &node.content {
            Content::Scalar { text, plain: false } if is_template(text, form) => {
                let learnt = self.add(text, side);
                errors.extend(
                    learnt
                        .err()
                        .map(|(error, range)| error.at(place(node, range))),
                );
            }
            Content::Scalar { .. } => {}
            Content::Sequence(items) => {
                for item in items {
                    self.learn(item, side, form, errors);
                }
            }
            Content::Mapping(pairs) => {
                for (_, value) in pairs {
                    self.learn(value, side, form, errors);
                }
            }
        }
    }

    fn add(&mut self, text: &str, side: Side) -> Result<(), (NodeError, Option<Span>)> {
        self.environment
            .add_template_owned(text.to_owned(), text.to_owned())
            .map_err(|error| broken(&error, "this is no template"))?;
        let template = self
            .environment
            .get_template(text)
            .map_err(|error| broken(&error, "this is no template"))?;
        let globals: BTreeSet<&str> = self.environment.globals().map(|(name, _)| name).collect();
        let whole = template.undeclared_variables(false);
        let parts = template.undeclared_variables(true);
        let of_instance = parts.iter().filter_map(|path| {
            let field = path.strip_prefix(INSTANCE)?.strip_prefix('.')?;
            field.split('.').next()
        });
        let named = whole.iter().map(String::as_str);
        let named =
            named.filter(|name| ![INSTANCE, ID].contains(name) || self.fields.contains(*name));
        let mut used: Vec<&str> = named.chain(of_instance).collect();
        used.sort_unstable();
        for name in used {
            if self.fields.contains(name) {
                if side == Side::Agent && self.is_hidden(name) {
                    let message = format!("`{name}` is hidden: the agent must not learn it");
                    let help =
                        "leave it out, or name the fields that really are secret in `hidden`";
                    return Err((NodeError::new(message).help(help), word(text, name)));
                }
            } else if !globals.contains(name) {
                return Err((self.unknown(name), word(text, name)));
            }
        }
        Ok(())
    }

    fn unknown(&self, name: &str) -> NodeError {
        let known = self.fields.iter().map(String::as_str);
        let message = match nearest(name, known.clone()) {
            Some(near) => format!("no row has a field `{name}`, did you mean `{near}`?"),
            None => format!("no row has a field `{name}`"),
        };
        let known: Vec<&str> = known.take(30).collect();
        NodeError::new(message).help(format!("fields: {}", known.join(", ")))
    }

    pub(super) fn contexts(&self, row: &Fields, id: &str) -> Contexts {
        let context = |fields: Fields| {
            let mut context: BTreeMap<String, Value> = BTreeMap::new();
            context.insert(ID.to_owned(), Value::from(id));
            for (name, value) in &fields {
                context.insert(name.clone(), Value::from(Serde(value)));
            }
            context.insert(INSTANCE.to_owned(), Value::from(Serde(&fields)));
            Value::from_pairs(context)
        };
        let shown = row.iter().filter(|(name, _)| !self.is_hidden(name));
        Contexts {
            agent: context(shown.map(|(k, v)| (k.clone(), v.clone())).collect()),
            ours: context(row.clone()),
        }
    }

    /// The value with its templates filled in; what was not learnt stays as it is.
    pub(super) fn fill(&self, node: &Node, context: &Value) -> Result<Node, NodeError> {
        let content = match &node.content {
            Content::Scalar { text, plain: false } => Content::Scalar {
                text: self
                    .fill_text(text, context)
                    .map_err(|(error, range)| error.at(place(node, range)))?,
                plain: false,
            },
            Content::Scalar { .. } => node.content.clone(),
            Content::Sequence(items) => {
                let filled = items.iter().map(|item| self.fill(item, context));
                Content::Sequence(filled.collect::<Result<_, _>>()?)
            }
            Content::Mapping(pairs) => {
                let filled = pairs
                    .iter()
                    .map(|(key, value)| Ok((key.clone(), self.fill(value, context)?)));
                Content::Mapping(filled.collect::<Result<_, NodeError>>()?)
            }
        };
        Ok(Node {
            span: node.span,
            content,
        })
    }

    fn fill_text(&self, text: &str, context: &Value) -> Result<String, (NodeError, Option<Span>)> {
        let Ok(template) = self.environment.get_template(text) else {
            return Ok(text.to_owned());
        };
        let filled = template
            .render(context.clone())
            .map_err(|error| broken(&error, "the template can't be filled in"))?;
        if filled.len() > MAX_OUTPUT {
            let message = "the template makes a text of more than 1 MiB";
            return Err((NodeError::new(message), None));
        }
        Ok(filled)
    }
}

/// Where a name first stands by itself inside of a template's marks.
fn word(text: &str, name: &str) -> Option<Span> {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    let last =
        |text: &str, marks: [&str; 2]| marks.map(|mark| text.rfind(mark)).into_iter().max()?;
    let alone = |at: &usize| {
        let (before, after) = (&text[..*at], &text[at + name.len()..]);
        let inside = last(before, ["{{", "{%"]) > last(before, ["}}", "%}"]);
        inside && !before.ends_with(part) && !after.starts_with(part)
    };
    let start = text.match_indices(name).map(|(at, _)| at).find(alone)?;
    Some(Span {
        start,
        end: start + name.len(),
    })
}

/// In a shell `${#x}` is no comment, so a mere `{#` makes no template of a text that is not a file.
fn is_template(text: &str, form: Form) -> bool {
    let marks: &[&str] = match form {
        Form::Plain => &[],
        Form::Inline => &["{{", "{%"],
        Form::File => &["{{", "{%", "{#"],
    };
    marks.iter().any(|mark| text.contains(mark))
}

fn broken(error: &Error, what: &str) -> (NodeError, Option<Span>) {
    let reason = match error.detail() {
        Some(detail) => format!("{}: {detail}", error.kind()),
        None => error.kind().to_string(),
    };
    let range = error.range().map(|range| Span {
        start: range.start,
        end: range.end,
    });
    (NodeError::new(format!("{what}: {reason}")), range)
}

/// The place in a template where that is known: in a file. Quotes and escapes blur it elsewhere.
fn place(node: &Node, range: Option<Span>) -> Span {
    let Content::Scalar { text, .. } = &node.content else {
        return node.span;
    };
    match range {
        Some(range) if node.span.end - node.span.start == text.len() => Span {
            start: node.span.start + range.start.min(text.len()),
            end: node.span.start + range.end.min(text.len()),
        },
        _ => node.span,
    }
}

#[cfg(test)]
mod tests {
    use globset::{Glob, GlobSetBuilder};
    use serde_json::json;

    use super::*;

    fn templates() -> Templates {
        let fields = ["question", "answer", "gold_patch", "odd name"].map(str::to_owned);
        let mut hidden = GlobSetBuilder::new();
        for glob in ["answer", "gold*"] {
            hidden.add(Glob::new(glob).unwrap());
        }
        Templates::new(fields.into(), hidden.build().unwrap())
    }

    fn row() -> Fields {
        let row = json!({"question": "2+2?", "answer": "4", "gold_patch": "+4", "odd name": [1, true, null]});
        row.as_object().unwrap().clone()
    }

    fn scalar(text: &str) -> Node {
        Node {
            span: Span {
                start: 0,
                end: text.len(),
            },
            content: Content::Scalar {
                text: text.to_owned(),
                plain: false,
            },
        }
    }

    fn filled(text: &str, side: Side) -> Result<String, String> {
        let mut templates = templates();
        let node = scalar(text);
        let mut errors = Vec::new();
        templates.learn(&node, side, Form::File, &mut errors);
        if let Some(error) = errors.pop() {
            return Err(error.message);
        }
        let contexts = templates.contexts(&row(), "i-1");
        let node = templates
            .fill(&node, contexts.of(side))
            .map_err(|error| error.message)?;
        let Content::Scalar { text, .. } = node.content else {
            panic!("no text")
        };
        Ok(text)
    }

    #[test]
    fn fields_are_filled_in_as_they_are() {
        let text =
            "{{ id }}: {{ question }}<&>{% for x in instance['odd name'] %} {{ x }}{% endfor %}\n";
        assert_eq!(
            filled(text, Side::Agent).unwrap(),
            "i-1: 2+2?<&> 1 True None\n"
        );
        assert_eq!(filled("{{ answer }}", Side::Ours).unwrap(), "4");
        assert_eq!(filled("plain }}", Side::Agent).unwrap(), "plain }}");
    }

    #[test]
    fn what_is_hidden_can_not_be_had() {
        for text in [
            "{{ answer }}",
            "{{ instance.answer }}",
            "{% if gold_patch %}x{% endif %}",
            "{{ answer | default('') }}",
            "{% set a = answer %}{{ a }}",
        ] {
            let error = filled(text, Side::Agent).unwrap_err();
            assert!(error.contains("is hidden"), "{text}: {error}");
        }
        // Ways that can't be seen beforehand find nothing.
        for text in ["{{ instance['answer'] }}", "{{ instance['ans' ~ 'wer'] }}"] {
            let error = filled(text, Side::Agent).unwrap_err();
            assert!(error.contains("undefined"), "{text}: {error}");
        }
        for text in ["{{ instance }}", "{{ debug() }}", "{{ instance | tojson }}"] {
            let made = filled(text, Side::Agent).unwrap_or_default();
            assert!(!made.contains("+4"), "{text}: {made}");
        }
    }

    #[test]
    fn what_is_refused() {
        for (text, part) in [
            ("{{ qestion }}", "did you mean `question`"),
            ("{{ instance.qestion }}", "did you mean `question`"),
            ("{{ question", "this is no template"),
            ("{% include 'x' %}", "this is no template"),
            ("{% import 'x' as y %}", "this is no template"),
            (
                "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}",
                "fuel",
            ),
            ("{{ 'x' * 2000000 }}", "1 MiB"),
            ("{{ question.a.b }}", "undefined"),
        ] {
            let error = filled(text, Side::Agent).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    proptest::proptest! {
        #[test]
        fn nothing_hidden_comes_out(text in "(\\{\\{ ?|\\{% ?| ?%\\}| ?\\}\\}|instance|question|answer|gold_patch|\\.|\\['|'\\]| |\\||if|for x in|x|endfor|endif|tojson|debug\\(\\)){0,12}") {
            if let Ok(made) = filled(&text, Side::Agent) {
                proptest::prop_assert!(!made.contains("+4"), "{made}");
            }
        }
    }
}
