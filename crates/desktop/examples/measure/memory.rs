//! What 16 desktops take: every process of theirs, and what grew in the program that holds them.
//! Memory that several share is counted in equal parts.

use agon_desktop::{Desktop, DesktopConfig};

use crate::figure::{Failed, Figure};

const DESKTOPS: usize = 16;

pub(crate) fn of_16_desktops() -> Result<Vec<Figure>, Failed> {
    let us = std::process::id();
    let before = held(us)?;
    let mut desktops = Vec::new();
    let mut frames = Vec::new();
    for _ in 0..DESKTOPS {
        desktops.push(Desktop::start(&DesktopConfig::default())?);
    }
    for desktop in &desktops {
        let frame = desktop.screen().capture()?;
        if frame.size() != desktop.size() {
            return Err("a desktop has a frame of another size".into());
        }
        frames.push(frame);
    }
    let mut theirs = 0.0;
    for desktop in &desktops {
        let jail = desktop.process().ok_or("a desktop has no process")?;
        for pid in std::iter::once(jail).chain(descendants(jail)) {
            theirs += held(pid)?;
        }
    }
    let ours = held(us)? - before;
    let each = (theirs + ours) / DESKTOPS as f64;
    Ok(vec![Figure::new("desktops_16_mb_each", each, None).noting(
        format!(
            "processes of the desktops {:.1} MB each, the program that holds them {:.1} MB each",
            theirs / DESKTOPS as f64,
            ours / DESKTOPS as f64
        ),
    )])
}

/// Its part of the memory, in MB.
fn held(pid: u32) -> Result<f64, Failed> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup"))?;
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"));
    let kib = line
        .and_then(|line| line.trim().strip_suffix(" kB"))
        .ok_or("there is no Pss")?;
    Ok(kib.trim().parse::<f64>()? * 1024.0 / 1e6)
}

pub(crate) fn descendants(of: u32) -> Vec<u32> {
    let children = std::fs::read_to_string(format!("/proc/{of}/task/{of}/children"));
    let children = children.unwrap_or_default();
    let children = children
        .split_whitespace()
        .filter_map(|child| child.parse().ok());
    children
        .flat_map(|child| std::iter::once(child).chain(descendants(child)))
        .collect()
}

pub(crate) fn name_of(pid: u32) -> Option<String> {
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    Some(name.trim().to_owned())
}
