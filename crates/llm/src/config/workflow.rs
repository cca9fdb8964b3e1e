//! The sections about agents and their sandboxes. They hinder nobody who does not ask for them: what is
//! wrong in one is its user's error, and a warning for everybody else.

use super::agent::{self, AgentSection};
use super::condenser::Condenser;
use super::core::Core;
use super::document::{Document, Group};
use super::environment::Environment;
use super::error::ConfigError;
use super::fields::{Fields, Section};
use super::nearest::nearest;
use super::sandbox::Sandbox;

type Read<T> = Result<T, ConfigError>;

/// `[core]`, `[sandbox]`, `[agent]` and `[condenser]`.
#[derive(Debug, Clone)]
pub struct Workflow {
    core: Read<Core>,
    sandbox: Read<Sandbox>,
    agent: Read<AgentSection>,
    agents: Vec<(String, Read<AgentSection>)>,
    condenser: Read<Option<Condenser>>,
    condensers: Vec<(String, Read<Condenser>)>,
}

impl Workflow {
    pub(super) fn read(
        document: &Document<'_>,
        variables: &Environment,
        warnings: &mut Vec<String>,
    ) -> Self {
        let core = document.section("core").and_then(|fields| {
            let mut fields = fields.unwrap_or_else(|| Fields::new("core"));
            // As elsewhere: new keys of [core] must not make old programs useless.
            while let Some(unknown) = fields.take_unknown(Core::KEYS) {
                warnings.push(unknown.to_string());
            }
            with_variables(fields, "", variables, warnings)
        });
        let sandbox = document.section("sandbox").and_then(|fields| {
            let fields = fields.unwrap_or_else(|| Fields::new("sandbox"));
            let mut sandbox: Sandbox = with_variables(fields, "SANDBOX_", variables, warnings)?;
            for (variable, name) in variables.with_prefix("SANDBOX_ENV_") {
                let value = variables.get(variable).unwrap_or_default();
                sandbox.runtime_startup_env_vars.insert(name, value);
            }
            Ok(sandbox)
        });
        let (agent, agents) = match document.group("agent", agent::TABLES) {
            Ok(group) => {
                let Group { base, named } = group.unwrap_or_default();
                let agents = named.into_iter().map(|(name, own)| {
                    let mut fields = own.inherit(&base);
                    (name, fields.take_known())
                });
                let agents = agents.collect();
                (with_variables(base, "AGENT_", variables, warnings), agents)
            }
            Err(error) => (Err(error), Vec::new()),
        };
        let (condenser, condensers) = match document.group("condenser", &[]) {
            Ok(group) => {
                let Group { base, named } = group.unwrap_or_default();
                let named = named
                    .into_iter()
                    .map(|(name, own)| (name, Condenser::read(own)));
                let base = match base {
                    base if base.is_empty() => Ok(None),
                    base => Condenser::read(base).map(Some),
                };
                (base, named.collect())
            }
            Err(error) => (Err(error), Vec::new()),
        };
        let read = Self {
            core,
            sandbox,
            agent,
            agents,
            condenser,
            condensers,
        };
        warnings.extend(read.errors());
        read
    }

    pub fn core(&self) -> Result<&Core, ConfigError> {
        self.core.as_ref().map_err(Clone::clone)
    }

    pub fn sandbox(&self) -> Result<&Sandbox, ConfigError> {
        self.sandbox.as_ref().map_err(Clone::clone)
    }

    /// `[agent.NAME]`, which inherits from `[agent]`; `[agent]` itself without a name.
    pub fn agent(&self, name: Option<&str>) -> Result<&AgentSection, ConfigError> {
        match name {
            None => self.agent.as_ref().map_err(Clone::clone),
            Some(name) => find("agent", name, &self.agents),
        }
    }

    /// `[condenser.NAME]`; `[condenser]` itself without a name, if there is one.
    pub fn condenser(&self, name: Option<&str>) -> Result<Option<&Condenser>, ConfigError> {
        match name {
            None => self
                .condenser
                .as_ref()
                .map(Option::as_ref)
                .map_err(Clone::clone),
            Some(name) => find("condenser", name, &self.condensers).map(Some),
        }
    }

    fn errors(&self) -> Vec<String> {
        let single = [
            self.core.as_ref().err(),
            self.sandbox.as_ref().err(),
            self.agent.as_ref().err(),
            self.condenser.as_ref().err(),
        ];
        let agents = self
            .agents
            .iter()
            .filter_map(|(_, read)| read.as_ref().err());
        let condensers = self
            .condensers
            .iter()
            .filter_map(|(_, read)| read.as_ref().err());
        let all = single.into_iter().flatten().chain(agents).chain(condensers);
        let mut texts: Vec<String> = all.map(ToString::to_string).collect();
        // What is inherited is wrong in one place only.
        texts.dedup();
        texts
    }
}

/// Variables win over the file, unless they can't be read: other programs have names like `DEBUG` too.
fn with_variables<T: Section>(
    fields: Fields,
    prefix: &str,
    variables: &Environment,
    warnings: &mut Vec<String>,
) -> Read<T> {
    let mut best = fields;
    best.clone().take_known::<T>()?;
    let is_set = |key: &&&str| {
        let variable = format!("{prefix}{}", key.to_ascii_uppercase());
        variables.get(&variable).is_some()
    };
    for key in T::KEYS.iter().filter(is_set) {
        let tried = best.clone().overridden(&[key], prefix, variables);
        match tried.clone().take_known::<T>() {
            Ok(_) => best = tried,
            Err(error) => warnings.push(error.to_string()),
        }
    }
    best.take_known()
}

fn find<'a, T>(
    kind: &'static str,
    name: &str,
    among: &'a [(String, Read<T>)],
) -> Result<&'a T, ConfigError> {
    let bare = name.trim().trim_start_matches('[').trim_end_matches(']');
    let bare = bare
        .strip_prefix(kind)
        .and_then(|rest| rest.strip_prefix('.'))
        .unwrap_or(bare);
    match among.iter().find(|(known, _)| known == bare) {
        Some((_, read)) => read.as_ref().map_err(Clone::clone),
        None => {
            let names: Vec<&str> = among.iter().map(|(name, _)| &**name).collect();
            Err(ConfigError::NoSection {
                kind,
                name: bare.chars().take(100).collect(),
                nearest: nearest(bare, names.iter().copied()),
                known: match &names[..] {
                    [] => format!("there is no [{kind}.NAME] at all"),
                    names => format!("there are: {}", names.join(", ")),
                },
            })
        }
    }
}
