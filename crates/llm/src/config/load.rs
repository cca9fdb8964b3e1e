//! The whole configuration: read once, typed at once. What is wrong in `[llm]` is an error at once; what
//! is wrong in a section that a command does not use is an error of those who use it.

use std::path::{Path, PathBuf};

use super::document::{Document, Group};
use super::endpoint::Endpoint;
use super::environment::Environment;
use super::error::ConfigError;
use super::fields::{Fields, Origin, Section, place};
use super::llm::{self, LlmSection};
use super::name::Name;
use super::nearest::{did_you_mean, nearest};
use super::resolve::{KeyAt, KeyOrigin, Ready};
use super::source::ConfigSource;
use super::vendor;
use super::workflow::Workflow;
use crate::spec::ModelSpec;

#[derive(Debug, Clone)]
pub struct Config {
    file: Option<PathBuf>,
    base: Option<Ready>,
    named: Vec<(String, Ready)>,
    workflow: Workflow,
    variables: Environment,
    warnings: Vec<String>,
}

/// Sections of other systems that say nothing about what is done here.
const NOT_USED: &[&str] = &["extended", "security", "mcp", "kubernetes", "model_routing"];
const USED: &[&str] = &["core", "llm", "agent", "sandbox", "condenser"];

impl Config {
    pub fn load(source: &ConfigSource) -> Result<Self, ConfigError> {
        let (variables, mut warnings) = source.variables();
        let found = source.text(&variables)?;
        let file = found.as_ref().map(|(path, _)| path.clone());
        let name = file
            .as_deref()
            .map_or("config.toml".into(), Path::to_string_lossy);
        let text = found.as_ref().map_or("", |(_, text)| text);
        let document = Document::parse(&name, text)?;
        for (section, place) in document.others(USED) {
            warnings.push(not_known(&section, &place));
        }
        let group = document.group("llm", llm::TABLES)?.unwrap_or_default();
        let (base, named) = models(group, &variables, &mut warnings)?;
        let workflow = Workflow::read(&document, &variables, &mut warnings);
        Ok(Self {
            file,
            base,
            named,
            workflow,
            variables,
            warnings,
        })
    }

    /// The file that was read.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// What is odd but hinders nobody.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The sections that can be asked for by name, `llm` first, then in the order of the file.
    pub fn sections(&self) -> Vec<&str> {
        let base = self.base.iter().map(|_| "llm");
        base.chain(self.named.iter().map(|(name, _)| &**name))
            .collect()
    }

    /// A section, or a provider and a model such as `openai/gpt-4o`, which takes nothing from the file.
    pub fn model(&self, name: &str) -> Result<ModelSpec, ConfigError> {
        Ok(self.model_and_key(name)?.0)
    }

    /// The same model at another address. A name that no section has is then the model's own.
    pub fn model_at(&self, name: &str, base_url: &str) -> Result<ModelSpec, ConfigError> {
        Ok(self.resolved(name, Some(base_url))?.0)
    }

    /// The same, and where its key comes from.
    pub fn model_and_key(&self, name: &str) -> Result<(ModelSpec, KeyOrigin), ConfigError> {
        self.resolved(name, None)
    }

    fn resolved(
        &self,
        name: &str,
        base_url: Option<&str>,
    ) -> Result<(ModelSpec, KeyOrigin), ConfigError> {
        let parsed = Name::parse(name);
        let shown: String = name.trim().chars().take(200).collect();
        let found = match &parsed {
            Name::Base => self.base.as_ref(),
            Name::Section(name) => self
                .named
                .iter()
                .find(|(known, _)| known == name)
                .map(|(_, r)| r),
        };
        let made;
        let ready = match (found, &parsed) {
            (Some(ready), _) => match base_url {
                None => ready,
                Some(url) => {
                    let mut moved = ready.clone();
                    moved.fields.base_url = Some(url.to_owned());
                    made = moved;
                    &made
                }
            },
            (None, Name::Section(name)) if base_url.is_some() || is_provided(name) => {
                made = Ready {
                    section: None,
                    fields: LlmSection {
                        model: Some(name.clone()),
                        base_url: base_url.map(str::to_owned),
                        ..LlmSection::default()
                    },
                    key: KeyAt::Nowhere,
                };
                &made
            }
            (None, _) => return Err(self.no_section(&parsed)),
        };
        let spoken = match &parsed {
            Name::Base => "llm",
            Name::Section(name) => name,
        };
        ready
            .spec(spoken, &self.variables)
            .map_err(|why| ConfigError::NoModel {
                model: match &ready.section {
                    Some(section) => format!("the model of [{section}]"),
                    None => shown,
                },
                why,
            })
    }

    pub const fn workflow(&self) -> &Workflow {
        &self.workflow
    }

    fn no_section(&self, name: &Name) -> ConfigError {
        let sections = self.sections();
        let name = match name {
            Name::Base => "llm",
            Name::Section(name) => name,
        };
        let file = match &self.file {
            Some(file) => format!("{} has: {}", file.display(), listed(&sections)),
            None => "there is no config.toml either".to_owned(),
        };
        let guess = vendor::by_bare_name(name).and_then(|vendor| vendor.prefixes.first());
        let guess = guess.map(|prefix| format!("{prefix}/{name}"));
        ConfigError::NoModel {
            model: format!("`{}`", name.chars().take(100).collect::<String>()),
            why: format!(
                "there is no such section{}; {file}; models that need none: {}",
                did_you_mean(nearest(name, sections).or(guess).as_deref()),
                vendor::FORMS,
            ),
        }
    }
}

/// `openai/gpt-4o`, and also what we refuse with a reason.
fn is_provided(name: &str) -> bool {
    let prefix = name.split_once('/').map(|(prefix, _)| prefix);
    prefix.is_some_and(|prefix| {
        vendor::by_prefix(prefix).is_some() || vendor::refused(prefix).is_some()
    })
}

fn listed(names: &[&str]) -> String {
    if names.is_empty() {
        "no [llm] section".to_owned()
    } else {
        names.join(", ")
    }
}

fn not_known(section: &str, place: &str) -> String {
    if NOT_USED.contains(&section) {
        format!("{place}: [{section}] is not used by Agon")
    } else {
        let meant = nearest(section, USED.iter().copied());
        let meant = did_you_mean(meant.as_deref());
        format!("{place}: section [{section}] is not known{meant}")
    }
}

type Models = (Option<Ready>, Vec<(String, Ready)>);

fn models(
    group: Group,
    variables: &Environment,
    warnings: &mut Vec<String>,
) -> Result<Models, ConfigError> {
    let prefix = "LLM_";
    for (variable, key) in variables.with_prefix(prefix) {
        let key = key.to_ascii_lowercase();
        if !LlmSection::KEYS.contains(&&*key)
            && let Some(meant) = nearest(&key, LlmSection::KEYS.iter().copied())
        {
            let meant = meant.to_ascii_uppercase();
            warnings.push(format!(
                "the variable {variable} is not known, did you mean {prefix}{meant}?"
            ));
        }
    }
    let mut base = group.base;
    if base.section.is_empty() {
        base = Fields::new("llm");
    }
    let base = base.overridden(LlmSection::KEYS, prefix, variables);
    let named = group.named.into_iter().map(|(name, own)| {
        let key = if own.has("api_key") {
            KeyAt::Here
        } else if base.has("api_key") {
            KeyAt::Inherited(service_of(&base).map(Box::new))
        } else {
            KeyAt::Nowhere
        };
        let fields = typed(own.inherit(&base), warnings)?;
        let section = Some(format!("llm.{name}"));
        Ok((
            name,
            Ready {
                section,
                fields,
                key,
            },
        ))
    });
    let named = named.collect::<Result<Vec<_>, ConfigError>>()?;
    if base.is_empty() {
        return Ok((None, named));
    }
    let key = match base.origin("api_key") {
        Some(Origin::Variable(name)) => KeyAt::Variable(name.clone()),
        Some(Origin::Place(_)) => KeyAt::Here,
        None => KeyAt::Nowhere,
    };
    let section = Some("llm".to_owned());
    let fields = typed(base, warnings)?;
    Ok((
        Some(Ready {
            section,
            fields,
            key,
        }),
        named,
    ))
}

/// Which service the key of `[llm]` is meant for, if it says so.
fn service_of(base: &Fields) -> Option<Endpoint> {
    if !base.has("model") && !base.has("base_url") {
        return None;
    }
    let section = LlmSection::read(&mut base.clone()).ok()?;
    Endpoint::of(&section).ok()
}

fn typed(mut fields: Fields, warnings: &mut Vec<String>) -> Result<LlmSection, ConfigError> {
    let section = fields.section.clone();
    let costs = ["input_cost_per_token", "output_cost_per_token"];
    if let [Some(one), None] | [None, Some(one)] = costs.map(|key| fields.origin(key)) {
        let place = place(one);
        warnings.push(format!(
            "{place}: [{section}] gives one price of two: {} and {} count together only",
            costs[0], costs[1]
        ));
    }
    fields.take_known()
}
