//! Carries out a task's checks, one by one, and puts the verdict together.

use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use agon_core::check::{Check, CheckKind, ProseSubject};
use agon_core::files::FileTree;
use agon_core::{CheckResult, Fault, FaultClass, RanCommand, SightTest, Task, Verdict};
use agon_sandbox::{ArchiveIndex, Changes, Exec, ExecOutput, Words, WorkArchive, treacherous};
use tokio::sync::OnceCell;

use crate::combine::{self, Credit};
use crate::command::Expected;
use crate::desk::Desk;
use crate::earlier::Printed;
use crate::evidence::Evidence;
use crate::finding::{Finding, bad_check};
use crate::judge::{Question, Shown};
use crate::place::{Left, Place, Ran};
use crate::printed::READ;
use crate::reason::shown;
use crate::screens::Screens;
use crate::script::{self, Nonce};
use crate::side::{on_the_side, within};
use crate::{earlier, file, interpreter, office, record, returned, reward};

/// The sign that the agent made more than an archive may hold.
const LEFT_OUT: &str = "left out of the archive";

/// What is longer, or further back, is no script that names a program.
const LONGEST_SCRIPT: u64 = 256 << 10;
const MOST_SCRIPTS: usize = 200;

/// The sign that it left a link to what a check reads or says itself.
const LED_AWAY: &str = "link out of the working folder";

/// Carries out a task's checks. A fault means: could not be graded.
pub async fn grade(
    task: &Task,
    evidence: &Evidence<'_>,
    desk: &Desk<'_>,
) -> Result<Verdict, Fault> {
    let checks = task.checks.open(evidence.cut_off);
    if checks.is_empty() {
        return Err(bad_check("no check ran: the task has none"));
    }
    let grading = Grading {
        task,
        evidence,
        desk,
        place: desk.place,
        files: OnceCell::new(),
        links: OnceCell::new(),
        replaced: OnceCell::new(),
        screens: OnceCell::new(),
    };
    if task.needs_judge() && desk.judge.is_none() {
        // What an environment shows may be gone with it, and a judge may come later.
        if desk.place.is_lost_with_the_trial() {
            grading.keep_commands(checks).await?;
        }
        return Err(Fault::new(
            FaultClass::NeedsJudge,
            "a check is prose (`value`) and needs a judge, and there is none: give it `equals`, \
             `contains` or `matches`, or name a judge with --judge",
        ));
    }
    let found = grading.all(checks, Credit::Full).await?;
    Ok(Verdict {
        passed: found.passed,
        score: found.score,
        checks: found.parts,
    })
}

struct Grading<'a> {
    task: &'a Task,
    evidence: &'a Evidence<'a>,
    desk: &'a Desk<'a>,
    place: &'a Place<'a>,
    /// What the archive holds of the files that checks ask for; made by the first that does.
    files: OnceCell<Arc<ArchiveIndex>>,
    /// A link that leads to what a check says itself; looked for by the first that runs a program.
    links: OnceCell<Option<(PathBuf, PathBuf)>>,
    /// What the agent made of the programs of the environment, where it is the one that it used.
    replaced: OnceCell<Option<Finding>>,
    /// The pictures, decoded by the first check that looks at them.
    screens: OnceCell<Screens>,
}

impl Grading<'_> {
    /// Runs every command that a check looks at, for the record alone.
    async fn keep_commands(&self, checks: &[Check]) -> Result<(), Fault> {
        for check in checks {
            match &check.kind {
                CheckKind::CommandOutput { command, .. }
                | CheckKind::Prose {
                    subject: ProseSubject::CommandOutput { command },
                    ..
                } => drop(self.printed(command).await?),
                CheckKind::All { checks, .. } | CheckKind::Any { checks } => {
                    Box::pin(self.keep_commands(checks)).await?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    async fn check(&self, check: &Check) -> Result<CheckResult, Fault> {
        let finding = match &check.kind {
            CheckKind::File { path, test } => {
                let (path, test) = (path.clone(), test.clone());
                self.files(move |files, deadline| file::check(&path, &test, files, deadline))
                    .await
            }
            CheckKind::CommandOutput {
                command,
                stream,
                tests,
                exit_status,
            } => {
                let expected = Expected {
                    stream: *stream,
                    tests,
                    exit_status: *exit_status,
                };
                self.command(command, &expected).await
            }
            CheckKind::Script { path, args } => self.script(path, args).await,
            CheckKind::Reward { script } => self.reward(script).await,
            CheckKind::ReturnedResult { tests } => returned::check(tests, self.evidence.result),
            CheckKind::Answer(test) => Ok(Finding::answered(test.judge(self.evidence.result))),
            CheckKind::Events { must, must_not } => {
                record::check(must, must_not, self.evidence.actions)
            }
            CheckKind::Sight(test) => self.sight(test).await,
            CheckKind::Spreadsheet(test) => {
                let test = test.clone();
                self.files(move |files, deadline| {
                    file::content(&test.path, files, |content| {
                        office::spreadsheet(&test, content, deadline)
                    })
                })
                .await
            }
            CheckKind::Document(test) => {
                let test = test.clone();
                self.files(move |files, deadline| {
                    file::content(&test.path, files, |content| {
                        office::document(&test, content, deadline)
                    })
                })
                .await
            }
            CheckKind::Prose { subject, value } => self.prose(subject, value).await,
            CheckKind::All { checks, partial } => {
                let credit = if *partial {
                    Credit::Partial
                } else {
                    Credit::Full
                };
                Box::pin(self.all(checks, credit)).await
            }
            CheckKind::Any { checks } => Box::pin(self.any(checks)).await,
        };
        let finding = finding.map_err(|fault| Fault {
            message: format!("{}: {}", check.label(), fault.message),
            ..fault
        })?;
        let tainted = finding.tainted || self.evidence.told;
        Ok(Finding { tainted, ..finding }.into_result(check))
    }

    /// Looks at files of the frozen working folder.
    async fn files(
        &self,
        look: impl FnOnce(&ArchiveIndex, Instant) -> Result<Finding, Fault> + Send + 'static,
    ) -> Result<Finding, Fault> {
        let work = self
            .evidence
            .work
            .ok_or_else(|| bad_check("the environment is `none`: there are no files to check"))?;
        if let Some(finding) = self.left_out() {
            return Ok(finding);
        }
        let files = Arc::clone(self.files.get_or_try_init(|| self.index(work)).await?);
        let limit = self.task.limits.check;
        within(limit, move |deadline| look(&files, deadline)).await
    }

    async fn index(&self, work: &WorkArchive) -> Result<Arc<ArchiveIndex>, Fault> {
        let archive = work.open().map_err(file::unreadable)?;
        let paths = file::paths(self.task.checks.open(self.evidence.cut_off));
        on_the_side(move || ArchiveIndex::of(archive, paths).map_err(file::unreadable))
            .await
            .map(Arc::new)
    }

    async fn command(&self, command: &str, expected: &Expected<'_>) -> Result<Finding, Fault> {
        expected.must_test_something()?;
        if let Some(finding) = self.spoiled().await? {
            return Ok(finding);
        }
        let ran = match earlier::output(self.desk, command)? {
            Some(Printed::Whole(output)) => Ran::Ended(output),
            Some(Printed::Text(text)) => {
                return Ok(Finding {
                    tainted: self.place.tainted(),
                    ..expected.judge_text(&text)?
                });
            }
            None => self.run(command).await?,
        };
        self.found(ran, |output| expected.judge(output))
    }

    /// Runs a command, and keeps what it printed.
    async fn run(&self, command: &str) -> Result<Ran, Fault> {
        let mut exec = Exec::shell(command, self.task.limits.check.duration());
        exec.keep = READ;
        let words = Words::of(command);
        let ran = self.place.run(self.left(&words), None, &exec).await?;
        if let Ran::Ended(output) = &ran {
            earlier::keep(self.desk, command, output);
        }
        Ok(ran)
    }

    async fn script(&self, path: &str, args: &[String]) -> Result<Finding, Fault> {
        let nonce = Nonce::draw()?;
        let tree = self.task.verify.open(self.evidence.cut_off);
        let verify = script::place(&nonce);
        let timeout = self.task.limits.check.duration();
        let running = self.place.running();
        let exec = script::exec(tree, &verify, path, args, &nonce, timeout, running)?;
        if let Some(finding) = self.spoiled().await? {
            return Ok(finding);
        }
        let mut words = words_of(tree).await?;
        args.iter().for_each(|arg| words.add(arg));
        let ran = self
            .place
            .run(self.left(&words), Some((tree, &verify)), &exec)
            .await?;
        if let Ran::Ended(output) = &ran
            && script::never_began(output, running)
            && let Some(entry) = tree.find(path.as_ref())
            && let Some(program) = interpreter::program(entry)?
            && !self.place.image_has(&program).await?
        {
            return Err(bad_check(format!(
                "verify/{path} is for `{program}`, which the image does not have"
            )));
        }
        self.found(ran, |output| Ok(script::judge(&nonce, output)))
    }

    async fn reward(&self, script: &str) -> Result<Finding, Fault> {
        let tests = self.task.verify.open(self.evidence.cut_off);
        let cwd = self.task.environment.cwd.as_deref();
        let timeout = self.task.limits.check.duration();
        let exec = reward::exec(tests, script, cwd, timeout)?;
        // Where the agent was, all that it left is still there.
        let found = match self.place.tainted() {
            true => self.replaced().await?,
            false => self.spoiled().await?,
        };
        if let Some(finding) = found {
            return Ok(finding);
        }
        let words = words_of(tests).await?;
        let (ran, rewards) = self.place.rewarded(self.left(&words), tests, &exec).await?;
        let [text, json] = &rewards;
        self.found(ran, |output| {
            Ok(reward::judge(output, [text.as_deref(), json.as_deref()]))
        })
    }

    async fn sight(&self, test: &SightTest) -> Result<Finding, Fault> {
        let evidence = self
            .evidence
            .sight
            .ok_or_else(|| bad_check("there is no last screen to look at"))?;
        let screens = self
            .screens
            .get_or_try_init(|| Screens::of(evidence))
            .await?;
        let verify = self.task.verify.open(self.evidence.cut_off);
        let limit = self.task.limits.check;
        screens.look(test, evidence, verify, limit).await
    }

    /// Asks the judge.
    async fn prose(&self, subject: &ProseSubject, value: &str) -> Result<Finding, Fault> {
        let Some(bench) = self.desk.judge else {
            let why = "prose needs a judge, and there is none";
            return Err(Fault::new(FaultClass::NeedsJudge, why));
        };
        let ran = match subject {
            ProseSubject::CommandOutput { command } => match self.printed(command).await? {
                Ok(ran) => Some(ran),
                Err(finding) => return Ok(finding),
            },
            _ => None,
        };
        let question = Question {
            instruction: self.task.instruction.show(),
            subject,
            value,
            shown: Shown {
                result: self.evidence.result,
                last: self.evidence.sight.map(|sight| &*sight.last),
                flow: self.evidence.flow,
                pictures: self.evidence.pictures,
                ran: ran.as_ref(),
            },
        };
        let (passed, judged) = bench.ask(&question, self.desk.told).await?;
        Ok(Finding {
            tainted: ran.is_some_and(|ran| ran.tainted),
            ..Finding::judged(passed, judged)
        })
    }

    /// What a command printed, for a judge; or why the check has failed without one.
    async fn printed(&self, command: &str) -> Result<Result<RanCommand, Finding>, Fault> {
        if let Some(finding) = self.spoiled().await? {
            return Ok(Err(finding));
        }
        if let Some(ran) = earlier::find(self.desk, command)? {
            return Ok(Ok(ran));
        }
        match self.run(command).await? {
            Ran::Ended(_) => self
                .desk
                .told
                .ran(command)
                .map(Ok)
                .ok_or_else(|| bad_check("what the command printed was not kept")),
            Ran::Spoiled(why) => Ok(Err(Finding::fail(why))),
        }
    }

    /// What is laid out for a check with these words.
    fn left<'a>(&'a self, words: &'a Words) -> Left<'a> {
        Left {
            work: self.evidence.work,
            changes: self.evidence.changes,
            words,
        }
    }

    /// What the agent made of the programs that a check relies on, where it could.
    async fn replaced(&self) -> Result<Option<Finding>, Fault> {
        let look = || self.place.replaced();
        self.replaced.get_or_try_init(look).await.cloned()
    }

    /// An agent that leaves more than can be kept could hide anything in the rest.
    fn left_out(&self) -> Option<Finding> {
        let count = self.evidence.work?.left_out();
        let entries = if count == 1 { "entry" } else { "entries" };
        let reason = format!("{count} {entries} of the working folder could not be taken");
        (count > 0).then(|| Finding::tampered(LEFT_OUT, reason))
    }

    /// Why no program of a check may run on what the agent left.
    async fn spoiled(&self) -> Result<Option<Finding>, Fault> {
        if let Some(finding) = self.left_out() {
            return Ok(Some(finding));
        }
        if let Some(count) = self.evidence.changes.map(Changes::left_out)
            && count > 0
        {
            let reason = format!("{count} of what was changed in the container could not be taken");
            return Ok(Some(Finding::tampered(LEFT_OUT, reason)));
        }
        if let Some(finding) = self.replaced().await? {
            return Ok(Some(finding));
        }
        let Some(work) = self.evidence.work else {
            return Ok(None);
        };
        let changes = self.evidence.changes;
        let look = || async {
            let work = work.open().map_err(file::unreadable)?;
            let changes = changes.map(Changes::file).transpose();
            let changes = changes.map_err(file::unreadable)?;
            on_the_side(move || treacherous(&work, changes.as_ref()).map_err(file::unreadable))
                .await
        };
        let found = self.links.get_or_try_init(look).await?;
        Ok(found.as_ref().map(|(link, target)| {
            let [link, target] = [link, target].map(|path| shown(path.as_os_str().as_bytes()));
            let reason = format!("{link} is a link to {target}: it shows a check its own words");
            Finding::tampered(LED_AWAY, reason)
        }))
    }

    fn found(
        &self,
        ran: Ran,
        judge: impl FnOnce(&ExecOutput) -> Result<Finding, Fault>,
    ) -> Result<Finding, Fault> {
        let finding = match ran {
            Ran::Ended(output) => judge(&output)?,
            Ran::Spoiled(why) => Finding::fail(why),
        };
        Ok(Finding {
            tainted: self.place.tainted(),
            ..finding
        })
    }

    async fn all(&self, checks: &[Check], credit: Credit) -> Result<Finding, Fault> {
        let mut results = Vec::with_capacity(checks.len());
        for check in checks {
            results.push(self.check(check).await);
        }
        combine::all(checks, results, credit)
    }

    async fn any(&self, checks: &[Check]) -> Result<Finding, Fault> {
        let mut results = Vec::new();
        for check in checks {
            let result = self.check(check).await;
            let enough = combine::is_enough(&result);
            results.push(result);
            if enough {
                break;
            }
        }
        combine::any(results)
    }
}

/// The words of everything in a `verify` tree that is text, as far as scripts go.
async fn words_of(tree: &FileTree) -> Result<Words, Fault> {
    let tree = tree.clone();
    on_the_side(move || {
        let mut words = Words::default();
        for entry in tree
            .entries()
            .iter()
            .filter(|it| it.size <= LONGEST_SCRIPT)
            .take(MOST_SCRIPTS)
        {
            let mut text = Vec::new();
            let read = tree
                .open(entry)
                .and_then(|(_, content)| content.take(LONGEST_SCRIPT).read_to_end(&mut text));
            read.map_err(|error| bad_check(format!("verify/ can't be read: {error}")))?;
            words.add(&String::from_utf8_lossy(&text));
        }
        Ok(words)
    })
    .await
}

#[cfg(test)]
mod tests;
