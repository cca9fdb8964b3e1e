//! On which machine a measurement was made, and when: figures mean nothing without it.

use std::process::Command;

use serde_json::{Value, json};

use crate::console;
use crate::failure::{Failure, Trying};

pub(super) fn describe() -> Result<Value, Failure> {
    let read = |path: &str| std::fs::read_to_string(path).trying(format!("read {path}"));
    let cores = std::thread::available_parallelism().trying("count the cores")?;
    let memory = field(&read("/proc/meminfo")?, "MemTotal")
        .and_then(|text| text.trim_end_matches(" kB").parse::<u64>().ok());
    let now = console::output(Command::new("date").args(["-u", "+%Y-%m-%dT%H:%M:%SZ"]))?;
    Ok(json!({
        "cpu": field(&read("/proc/cpuinfo")?, "model name"),
        "cores": cores.get(),
        "memory_mb": memory.map(|kib| kib / 1024),
        "kernel": read("/proc/sys/kernel/osrelease")?.trim(),
        "date": now.trim(),
    }))
}

/// The value of the first line `name : value`.
pub(super) fn field(text: &str, name: &str) -> Option<String> {
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(key, _)| key.trim() == name)
        .map(|(_, value)| value.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_the_kernel_are_found() {
        let text = "processor\t: 0\nmodel name\t: A: fast one\nmodel name\t: B\n";
        assert_eq!(field(text, "model name").as_deref(), Some("A: fast one"));
        assert_eq!(field(text, "model"), None);
    }

    #[test]
    fn this_machine_can_be_described() {
        let machine = describe().unwrap();
        assert!(machine["cores"].as_u64().unwrap() > 0);
        assert!(machine["memory_mb"].as_u64().unwrap() > 0);
        assert!(machine["date"].as_str().unwrap().ends_with('Z'));
    }
}
