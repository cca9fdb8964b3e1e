//! `task.toml` as the keys of one of our tasks. Values keep their places, so that a wrong one is told
//! where it stands.

use agon_core::Seconds;

use crate::error::SourceText;
use crate::source::{Content, Key, Node, NodeError, Span};

const BUILD: Seconds = Seconds::whole(600);
/// A turn has a deadline; steps are only there to end a turn that runs in circles.
const STEPS: &str = "200";
const TURN: &str = "600";
const CHECK: &str = "600";
const MEMORY: &str = "2GiB";

/// The keys that mean something to Harbor, by table. Those of `metadata` and `task` are anybody's.
const KNOWN: [(&str, &[&str]); 5] = [
    ("agent", &["timeout_sec", "network_mode"]),
    ("verifier", &["timeout_sec", "network_mode"]),
    (
        "environment",
        &[
            "build_timeout_sec",
            "docker_image",
            "cpus",
            "memory",
            "memory_mb",
            "storage",
            "storage_mb",
            "allow_internet",
            "network_mode",
            "env",
            "workdir",
        ],
    ),
    ("metadata", &[]),
    ("task", &[]),
];
const PLAIN: [&str; 3] = ["version", "schema_version", "source"];

pub(super) struct Settings<'a> {
    pub(super) node: &'a Node,
}

impl Settings<'_> {
    fn get(&self, table: &str, key: &str) -> Option<&Node> {
        self.node.get(table)?.get(key)
    }

    fn text(&self, table: &str, key: &str) -> Option<&str> {
        match &self.get(table, key)?.content {
            Content::Scalar { text, .. } => Some(text),
            Content::Sequence(_) | Content::Mapping(_) => None,
        }
    }

    pub(super) fn category(&self) -> Option<&str> {
        self.text("metadata", "category")
    }

    /// One that need not be made.
    pub(super) fn named_image(&self) -> Option<&Node> {
        self.get("environment", "docker_image")
    }

    pub(super) fn names_workdir(&self) -> bool {
        self.text("environment", "workdir").is_some()
    }

    pub(super) fn build_limit(&self) -> Result<Seconds, NodeError> {
        self.get("environment", "build_timeout_sec")
            .map_or(Ok(BUILD), Node::read)
    }

    /// The keys of the task; `image` counts where none is named, `cwd` likewise.
    pub(super) fn keys(&self, instruction: &str, image: &str, cwd: Option<&str>) -> Node {
        let mut pairs = vec![
            pair("task", scalar(instruction)),
            pair("limits", self.limits()),
            pair("environment", self.environment(image, cwd)),
            pair("tags", self.tags()),
        ];
        let reward = vec![
            pair("type", scalar("reward")),
            pair("script", scalar("test.sh")),
        ];
        let checks = Content::Sequence(vec![mapping(reward)]);
        pairs.push(pair("checks", at_start(checks)));
        mapping(pairs)
    }

    fn limits(&self) -> Node {
        let or = |table: &str, usual: &str| {
            self.get(table, "timeout_sec")
                .cloned()
                .unwrap_or_else(|| scalar(usual))
        };
        let turn = or("agent", TURN);
        mapping(vec![
            pair("steps", scalar(STEPS)),
            pair("seconds", turn.clone()),
            // Harbor ends turns, not commands.
            pair("command", turn),
            pair("check", or("verifier", CHECK)),
        ])
    }

    fn environment(&self, image: &str, cwd: Option<&str>) -> Node {
        let mut pairs = vec![
            pair("kind", scalar("container")),
            pair(
                "image",
                self.named_image().cloned().unwrap_or_else(|| scalar(image)),
            ),
            pair(
                "memory",
                self.size("memory").unwrap_or_else(|| scalar(MEMORY)),
            ),
            pair("network", scalar(self.network())),
            // Its verifier looks at the container that the agent used.
            pair("grading", scalar("used")),
        ];
        pairs.extend(self.size("storage").map(|node| pair("disk", node)));
        pairs.extend(
            self.get("environment", "env")
                .map(|node| pair("env", node.clone())),
        );
        pairs.extend(
            self.get("environment", "cpus")
                .map(|node| pair("cpus", node.clone())),
        );
        let cwd = self.text("environment", "workdir").or(cwd);
        pairs.extend(cwd.map(|folder| pair("cwd", scalar(folder))));
        mapping(pairs)
    }

    /// `memory_mb = 2048`, or `memory = "2G"`; powers of 1024, as container engines count.
    fn size(&self, key: &str) -> Option<Node> {
        let megabytes = format!("{key}_mb");
        let (node, text) = match self.get("environment", &megabytes) {
            Some(node) => (
                node,
                format!("{}MiB", self.text("environment", &megabytes)?),
            ),
            None => {
                let text = self.text("environment", key)?.trim();
                let text = match text.chars().last() {
                    Some('K' | 'M' | 'G' | 'k' | 'm' | 'g') => format!("{}iB", text.to_uppercase()),
                    _ => text.to_owned(),
                };
                (self.get("environment", key)?, text)
            }
        };
        Some(Node {
            span: node.span,
            content: Content::Scalar { text, plain: false },
        })
    }

    /// Harbor's tasks have the network unless they say otherwise.
    fn network(&self) -> &'static str {
        let mode = self
            .text("agent", "network_mode")
            .or_else(|| self.text("environment", "network_mode"));
        match (mode, self.text("environment", "allow_internet")) {
            (Some("public"), _) | (None, None | Some("true")) => "open",
            _ => "none",
        }
    }

    /// The tags of the metadata, and its difficulty.
    fn tags(&self) -> Node {
        let mut tags: Vec<Node> = self
            .get("metadata", "tags")
            .map_or(&[][..], Node::items)
            .to_vec();
        tags.extend(self.get("metadata", "difficulty").cloned());
        tags.retain(|tag| matches!(tag.content, Content::Scalar { .. }));
        at_start(Content::Sequence(tags))
    }

    /// What will not be as the file says.
    pub(super) fn oddities(&self, source: &SourceText) -> Vec<String> {
        let mut found: Vec<(usize, String)> = Vec::new();
        let mut odd = |span: Span, message: String| found.push((source.line(span.start), message));
        for (key, value) in self.node.pairs() {
            let known = KNOWN.iter().find(|(table, _)| *table == key.text);
            match known {
                Some((_, keys)) => {
                    let strange = |(inner, _): &&(Key, Node)| {
                        !keys.is_empty() && !keys.contains(&inner.text.as_str())
                    };
                    for (inner, _) in value.pairs().iter().filter(strange) {
                        let message = format!("`{}.{}` is not used", key.text, inner.text);
                        odd(inner.span, message);
                    }
                }
                None if PLAIN.contains(&key.text.as_str()) => {}
                None => odd(key.span, format!("`{}` is not used", key.text)),
            }
        }
        for table in ["agent", "verifier", "environment"] {
            if self.text(table, "network_mode") == Some("allowlist")
                && let Some(node) = self.get(table, "network_mode")
            {
                odd(
                    node.span,
                    "lists of hosts are not kept: there is no network".to_owned(),
                );
            }
        }
        found.sort();
        let told = |(line, message)| format!("task.toml:{line}: {message}");
        found.into_iter().map(told).collect()
    }
}

fn pair(key: &str, node: Node) -> (Key, Node) {
    let key = Key {
        text: key.to_owned(),
        span: node.span,
    };
    (key, node)
}

fn at_start(content: Content) -> Node {
    Node {
        span: Span { start: 0, end: 0 },
        content,
    }
}

fn scalar(text: &str) -> Node {
    at_start(Content::Scalar {
        text: text.to_owned(),
        plain: false,
    })
}

fn mapping(pairs: Vec<(Key, Node)>) -> Node {
    at_start(Content::Mapping(pairs))
}
