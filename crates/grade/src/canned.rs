//! A sandbox for tests of decisions: every program ends as the test says, and every call is noted.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use agon_core::check::{Check, CheckKind, Stream, TextTest};
use agon_core::files::{FileEntry, FileTree};
use agon_core::{
    Action, CutOff, Digest, Environment, EnvironmentKind, Fault, FaultClass, Picture, Task, TaskId,
    Verdict, VerifyOnly,
};
use agon_sandbox::{
    Captured, Exec, ExecOutput, Exit, Frozen, Moment, Owner, Piped, Provider, Request, Sandbox,
    SandboxError, Terminal, WorkArchive,
};
use async_trait::async_trait;

use crate::desk::{Desk, Told};
use crate::evidence::{Evidence, SightEvidence};
use crate::flow::PictureSource;
use crate::grader::grade;
use crate::place::Place;

type Answer = dyn Fn(&Exec) -> Result<ExecOutput, SandboxError> + Send + Sync;

#[derive(Clone)]
pub(crate) struct Canned {
    answer: Arc<Answer>,
    pub calls: Arc<Mutex<Vec<String>>>,
    /// What unpacking answers.
    pub refuses_archives: Option<fn() -> SandboxError>,
    /// What copying files in answers.
    pub refuses_files: Option<fn() -> SandboxError>,
    /// What reading a file answers, in place of what it holds.
    pub refuses_reading: Option<fn() -> SandboxError>,
    /// Is never destroyed.
    pub stays: bool,
    /// What reading a file of this path answers.
    pub holds: Option<(&'static str, &'static str)>,
}

impl std::fmt::Debug for Canned {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Canned")
    }
}

impl Canned {
    pub(crate) fn new(
        answer: impl Fn(&Exec) -> Result<ExecOutput, SandboxError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            answer: Arc::new(answer),
            calls: Arc::default(),
            refuses_archives: None,
            refuses_files: None,
            refuses_reading: None,
            stays: false,
            holds: None,
        }
    }

    fn note(&self, call: impl Into<String>) {
        self.calls.lock().unwrap().push(call.into());
    }
}

#[async_trait]
impl Provider for Canned {
    async fn prepare(&self, _: &Request) -> Result<Box<dyn Sandbox>, SandboxError> {
        self.note("prepare");
        Ok(Box::new(self.clone()))
    }
    async fn describe(&self) -> Result<String, SandboxError> {
        Ok("canned".into())
    }
}

#[async_trait]
impl Sandbox for Canned {
    async fn exec(&self, exec: &Exec) -> Result<ExecOutput, SandboxError> {
        self.note("exec");
        (self.answer)(exec)
    }
    async fn unpack(&self, _: &WorkArchive) -> Result<(), SandboxError> {
        self.note("unpack");
        self.refuses_archives.map_or(Ok(()), |error| Err(error()))
    }
    async fn copy_in(&self, _: &FileTree, into: &str) -> Result<(), SandboxError> {
        self.note(format!("copy {into}"));
        self.refuses_files.map_or(Ok(()), |error| Err(error()))
    }
    async fn destroy(self: Box<Self>) {
        self.note("destroy");
        if self.stays {
            std::future::pending().await
        }
    }
    async fn spawn(&self, _: &Exec) -> Result<Piped, SandboxError> {
        unused()
    }
    async fn terminal(&self, _: &Exec) -> Result<Terminal, SandboxError> {
        unused()
    }
    async fn kill_command(&self, _: u32, _: Moment) -> Result<bool, SandboxError> {
        unused()
    }
    async fn read(&self, path: &str, _: u64) -> Result<Vec<u8>, SandboxError> {
        self.note(format!("read {path}"));
        if let Some(error) = self.refuses_reading {
            return Err(error());
        }
        match self.holds {
            Some((held, text)) if held == path => Ok(text.into()),
            _ => Err(SandboxError::Denied(format!("no {path}"))),
        }
    }
    async fn write(&self, _: &str, _: &[u8]) -> Result<(), SandboxError> {
        unused()
    }
    async fn freeze(&mut self) -> Result<Frozen, SandboxError> {
        unused()
    }
}

fn unused<T>() -> Result<T, SandboxError> {
    Err(SandboxError::Gone("grading does not need this".into()))
}

/// A task with these checks and the scripts `check.py` and `check.sh` in `verify/`.
pub(crate) fn task(checks: Vec<Check>) -> Task {
    let mut verify = FileTree::default();
    for path in ["check.py", "check.sh"] {
        let entry = FileEntry {
            path: path.into(),
            // Any file that has no `#!` line.
            source: concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml").into(),
            executable: false,
            size: 0,
            digest: Digest::of(b""),
        };
        verify.push(entry).unwrap();
    }
    Task {
        actions: Vec::new(),
        verify: VerifyOnly::new(verify),
        checks: VerifyOnly::new(checks),
        ..Task::plain(
            TaskId::parse("grade/example").unwrap(),
            "",
            Environment::of_kind(EnvironmentKind::Local),
        )
    }
}

/// An entry of a frozen working folder.
#[derive(Debug, Clone)]
pub(crate) enum Left {
    File(&'static str, Vec<u8>),
    Folder(&'static str),
    Link(&'static str, &'static str),
    /// A hard link.
    Same(&'static str, &'static str),
}

pub(crate) fn archive(entries: &[Left], left_out: u64) -> WorkArchive {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let mut tar = tar::Builder::new(&mut file);
    for entry in entries {
        let mut header = tar::Header::new_gnu();
        header.set_mode(0o644);
        match entry {
            Left::File(path, content) => {
                header.set_size(content.len() as u64);
                tar.append_data(&mut header, format!("./{path}"), &content[..])
                    .unwrap();
            }
            Left::Folder(path) => {
                header.set_entry_type(tar::EntryType::Directory);
                header.set_size(0);
                tar.append_data(&mut header, path, std::io::empty())
                    .unwrap();
            }
            Left::Link(path, target) | Left::Same(path, target) => {
                header.set_entry_type(match entry {
                    Left::Same(..) => tar::EntryType::Link,
                    _ => tar::EntryType::Symlink,
                });
                header.set_size(0);
                tar.append_link(&mut header, path, target).unwrap();
            }
        }
    }
    tar.into_inner().unwrap();
    WorkArchive::with_left_out(file.into_temp_path(), left_out).unwrap()
}

/// What a trial left behind, owned.
#[derive(Debug, Default)]
pub(crate) struct Remains {
    pub files: Vec<Left>,
    /// Entries that could not be taken.
    pub left_out: u64,
    pub result: Option<&'static str>,
    pub actions: Vec<Action>,
    pub sight: Option<SightEvidence>,
    /// By somebody else.
    pub told: bool,
}

pub(crate) fn request() -> Request {
    Request {
        environment: Environment::of_kind(EnvironmentKind::Local),
        owner: Owner {
            run: "run".into(),
            trial: "trial".into(),
        },
        read_only: Vec::new(),
        display: None,
        work: None,
        start: Duration::from_secs(10),
    }
}

pub(crate) async fn graded(
    task: &Task,
    remains: &Remains,
    place: &Place<'_>,
) -> Result<Verdict, Fault> {
    let work = archive(&remains.files, remains.left_out);
    let evidence = Evidence {
        cut_off: &CutOff::after_freeze(),
        work: Some(&work),
        changes: None,
        result: remains.result,
        actions: &remains.actions,
        sight: remains.sight.as_ref(),
        flow: &[],
        pictures: &NoPictures,
        told: remains.told,
    };
    let desk = Desk {
        place,
        judge: None,
        told: &Told::default(),
    };
    grade(task, &evidence, &desk).await
}

/// A record without any.
#[derive(Debug)]
pub(crate) struct NoPictures;

impl PictureSource for NoPictures {
    fn load(&self, picture: &Picture) -> Result<Arc<[u8]>, Fault> {
        let why = format!("there is no {picture:?}");
        Err(Fault::new(FaultClass::Evidence, why))
    }
}

pub(crate) fn check(kind: CheckKind, weight: f64) -> Check {
    Check {
        name: None,
        weight,
        kind,
    }
}

pub(crate) fn answers(text: &str, weight: f64) -> Check {
    let tests = vec![TextTest::Contains(text.to_owned())];
    check(CheckKind::ReturnedResult { tests }, weight)
}

pub(crate) fn prints(text: &str) -> Check {
    let kind = CheckKind::CommandOutput {
        command: "true".into(),
        stream: Stream::Stdout,
        tests: vec![TextTest::Equals(text.to_owned())],
        exit_status: Some(0),
    };
    check(kind, 1.0)
}

pub(crate) fn scripted() -> Check {
    let kind = CheckKind::Script {
        path: "check.sh".into(),
        args: vec![],
    };
    check(kind, 1.0)
}

pub(crate) fn rewarded() -> Check {
    let kind = CheckKind::Reward {
        script: "check.sh".into(),
    };
    check(kind, 1.0)
}

/// Every command prints `ok`, every script says 0.5.
pub(crate) fn saying_ok() -> Canned {
    Canned::new(|exec| {
        let nonce = String::from_utf8_lossy(&exec.stdin).trim().to_owned();
        Ok(ExecOutput {
            exit: Exit::Code(0),
            stdout: Captured {
                bytes: b"ok".to_vec(),
                omitted: 0,
            },
            stderr: Captured::default(),
            verdict: format!("{{\"nonce\":\"{nonce}\",\"score\":0.5}}").into_bytes(),
        })
    })
}

pub(crate) async fn grade_in(provider: &Canned, checks: Vec<Check>) -> Result<Verdict, Fault> {
    let request = request();
    let place = Place::Fresh {
        provider,
        request: &request,
    };
    let remains = Remains {
        result: Some("a"),
        ..Remains::default()
    };
    graded(&task(checks), &remains, &place).await
}
