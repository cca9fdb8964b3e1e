//! A tape that answers. All answers are in memory, found by the hash of their request; the requests
//! stay in the file and are read only to say what is different about one that has no answer.

use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use agon_core::{Digest, ModelFault};
use serde_json::Value;

use super::difference::{Shape, differences};
use super::file::{Call, Line, read};
use super::request::{conversation, key, wire_name};
use super::text::shortened;
use crate::account::Account;
use crate::error::LlmError;
use crate::key::Scrubber;
use crate::spec::Wire;

/// Answers by request hash.
#[derive(Debug)]
pub struct Tape {
    path: PathBuf,
    digest: Digest,
    answers: HashMap<Digest, Answers>,
    requests: Vec<Recorded>,
}

/// The answers to one request, in the order in which they were recorded.
#[derive(Debug, Default)]
struct Answers {
    all: Vec<Arc<Value>>,
    /// To whoever asked without an account.
    given: AtomicUsize,
}

impl Answers {
    /// The next one for this account: which one that is does not depend on who else asks meanwhile. The
    /// last is given again and again.
    fn next(&self, key: &Digest, account: Option<&Account>) -> Option<&Arc<Value>> {
        let last = self.all.len().checked_sub(1)?;
        let at = match account {
            Some(account) => account.turn(&format!("tape {key}")),
            None => self.given.fetch_add(1, Ordering::Relaxed),
        };
        self.all.get(at.min(last))
    }
}

/// A request that has an answer.
#[derive(Debug)]
struct Recorded {
    wire: Wire,
    model: Arc<str>,
    shape: Shape,
    at: u64,
    bytes: u64,
    line: u64,
}

impl Tape {
    pub fn open(path: &Path) -> Result<Self, LlmError> {
        let mut answers: HashMap<Digest, Answers> = HashMap::new();
        let mut requests = Vec::new();
        let mut models: BTreeSet<Arc<str>> = BTreeSet::new();
        let content = read(path, |call: Call| {
            let model = models.get(call.model.as_str()).cloned();
            let model = model.unwrap_or_else(|| call.model.as_str().into());
            models.insert(Arc::clone(&model));
            requests.push(Recorded {
                wire: call.wire,
                model,
                shape: Shape::of(&call.short, conversation(call.wire)),
                at: call.at,
                bytes: call.bytes,
                line: call.number,
            });
            let all = &mut answers.entry(call.key).or_default().all;
            all.push(Arc::new(call.response));
        })?;
        Ok(Self {
            path: path.to_owned(),
            digest: content.digest,
            answers,
            requests,
        })
    }

    /// Over everything that it says.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// The answer to a request, or what is different about it. Every account hears the answers from the
    /// first one on.
    pub fn answer(
        &self,
        wire: Wire,
        model: &str,
        body: &Value,
        account: Option<&Account>,
    ) -> Result<Arc<Value>, LlmError> {
        let body = Scrubber::clean(body);
        let key = key(wire, model, &body);
        let answers = self.answers.get(&key);
        match answers.and_then(|answers| answers.next(&key, account)) {
            Some(answer) => Ok(Arc::clone(answer)),
            None => Err(self.miss(wire, model, &body)),
        }
    }

    fn miss(&self, wire: Wire, model: &str, body: &Value) -> LlmError {
        let path = self.path.display();
        let what = match self.nearest(wire, model, body) {
            Some((line, lines)) => format!(
                "the nearest recorded one of {model}, in line {line}, is different:\n  {}",
                lines.join("\n  ")
            ),
            None => self.models(wire, model),
        };
        let why = format_args!("{path} has no answer to this request; {what}");
        LlmError::new(ModelFault::NotOnTape, why)
    }

    /// The request that shares the longest beginning of the conversation, and what differs.
    fn nearest(&self, wire: Wire, model: &str, body: &Value) -> Option<(u64, Vec<String>)> {
        let short = shortened(body, &mut |_, _| {}).unwrap_or_else(|| body.clone());
        let shape = Shape::of(&short, conversation(wire));
        let nearest = self
            .requests
            .iter()
            .filter(|request| request.wire == wire && *request.model == *model)
            .max_by_key(|request| shape.nearness(&request.shape))?;
        let recorded = self.read(nearest)?;
        Some((nearest.line, differences(&recorded, &short)))
    }

    /// The body of a recorded request, from the file.
    fn read(&self, request: &Recorded) -> Option<Value> {
        let mut line = vec![0; usize::try_from(request.bytes).ok()?];
        let file = File::open(&self.path).ok()?;
        file.read_exact_at(&mut line, request.at).ok()?;
        serde_json::from_slice::<Line>(&line).ok()?.body
    }

    /// Which models there are instead.
    fn models(&self, wire: Wire, model: &str) -> String {
        let names: BTreeSet<String> = self
            .requests
            .iter()
            .map(|request| format!("{} ({})", request.model, wire_name(request.wire)))
            .collect();
        let mut names: Vec<_> = names.into_iter().collect();
        let more = names.len().saturating_sub(8);
        names.truncate(8);
        let wire = wire_name(wire);
        match (names.is_empty(), more) {
            (true, _) => "it is empty".to_owned(),
            (false, 0) => format!("none is of {model} ({wire}), but of: {}", names.join(", ")),
            (false, more) => format!(
                "none is of {model} ({wire}), but of: {} and {more} others",
                names.join(", ")
            ),
        }
    }
}
