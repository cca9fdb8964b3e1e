//! What machine this is, for the manifest and for default limits.

use std::fs;

use agon_store::HostStamp;

pub(super) fn stamp(limits: String, engines: Vec<String>) -> HostStamp {
    HostStamp {
        os: os_name(),
        kernel: rustix::system::uname()
            .release()
            .to_string_lossy()
            .into_owned(),
        cpus: cpus() as u32,
        memory_mib: memory() >> 20,
        limits,
        engines,
    }
}

pub(super) fn cpus() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Bytes of memory that this machine has.
pub(super) fn memory() -> u64 {
    let info = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kib = info.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kib = kib.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    kib.map_or(4 << 30, |kib| kib << 10)
}

fn os_name() -> String {
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    let name = release
        .lines()
        .find_map(|line| line.strip_prefix("PRETTY_NAME="));
    name.map_or_else(
        || "Linux".to_owned(),
        |name| name.trim_matches('"').to_owned(),
    )
}
