//! Carries out a task's checks, one by one, and puts the verdict together.

use std::sync::Arc;

use agon_core::check::{Check, CheckKind, ProseSubject};
use agon_core::{CheckResult, Fault, FaultClass, RanCommand, SightTest, Task, Verdict};
use agon_sandbox::{ArchiveIndex, Exec, ExecOutput, WorkArchive};
use tokio::sync::OnceCell;

use crate::combine::{self, Credit};
use crate::command::Expected;
use crate::desk::Desk;
use crate::evidence::Evidence;
use crate::finding::{Finding, bad_check};
use crate::judge::{Question, Shown};
use crate::place::{Place, Ran};
use crate::printed::READ;
use crate::screens::Screens;
use crate::script::{self, Nonce};
use crate::side::on_the_side;
use crate::{earlier, file, office, record, returned, reward};

/// The sign that the agent made more than an archive may hold.
const LEFT_OUT: &str = "left out of the archive";

/// Carries out a task's checks. A fault means: could not be graded.
pub async fn grade(
    task: &Task,
    evidence: &Evidence<'_>,
    desk: &Desk<'_>,
) -> Result<Verdict, Fault> {
    if task.needs_judge() && desk.judge.is_none() {
        return Err(Fault::new(
            FaultClass::NeedsJudge,
            "a check is prose (`value`) and needs a judge, and there is none: give it `equals`, \
             `contains` or `matches`, or name a judge with --judge",
        ));
    }
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
        screens: OnceCell::new(),
    };
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
    /// The pictures, decoded by the first check that looks at them.
    screens: OnceCell<Screens>,
}

impl Grading<'_> {
    async fn check(&self, check: &Check) -> Result<CheckResult, Fault> {
        let finding = match &check.kind {
            CheckKind::File { path, test } => {
                let (path, test) = (path.clone(), test.clone());
                self.files(move |files| file::check(&path, &test, files))
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
                self.files(move |files| {
                    file::content(&test.path, files, |content| {
                        office::spreadsheet(&test, content)
                    })
                })
                .await
            }
            CheckKind::Document(test) => {
                let test = test.clone();
                self.files(move |files| {
                    file::content(&test.path, files, |content| {
                        office::document(&test, content)
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
        Ok(finding.into_result(check))
    }

    /// Looks at files of the frozen working folder.
    async fn files(
        &self,
        look: impl FnOnce(&ArchiveIndex) -> Result<Finding, Fault> + Send + 'static,
    ) -> Result<Finding, Fault> {
        let work = self
            .evidence
            .work
            .ok_or_else(|| bad_check("the environment is `none`: there are no files to check"))?;
        if let Some(finding) = self.left_out() {
            return Ok(finding);
        }
        let files = Arc::clone(self.files.get_or_try_init(|| self.index(work)).await?);
        on_the_side(move || look(&files)).await
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
        if let Some(finding) = self.left_out() {
            return Ok(finding);
        }
        let earlier = earlier::find(self.desk, command)?;
        let ran = match &earlier {
            Some(ran) if ran.status.is_none() && expected.exit_status.is_some() => {
                return Err(bad_check("nobody knows how the command ended"));
            }
            Some(ran) => Ran::Ended(earlier::output(ran)?),
            None => self.run(command).await?,
        };
        self.found(ran, |output| expected.judge(output))
    }

    /// Runs a command, and keeps what it printed.
    async fn run(&self, command: &str) -> Result<Ran, Fault> {
        let mut exec = Exec::shell(command, self.task.limits.check.duration());
        exec.keep = READ;
        let ran = self.place.run(self.evidence.work, None, &exec).await?;
        if let Ran::Ended(output) = &ran {
            earlier::keep(self.desk, command, output);
        }
        Ok(ran)
    }

    async fn script(&self, path: &str, args: &[String]) -> Result<Finding, Fault> {
        let nonce = Nonce::draw()?;
        let tree = self.task.verify.open(self.evidence.cut_off);
        let verify = self.place.verify(&nonce);
        let timeout = self.task.limits.check.duration();
        let running = self.place.running();
        let exec = script::exec(tree, &verify, path, args, &nonce, timeout, running)?;
        if let Some(finding) = self.left_out() {
            return Ok(finding);
        }
        let ran = self
            .place
            .run(self.evidence.work, Some((tree, &verify)), &exec)
            .await?;
        self.found(ran, |output| script::judge(&nonce, output, running))
    }

    async fn reward(&self, script: &str) -> Result<Finding, Fault> {
        let tests = self.task.verify.open(self.evidence.cut_off);
        let cwd = self.task.environment.cwd.as_deref();
        let timeout = self.task.limits.check.duration();
        let exec = reward::exec(tests, script, cwd, timeout)?;
        // Where the agent was, all that it left is still there.
        let found = match self.place.tainted() {
            true => self.place.replaced().await?,
            false => self.left_out(),
        };
        if let Some(finding) = found {
            return Ok(finding);
        }
        let (ran, rewards) = self
            .place
            .rewarded(self.evidence.work, tests, &exec)
            .await?;
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
        let (passed, judged) = bench.judge.ask(bench.account, &question).await?;
        Ok(Finding {
            tainted: ran.is_some_and(|ran| ran.tainted),
            ..Finding::judged(passed, judged)
        })
    }

    /// What a command printed, for a judge; or why the check has failed without one.
    async fn printed(&self, command: &str) -> Result<Result<RanCommand, Finding>, Fault> {
        if let Some(finding) = self.left_out() {
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

    /// An agent that leaves more than can be kept could hide anything in the rest.
    fn left_out(&self) -> Option<Finding> {
        let count = self.evidence.work?.left_out();
        let entries = if count == 1 { "entry" } else { "entries" };
        let reason = format!("{count} {entries} of the working folder could not be taken");
        (count > 0).then(|| Finding::tampered(LEFT_OUT, reason))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canned::{
        NoPictures, Remains, answers, check, grade_in, graded, prints, request, saying_ok,
        scripted, task,
    };
    use crate::desk::Told;
    use agon_core::check::FileTest;

    fn broken() -> Check {
        check(
            CheckKind::All {
                checks: vec![],
                partial: false,
            },
            1.0,
        )
    }

    #[tokio::test]
    async fn tests_that_are_not_there_could_not_be_run() {
        let missing = CheckKind::Reward {
            script: "other.sh".into(),
        };
        let fault = grade_in(&saying_ok(), vec![check(missing, 1.0)]).await;
        assert!(fault.unwrap_err().message.contains("tests/other.sh"));
    }

    #[tokio::test]
    async fn a_task_without_checks_could_not_be_graded() {
        let fault = grade_in(&saying_ok(), vec![]).await.unwrap_err();
        assert_eq!(fault.class, FaultClass::Check);
    }

    #[tokio::test]
    async fn prose_needs_a_judge_before_anything_runs() {
        let provider = saying_ok();
        let prose = CheckKind::Prose {
            subject: ProseSubject::ReturnedResult,
            value: "polite".into(),
        };
        let nested = CheckKind::Any {
            checks: vec![check(prose, 1.0)],
        };
        let fault = grade_in(&provider, vec![prints("ok"), check(nested, 1.0)])
            .await
            .unwrap_err();
        assert_eq!(fault.class, FaultClass::NeedsJudge);
        assert!(provider.calls.lock().unwrap().is_empty());
    }

    #[tokio::test]
    async fn any_stops_at_the_first_that_passes_and_faults_when_none_is_sure() {
        let provider = saying_ok();
        let any = |checks| check(CheckKind::Any { checks }, 1.0);
        let verdict = grade_in(
            &provider,
            vec![any(vec![broken(), answers("a", 1.0), prints("no")])],
        )
        .await
        .unwrap();
        assert!(verdict.passed);
        assert!(provider.calls.lock().unwrap().is_empty());
        assert!(
            grade_in(&provider, vec![any(vec![broken(), answers("b", 1.0)])])
                .await
                .is_err()
        );
    }

    #[tokio::test]
    async fn nothing_passes_over_a_folder_that_was_not_taken_whole() {
        let exists = CheckKind::File {
            path: "none".into(),
            test: FileTest::Exists(false),
        };
        let provider = saying_ok();
        let checks = vec![
            check(exists, 1.0),
            prints("ok"),
            scripted(),
            answers("a", 1.0),
        ];
        let remains = Remains {
            result: Some("a"),
            left_out: 2,
            ..Remains::default()
        };
        let request = request();
        let place = Place::Fresh {
            provider: &provider,
            request: &request,
        };
        let verdict = graded(&task(checks), &remains, &place).await.unwrap();
        for check in &verdict.checks[..3] {
            assert!(!check.passed, "{check:?}");
            let reason = "2 entries of the working folder could not be taken";
            assert_eq!(check.reason, reason);
            assert_eq!(check.integrity.as_deref(), Some(LEFT_OUT));
        }
        assert!(verdict.checks[3].passed, "an answer is no file");
    }

    #[tokio::test]
    async fn what_programs_printed_is_kept_beside_the_verdict() {
        let checks = vec![prints("ok"), scripted(), answers("a", 1.0)];
        let verdict = grade_in(&saying_ok(), checks).await.unwrap();
        let [command, script, answer] = &verdict.checks[..] else {
            panic!("a check is missing");
        };
        for ran in [command, script] {
            let output = ran.output.as_ref().unwrap();
            assert_eq!(
                (&*output.exit, &*output.stdout, output.omitted),
                ("exit status 0", "ok", 0)
            );
        }
        assert_eq!(answer.output, None);
    }

    #[tokio::test]
    async fn a_conversation_has_neither_files_nor_commands() {
        let exists = CheckKind::File {
            path: "a".into(),
            test: FileTest::Exists(true),
        };
        for kind in [check(exists, 1.0), prints("ok")] {
            let evidence = Evidence {
                cut_off: &agon_core::CutOff::after_freeze(),
                work: None,
                result: None,
                actions: &[],
                sight: None,
                flow: &[],
                pictures: &NoPictures,
            };
            let desk = Desk {
                place: &Place::Nowhere,
                judge: None,
                told: &Told::default(),
            };
            let fault = grade(&task(vec![kind]), &evidence, &desk)
                .await
                .unwrap_err();
            assert_eq!(fault.class, FaultClass::Check);
        }
    }
}
