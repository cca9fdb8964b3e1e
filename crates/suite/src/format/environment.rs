//! The keys of `environment`, and how a task's stand over a suite's.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use agon_core::environment::{Grading, Network};
use agon_core::files::stays_inside;
use agon_core::{ByteSize, EnvironmentKind, SettleTime};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer};

use super::limits::at_least_one;

fn some_processors<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    match f64::deserialize(deserializer)? {
        count if (0.01..=1024.0).contains(&count) => Ok(Some(count)),
        count => Err(D::Error::custom(format!(
            "{count} processors? Expected a number such as 2 or 0.5"
        ))),
    }
}

#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "keys and values")]
pub(crate) struct EnvironmentFile {
    /// Without it: `desktop` beside `desktop_image`, otherwise `local`.
    pub(crate) kind: Option<EnvironmentKind>,
    /// Container or desktop: the image to start.
    pub(crate) image: Option<ImageName>,
    /// `none` (the default) or `open`.
    pub(crate) network: Option<NetworkFile>,
    /// Default: 1GiB.
    pub(crate) memory: Option<ByteSize>,
    /// Default: 256.
    #[serde(default, deserialize_with = "at_least_one")]
    #[schemars(range(min = 1))]
    pub(crate) processes: Option<u32>,
    /// Container: how many processors its programs may use together.
    #[serde(default, deserialize_with = "some_processors")]
    #[schemars(range(min = 0.01, max = 1024.0))]
    pub(crate) cpus: Option<f64>,
    /// Size of the working folder. Default: 256MiB.
    pub(crate) disk: Option<ByteSize>,
    /// Extra environment variables.
    #[serde(default)]
    pub(crate) env: BTreeMap<VariableName, String>,
    /// Container: the working folder. Default: /work.
    pub(crate) cwd: Option<FolderPath>,
    /// Container, or desktop with an image: where checks run. `fresh` (the default): in fresh containers
    /// over all that was changed, after the agent's was killed; `used`: in the agent's, after its processes
    /// were ended; `alive`: in the agent's, with all that runs there. The last two are marked tainted.
    pub(crate) grading: Option<Grading>,
    /// `true` is `grading: fresh`, `false` is `grading: used`.
    pub(crate) fresh_checks: Option<bool>,
    /// Desktop: `WIDTHxHEIGHT`.
    pub(crate) screen: Option<Screen>,
    /// Desktop: programs to start.
    pub(crate) apps: Option<Vec<String>>,
    /// Local, or desktop without an image: programs shown read-only at /opt/agon/bin, which is on
    /// PATH. A name is looked for beside agon and on the PATH of this machine, a path in the suite.
    pub(crate) programs: Option<Vec<ProgramName>>,
    /// Desktop: OpenGL, computed by the processor. Costs 53 MB and 22 ms per desktop. Default: false.
    pub(crate) gl: Option<bool>,
    /// Desktop: seconds to wait at most for the screen to come to rest after an action, or both bounds:
    /// `{ least: 0.2, most: 3 }`.
    pub(crate) settle: Option<SettleTime>,
    /// Trials of the same group never run at the same time.
    pub(crate) group: Option<String>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct NetworkFile(pub(crate) Network);

impl<'de> Deserialize<'de> for NetworkFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match text.as_str() {
            "none" | "false" => Ok(Self(Network::None)),
            "open" | "true" => Ok(Self(Network::Open)),
            _ => Err(D::Error::unknown_variant(&text, &["none", "open"])),
        }
    }
}

impl JsonSchema for NetworkFile {
    fn schema_name() -> Cow<'static, str> {
        "Network".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "enum": ["none", "open", false, true] })
    }
}

/// A reference to an image.
#[derive(Debug, Clone, JsonSchema)]
pub(crate) struct ImageName(pub(crate) String);

impl<'de> Deserialize<'de> for ImageName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text.is_empty() || text.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return Err(D::Error::custom(format!(
                "`{text}` is no image: expected a reference such as debian:12"
            )));
        }
        Ok(Self(text))
    }
}

/// A program's name, or its path inside of the suite.
#[derive(Debug, Clone, JsonSchema)]
pub(crate) struct ProgramName(pub(crate) String);

impl<'de> Deserialize<'de> for ProgramName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let odd = |c: char| c.is_whitespace() || c.is_control() || c == ':';
        if !stays_inside(Path::new(&text)) || text.ends_with('/') || text.contains(odd) {
            return Err(D::Error::custom(format!(
                "`{text}` is no program: expected a name such as hexagon, or a path inside of the suite"
            )));
        }
        Ok(Self(text))
    }
}

/// The name of an environment variable.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, JsonSchema)]
pub(crate) struct VariableName(pub(crate) String);

impl<'de> Deserialize<'de> for VariableName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let fits = !text.starts_with(|c: char| c.is_ascii_digit())
            && !text.is_empty()
            && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !fits {
            return Err(D::Error::custom(format!(
                "`{text}` is no variable name: use letters, digits and `_`"
            )));
        }
        Ok(Self(text))
    }
}

/// An absolute path of a folder in a container.
#[derive(Debug, Clone, JsonSchema)]
pub(crate) struct FolderPath(pub(crate) String);

impl<'de> Deserialize<'de> for FolderPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let fits = text.strip_prefix('/').is_some_and(|below| {
            (below.is_empty() || stays_inside(Path::new(below)))
                && !below.contains(char::is_control)
        });
        if !fits {
            return Err(D::Error::custom(format!(
                "`{text}` is no folder of a container: expected a path from the root such as /app, without `..`"
            )));
        }
        Ok(Self(text))
    }
}

/// `WIDTHxHEIGHT` in pixels.
#[derive(Debug, Clone)]
pub(crate) struct Screen(pub(crate) String);

impl<'de> Deserialize<'de> for Screen {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let side = |side: &str| {
            side.parse::<u32>()
                .is_ok_and(|n| (64..=8192).contains(&n) && n.to_string() == side)
        };
        match text.split_once('x') {
            Some((width, height)) if side(width) && side(height) => Ok(Self(text)),
            _ => Err(D::Error::custom(format!(
                "`{text}` is no screen: expected WIDTHxHEIGHT such as 1280x800, 64 to 8192 each"
            ))),
        }
    }
}

impl JsonSchema for Screen {
    fn schema_name() -> Cow<'static, str> {
        "Screen".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^[0-9]+x[0-9]+$", "examples": ["1280x800"] })
    }
}

impl EnvironmentFile {
    /// Where checks run, by either of the two keys.
    pub(crate) fn said_grading(&self) -> Option<Grading> {
        let by_fresh_checks = |fresh| match fresh {
            true => Grading::Fresh,
            false => Grading::Used,
        };
        self.grading.or(self.fresh_checks.map(by_fresh_checks))
    }

    /// What the task says, and where it says nothing, what the suite says. `image` is the task's
    /// own business: it makes no sense apart from `kind`.
    pub(crate) fn over(mut self, base: &Self) -> Self {
        let mut env = base.env.clone();
        env.append(&mut self.env);
        let grading = self.said_grading().or(base.said_grading());
        Self {
            kind: self.kind.or(base.kind),
            image: self.image,
            network: self.network.or(base.network),
            memory: self.memory.or(base.memory),
            processes: self.processes.or(base.processes),
            cpus: self.cpus.or(base.cpus),
            disk: self.disk.or(base.disk),
            env,
            cwd: self.cwd.or_else(|| base.cwd.clone()),
            grading,
            fresh_checks: None,
            screen: self.screen.or_else(|| base.screen.clone()),
            apps: self.apps.or_else(|| base.apps.clone()),
            programs: self.programs.or_else(|| base.programs.clone()),
            gl: self.gl.or(base.gl),
            settle: self.settle.or(base.settle),
            group: self.group.or_else(|| base.group.clone()),
        }
    }
}
