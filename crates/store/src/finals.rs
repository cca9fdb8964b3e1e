//! Which lines of `trials.jsonl` count: of each trial the last one that is final. A process that is killed
//! after it wrote a result and before it took back the one before leaves two.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher as _;
use std::io;
use std::path::Path;

use serde::Deserialize;

use crate::lines;

/// The file as it was at one moment, whatever is written to it meanwhile.
#[derive(Debug, Default)]
pub(crate) struct Finals {
    /// Where the final lines begin that a later one replaces: hardly ever any.
    replaced: HashSet<u64>,
    /// Where the last whole line ended.
    pub(crate) end: u64,
    /// There was more behind it.
    pub(crate) torn: bool,
}

#[derive(Deserialize)]
struct Peek<'a> {
    #[serde(borrow)]
    task: Cow<'a, str>,
    epoch: u32,
    #[serde(rename = "final")]
    is_final: bool,
}

impl Finals {
    /// Lines that can't be read are passed over: whoever reads them wholly says so. Trials are known by a hash
    /// with a secret key: names would take many times the memory, and nobody can make two alike.
    pub(crate) fn read(path: &Path) -> io::Result<Self> {
        let mut finals = Self::default();
        let mut latest: HashMap<u64, u64> = HashMap::new();
        finals.torn = lines::for_each(path, |at, line| {
            finals.end = at + line.len() as u64 + 1;
            let Ok(peek) = serde_json::from_slice::<Peek<'_>>(line) else {
                return;
            };
            if peek.is_final {
                let trial = latest.hasher().hash_one((&peek.task, peek.epoch));
                finals.replaced.extend(latest.insert(trial, at));
            }
        })?;
        Ok(finals)
    }

    /// Whether the line that begins there, and says that it is final, counts.
    pub(crate) fn count(&self, at: u64) -> bool {
        !self.replaced.contains(&at)
    }
}
