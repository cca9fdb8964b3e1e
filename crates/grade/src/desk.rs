//! What grading needs beside the evidence: where commands run, whom to ask about prose, and where to put
//! down what is to be recorded.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agon_core::{EventBody, Fault, FaultClass, Judged, RanCommand};
use agon_llm::Account;
use agon_sandbox::ExecOutput;
use tokio::time::sleep;

use crate::judge::{Judge, Question};
use crate::place::Place;

/// How often a judge that failed is asked again, and the first pause before; each further one is longer.
const MORE_HEARINGS: u32 = 2;
const RECESS: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Copy)]
pub struct Desk<'a> {
    pub place: &'a Place<'a>,
    /// `None`: nobody can be asked about prose.
    pub judge: Option<Bench<'a>>,
    pub told: &'a Told,
}

/// A judge, and who pays for it.
#[derive(Debug, Clone, Copy)]
pub struct Bench<'a> {
    pub judge: &'a Judge,
    pub account: &'a Arc<Account>,
}

impl Bench<'_> {
    /// A judge that fails is asked again about the same: nobody has to play again for it, and no other check
    /// is carried out twice. One that has failed to the last is asked once about each further check.
    pub(crate) async fn ask(
        &self,
        question: &Question<'_>,
        told: &Told,
    ) -> Result<(bool, Judged), Fault> {
        let mut heard = 0;
        loop {
            match self.judge.ask(self.account, question).await {
                Err(fault) if fault.class == FaultClass::Judge && told.may_recess(heard) => {
                    heard += 1;
                    let note = format!("the judge is asked again: {}", fault.message);
                    told.tell(EventBody::Note(note));
                    sleep(RECESS * heard * heard).await;
                }
                said => return said.map_err(of_judging),
            }
        }
    }
}

/// Whatever kept a judge from being asked, its key or its budget: nothing is missing but its word, and nobody
/// has to play again for that.
fn of_judging(fault: Fault) -> Fault {
    match fault.class {
        FaultClass::Model | FaultClass::ModelSetup => Fault {
            class: FaultClass::Judge,
            ..fault
        },
        _ => fault,
    }
}

/// What grading wants to be recorded, in order, whether it ends in a verdict or in a fault.
#[derive(Debug, Default)]
pub struct Told(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    bodies: Vec<EventBody>,
    /// What commands printed, to the last byte: the record may have to leave some of it out.
    outputs: HashMap<String, ExecOutput>,
    /// A judge has failed as often as it may.
    given_up: bool,
}

impl Told {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn tell(&self, body: EventBody) {
        self.kept().bodies.push(body);
    }

    /// A command of this grading has run.
    pub(crate) fn keep(&self, ran: RanCommand, output: ExecOutput) {
        let mut kept = self.kept();
        kept.outputs.insert(ran.command.clone(), output);
        kept.bodies.push(EventBody::Ran(ran));
    }

    /// What a command of this grading has printed, as the record has it.
    pub(crate) fn ran(&self, command: &str) -> Option<RanCommand> {
        self.kept().bodies.iter().find_map(|body| match body {
            EventBody::Ran(ran) if ran.command == command => Some(ran.clone()),
            _ => None,
        })
    }

    /// The same, as it was.
    pub(crate) fn output(&self, command: &str) -> Option<ExecOutput> {
        self.kept().outputs.get(command).cloned()
    }

    /// Whether a judge that has failed so often over one check may be asked once more.
    fn may_recess(&self, heard: u32) -> bool {
        let mut kept = self.kept();
        kept.given_up |= heard == MORE_HEARINGS;
        !kept.given_up
    }

    pub fn take(&self) -> Vec<EventBody> {
        std::mem::take(&mut self.kept().bodies)
    }
}

#[cfg(test)]
mod tests {
    use agon_core::CutOff;
    use agon_core::check::{CheckKind, ProseSubject};
    use agon_llm::{Budget, ModelSpec, Provider, Session, SessionOptions, Settings, Wire};
    use serde_json::{Value, json};

    use super::*;
    use crate::canned::{NoPictures, archive, check, request, saying_ok, scripted, task};
    use crate::evidence::Evidence;
    use crate::grader::grade;
    use crate::judge::JudgeOptions;

    struct Heard {
        graded: Result<agon_core::Verdict, Fault>,
        /// How often a program of a check ran, and how often the judge was asked.
        ran: usize,
        asked: usize,
    }

    /// A script and prose, before a judge that gives these answers.
    async fn heard(answers: &[Value]) -> Heard {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("script.json");
        std::fs::write(&file, json!(answers).to_string()).unwrap();
        let session = Session::open(&SessionOptions::default()).unwrap();
        let spec = ModelSpec {
            name: "mock/judge".into(),
            provider: Provider::Mock,
            wire: Wire::Chat,
            model: format!("script:{}", file.display()),
            base_url: String::new(),
            key: None,
            settings: Settings {
                num_retries: 1,
                ..Settings::default()
            },
        };
        let judge = Judge::new(session.model(spec).unwrap(), JudgeOptions::default());
        let account = Arc::new(Account::of_trial(Budget::default(), None));
        let prose = CheckKind::Prose {
            subject: ProseSubject::ReturnedResult,
            value: "It says a.".into(),
        };
        let (provider, request, work) = (saying_ok(), request(), archive(&[], 0));
        let place = Place::Fresh {
            provider: &provider,
            request: &request,
        };
        let evidence = Evidence {
            cut_off: &CutOff::after_freeze(),
            work: Some(&work),
            changes: None,
            result: Some("a"),
            actions: &[],
            sight: None,
            flow: &[],
            pictures: &NoPictures,
            told: false,
        };
        let desk = Desk {
            place: &place,
            judge: Some(Bench {
                judge: &judge,
                account: &account,
            }),
            told: &Told::default(),
        };
        let graded = grade(&task(vec![scripted(), check(prose, 1.0)]), &evidence, &desk).await;
        let calls = provider.calls.lock().unwrap();
        Heard {
            graded,
            ran: calls.iter().filter(|call| *call == "exec").count(),
            asked: account.take_calls().len(),
        }
    }

    fn fault(name: &str) -> Value {
        json!({ "fault": name, "why": "the test says so" })
    }

    #[tokio::test]
    async fn no_other_check_is_carried_out_again_because_a_judge_failed_once() {
        let vote = json!({
            "analysis": "Seen.", "confidence": 0.8, "evidence": [], "verdict": "pass",
        });
        let answer = json!({ "text": vote.to_string() });
        let heard = heard(&[fault("overload"), answer]).await;
        let verdict = heard.graded.unwrap();
        assert!(verdict.checks[1].passed);
        assert_eq!((heard.ran, heard.asked), (1, 2));
    }

    #[tokio::test]
    async fn a_judge_that_can_not_be_asked_is_a_fault_of_judging_and_of_nothing_else() {
        for name in ["authentication", "budget"] {
            let heard = heard(&[fault(name)]).await;
            let fault = heard.graded.unwrap_err();
            assert_eq!(fault.class, FaultClass::Judge, "{name}");
            assert!(fault.message.contains("the test says so"), "{fault}");
            assert_eq!(heard.asked, 1, "asking again would be of no use");
        }
    }
}
