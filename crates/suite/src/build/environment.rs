//! The environment of a task, from its own words, `desktop_image` and the suite's defaults.

use agon_core::environment::{Environment, EnvironmentKind};

use crate::format::{EnvironmentFile, ImageName};
use crate::source::{Node, NodeError};

/// Which kinds a key belongs to, where not to all.
const ONLY_FOR: [(&str, &[EnvironmentKind]); 10] = [
    (
        "image",
        &[EnvironmentKind::Container, EnvironmentKind::Desktop],
    ),
    (
        "grading",
        &[EnvironmentKind::Container, EnvironmentKind::Desktop],
    ),
    (
        "fresh_checks",
        &[EnvironmentKind::Container, EnvironmentKind::Desktop],
    ),
    ("cpus", &[EnvironmentKind::Container]),
    ("cwd", &[EnvironmentKind::Container]),
    ("screen", &[EnvironmentKind::Desktop]),
    ("apps", &[EnvironmentKind::Desktop]),
    (
        "programs",
        &[EnvironmentKind::Local, EnvironmentKind::Desktop],
    ),
    ("gl", &[EnvironmentKind::Desktop]),
    ("settle", &[EnvironmentKind::Desktop]),
];

/// `task` is the root of the task's file, for places in it.
pub(super) fn environment(
    own: EnvironmentFile,
    desktop_image: Option<ImageName>,
    defaults: &EnvironmentFile,
    task: &Node,
    errors: &mut Vec<NodeError>,
) -> Environment {
    let kind = own
        .kind
        .or(desktop_image.as_ref().map(|_| EnvironmentKind::Desktop))
        .or(defaults.kind)
        .unwrap_or(EnvironmentKind::Local);
    let written = task.get("environment");
    let head = written.map_or_else(|| task.head(), Node::head);

    for (key, kinds) in ONLY_FOR {
        if let Some(span) = written.and_then(|node| node.key_span(key))
            && !kinds.contains(&kind)
        {
            errors.push(
                NodeError::new(format!("`{key}` does not belong to a {kind} environment"))
                    .help(format!("it is for kind: {}", names(kinds)))
                    .at(span),
            );
        }
    }
    let takes_image = ONLY_FOR[0].1.contains(&kind);
    if let Some(span) = task.key_span("desktop_image") {
        if own.image.is_some() {
            let message = "the image is named twice: here and in `environment`";
            errors.push(NodeError::new(message).at(span));
        } else if !takes_image {
            let message = format!("`desktop_image` does not belong to a {kind} environment");
            errors.push(NodeError::new(message).at(span));
        }
    }

    let image = own
        .image
        .clone()
        .or(desktop_image)
        .or_else(|| defaults.image.clone().filter(|_| takes_image));
    if kind == EnvironmentKind::Container && image.is_none() {
        errors.push(
            NodeError::new("a container needs an image")
                .help("add `image: debian:12`, or the name of an image of yours")
                .at(head),
        );
    }

    let desktop = kind == EnvironmentKind::Desktop;
    for key in ["grading", "fresh_checks"] {
        if let Some(span) = written.and_then(|node| node.key_span(key))
            && desktop
            && image.is_none()
        {
            let message = format!("`{key}` does not belong to a desktop without an image");
            errors.push(
                NodeError::new(message)
                    .help("its checks always run in a fresh sandbox: leave the key out")
                    .at(span),
            );
        }
    }
    if let Some(span) = written.and_then(|node| node.key_span("fresh_checks"))
        && own.grading.is_some()
    {
        errors.push(
            NodeError::new("where checks run is said twice: by `grading` and by `fresh_checks`")
                .help("leave out `fresh_checks`")
                .at(span),
        );
    }

    if let Some(span) = written.and_then(|node| node.key_span("programs"))
        && desktop
        && image.is_some()
    {
        errors.push(
            NodeError::new("`programs` does not belong to a desktop with an image")
                .help("put the programs into the image")
                .at(span),
        );
    }

    let shows_programs = image.is_none() && (desktop || kind == EnvironmentKind::Local);
    let said = own.over(defaults);
    let basis = Environment::of_kind(kind);
    Environment {
        kind,
        network: said.network.map_or(basis.network, |network| network.0),
        memory: said.memory.unwrap_or(basis.memory),
        processes: said.processes.unwrap_or(basis.processes),
        cpus: said.cpus.filter(|_| kind == EnvironmentKind::Container),
        disk: said.disk.unwrap_or(basis.disk),
        env: said.env.into_iter().map(|(k, v)| (k.0, v)).collect(),
        cwd: said
            .cwd
            .filter(|_| kind == EnvironmentKind::Container)
            .map(|folder| folder.0),
        grading: said.grading.filter(|_| image.is_some()).unwrap_or_default(),
        image: image.map(|image| image.0),
        screen: said.screen.filter(|_| desktop).map(|screen| screen.0),
        apps: said.apps.filter(|_| desktop).unwrap_or_default(),
        programs: said
            .programs
            .filter(|_| shows_programs)
            .unwrap_or_default()
            .into_iter()
            .map(|program| program.0)
            .collect(),
        gl: said.gl.unwrap_or(false) && desktop,
        settle: said.settle.filter(|_| desktop),
        group: said.group,
    }
}

fn names(kinds: &[EnvironmentKind]) -> String {
    let names: Vec<_> = kinds.iter().map(|kind| kind.name()).collect();
    names.join(", ")
}
