//! From checks and evidence to a verdict. Parts that could not be carried out are kept apart from
//! parts that failed: `all` has failed as soon as one part scores nothing, whatever became of the
//! rest, and `any` has passed as soon as one part does; otherwise a fault in a part is a fault.

use agon_core::check::{Check, CheckKind};
use agon_core::{CheckResult, Fault, FaultClass, Task, Verdict};
use agon_sandbox::Exec;

use crate::command::{self, Expected};
use crate::evidence::Evidence;
use crate::finding::{Finding, bad_check};
use crate::place::{Place, Ran};
use crate::script::{self, Nonce};
use crate::{file, record, returned};

/// Carries out a task's checks. A fault means: could not be graded.
pub async fn grade(
    task: &Task,
    evidence: &Evidence<'_>,
    place: &Place<'_>,
) -> Result<Verdict, Fault> {
    if task.needs_judge() {
        return Err(Fault::new(
            FaultClass::NeedsJudge,
            "a check is prose (`value`) and needs a judge, and there is none: give it `equals`, \
             `contains` or `matches`",
        ));
    }
    let checks = task.checks.open(evidence.cut_off);
    if checks.is_empty() {
        return Err(bad_check("no check ran: the task has none"));
    }
    let grading = Grading {
        task,
        evidence,
        place,
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
    place: &'a Place<'a>,
}

/// What `all` gives when some of its parts pass.
#[derive(Clone, Copy, PartialEq)]
enum Credit {
    /// The score of the worst part.
    Full,
    /// The weighted mean.
    Partial,
}

impl Grading<'_> {
    async fn check(&self, check: &Check) -> Result<CheckResult, Fault> {
        let finding = match &check.kind {
            CheckKind::File { path, test } => {
                let work = self.evidence.work.ok_or_else(|| {
                    bad_check("the environment is `none`: there are no files to check")
                })?;
                file::check(path, test, work)
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
            CheckKind::ReturnedResult { tests } => returned::check(tests, self.evidence.result),
            CheckKind::Events { must, must_not } => {
                record::check(must, must_not, self.evidence.actions)
            }
            CheckKind::Prose { .. } => Err(Fault::new(
                FaultClass::NeedsJudge,
                "prose needs a judge, and there is none",
            )),
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

    async fn command(&self, command: &str, expected: &Expected<'_>) -> Result<Finding, Fault> {
        expected.must_test_something()?;
        let mut exec = Exec::shell(command, self.task.limits.check.duration());
        exec.keep = command::KEEP;
        let ran = self.place.run(self.evidence.work, None, &exec).await?;
        self.found(ran, |output| expected.judge(output))
    }

    async fn script(&self, path: &str, args: &[String]) -> Result<Finding, Fault> {
        let nonce = Nonce::draw()?;
        let tree = self.task.verify.open(self.evidence.cut_off);
        let verify = self.place.verify(&nonce);
        let timeout = self.task.limits.check.duration();
        let exec = script::exec(tree, &verify, path, args, &nonce, timeout)?;
        let ran = self
            .place
            .run(self.evidence.work, Some((tree, &verify)), &exec)
            .await?;
        self.found(ran, |output| script::judge(&nonce, output))
    }

    fn found(
        &self,
        ran: Ran,
        judge: impl FnOnce(&agon_sandbox::ExecOutput) -> Result<Finding, Fault>,
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
        let mut parts = Vec::with_capacity(checks.len());
        let (mut unknowns, mut fault) = (Vec::new(), None);
        for check in checks {
            match self.check(check).await {
                Ok(part) => parts.push(part),
                Err(error) => {
                    let unknown = Finding::fail(format!("could not be carried out: {error}"));
                    unknowns.push(unknown.into_result(check));
                    fault = fault.or(Some(error));
                }
            }
        }
        // One part at 0 settles full credit; a mean needs every part.
        let settled = credit == Credit::Full && parts.iter().any(|part| part.score == 0.0);
        if let Some(fault) = fault
            && !settled
        {
            return Err(fault);
        }
        let score = match credit {
            Credit::Full => parts.iter().map(|part| part.score).fold(1.0, f64::min),
            Credit::Partial => mean(&parts)?,
        };
        let passed = parts.iter().all(|part| part.passed);
        parts.append(&mut unknowns);
        combined(passed, score, parts)
    }

    async fn any(&self, checks: &[Check]) -> Result<Finding, Fault> {
        let mut parts = Vec::new();
        let mut fault = None;
        for check in checks {
            match self.check(check).await {
                Ok(part) => {
                    let enough = part.passed && part.score >= 1.0;
                    parts.push(part);
                    if enough {
                        return combined(true, 1.0, parts);
                    }
                }
                Err(error) => fault = fault.or(Some(error)),
            }
        }
        if let Some(fault) = fault {
            return Err(fault);
        }
        let score = parts.iter().map(|part| part.score).fold(0.0, f64::max);
        let passed = parts.iter().any(|part| part.passed);
        combined(passed, score, parts)
    }
}

/// The weighted mean of the scores.
fn mean(parts: &[CheckResult]) -> Result<f64, Fault> {
    let total: f64 = parts.iter().map(|part| part.weight).sum();
    if parts.iter().any(|part| part.weight < 0.0) || !(total > 0.0 && total.is_finite()) {
        return Err(bad_check(
            "the weights of the parts must not be negative, and one must be above 0",
        ));
    }
    let sum: f64 = parts.iter().map(|part| part.weight * part.score).sum();
    Ok((sum / total).clamp(0.0, 1.0))
}

fn combined(passed: bool, score: f64, parts: Vec<CheckResult>) -> Result<Finding, Fault> {
    if parts.is_empty() {
        return Err(bad_check("it has no parts, so nothing was checked"));
    }
    let count = parts.iter().filter(|part| part.passed).count();
    let reason = format!("{count} of {} parts passed", parts.len());
    Ok(Finding {
        tainted: parts.iter().any(|part| part.tainted),
        parts,
        ..Finding::graded(passed, score, reason)
    })
}

#[cfg(test)]
mod tests {
    use agon_core::check::{FileTest, ProseSubject, Stream, TextTest};
    use agon_sandbox::{Captured, ExecOutput, Exit, SandboxError};

    use super::*;
    use crate::canned::{Canned, Remains, graded, request, task};

    fn check(kind: CheckKind, weight: f64) -> Check {
        Check {
            name: None,
            weight,
            kind,
        }
    }

    fn answers(text: &str, weight: f64) -> Check {
        let tests = vec![TextTest::Contains(text.to_owned())];
        check(CheckKind::ReturnedResult { tests }, weight)
    }

    fn prints(text: &str) -> Check {
        let kind = CheckKind::CommandOutput {
            command: "true".into(),
            stream: Stream::Stdout,
            tests: vec![TextTest::Equals(text.to_owned())],
            exit_status: Some(0),
        };
        check(kind, 1.0)
    }

    fn scripted() -> Check {
        let kind = CheckKind::Script {
            path: "check.sh".into(),
            args: vec![],
        };
        check(kind, 1.0)
    }

    fn broken() -> Check {
        check(
            CheckKind::All {
                checks: vec![],
                partial: false,
            },
            1.0,
        )
    }

    /// Every command prints `ok`, every script says 0.5.
    fn canned() -> Canned {
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

    async fn grade_in(provider: &Canned, checks: Vec<Check>) -> Result<Verdict, Fault> {
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

    #[tokio::test]
    async fn a_task_without_checks_could_not_be_graded() {
        let fault = grade_in(&canned(), vec![]).await.unwrap_err();
        assert_eq!(fault.class, FaultClass::Check);
    }

    #[tokio::test]
    async fn prose_needs_a_judge_before_anything_runs() {
        let provider = canned();
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
    async fn partial_credit_is_the_weighted_mean() {
        let checks = vec![answers("a", 3.0), answers("b", 1.0)];
        let kind = CheckKind::All {
            checks,
            partial: true,
        };
        let verdict = grade_in(&canned(), vec![check(kind, 1.0)]).await.unwrap();
        assert_eq!((verdict.passed, verdict.score), (false, 0.75));
        assert_eq!(verdict.checks[0].parts.len(), 2);
    }

    #[tokio::test]
    async fn weights_must_add_up_to_something() {
        for weights in [[0.0, 0.0], [-1.0, 2.0], [f64::NAN, 1.0]] {
            let checks = weights.map(|weight| answers("a", weight)).to_vec();
            let kind = CheckKind::All {
                checks,
                partial: true,
            };
            assert!(grade_in(&canned(), vec![check(kind, 1.0)]).await.is_err());
        }
    }

    #[tokio::test]
    async fn without_partial_credit_the_worst_part_is_the_score() {
        let verdict = grade_in(&canned(), vec![answers("a", 1.0), scripted()])
            .await
            .unwrap();
        assert_eq!((verdict.passed, verdict.score), (false, 0.5));
        let verdict = grade_in(&canned(), vec![answers("b", 1.0), scripted()])
            .await
            .unwrap();
        assert_eq!((verdict.passed, verdict.score), (false, 0.0));
    }

    #[tokio::test]
    async fn a_failure_is_not_turned_into_a_fault_by_a_part_that_broke() {
        let verdict = grade_in(&canned(), vec![broken(), answers("b", 1.0)])
            .await
            .unwrap();
        assert_eq!(
            (verdict.passed, verdict.score, verdict.checks.len()),
            (false, 0.0, 2)
        );
        assert!(
            grade_in(&canned(), vec![broken(), answers("a", 1.0)])
                .await
                .is_err()
        );
        assert!(
            grade_in(&canned(), vec![broken(), scripted()])
                .await
                .is_err()
        );
    }

    #[tokio::test]
    async fn any_stops_at_the_first_that_passes_and_faults_when_none_is_sure() {
        let provider = canned();
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
    async fn every_command_has_a_fresh_sandbox_and_only_scripts_see_verify() {
        let provider = canned();
        let verdict = grade_in(&provider, vec![prints("ok"), scripted()])
            .await
            .unwrap();
        assert!(!verdict.tainted());
        let calls = provider.calls.lock().unwrap().join(" ");
        assert_eq!(
            calls,
            "prepare unpack exec destroy prepare unpack copy /tmp/verify exec destroy"
        );
    }

    #[tokio::test]
    async fn what_is_found_inside_is_tainted_and_verify_has_a_name_nobody_can_guess() {
        let sandbox = canned();
        let place = Place::Inside(&sandbox);
        let nested = CheckKind::Any {
            checks: vec![prints("ok")],
        };
        let task = task(vec![check(nested, 1.0), scripted()]);
        let verdict = graded(&task, &Remains::default(), &place).await.unwrap();
        assert!(verdict.checks.iter().all(|check| check.tainted));
        let calls = sandbox.calls.lock().unwrap().clone();
        assert_eq!(calls.len(), 3);
        assert!(calls[1].starts_with("copy /tmp/verify-"), "{calls:?}");
    }

    #[tokio::test]
    async fn trouble_with_a_sandbox_is_a_fault_but_what_the_agent_left_is_not() {
        let failing = |error: fn() -> SandboxError| Canned::new(move |_| Err(error()));
        let gone = failing(|| SandboxError::Gone("killed".into()));
        let fault = grade_in(&gone, vec![prints("ok")]).await.unwrap_err();
        assert_eq!(fault.class, FaultClass::Check);
        assert_eq!(gone.calls.lock().unwrap().last().unwrap(), "destroy");

        let exhausted = failing(|| SandboxError::OutOfMemory);
        assert!(
            !grade_in(&exhausted, vec![prints("ok")])
                .await
                .unwrap()
                .passed
        );

        let mut full = canned();
        full.full_disk = true;
        assert!(!grade_in(&full, vec![prints("ok")]).await.unwrap().passed);
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
            };
            let fault = grade(&task(vec![kind]), &evidence, &Place::Nowhere)
                .await
                .unwrap_err();
            assert_eq!(fault.class, FaultClass::Check);
        }
    }
}
