//! The states of an evaluator and what may follow what. Pure: knows no clock, thread or wire. Each
//! task has a round number, and what comes from an earlier round changes nothing.

use serde::Serialize;

/// As the wire calls them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum EvaluatorState {
    Init,
    Ready,
    Evaluating,
    Scoring,
}

impl EvaluatorState {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Init => "INIT",
            Self::Ready => "READY",
            Self::Evaluating => "EVALUATING",
            Self::Scoring => "SCORING",
        }
    }
}

/// One task from its start to the moment when both sides are idle again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct RoundId(u64);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Init,
    Ready,
    /// The environment is set up; the agent knows nothing yet.
    Setup(RoundId),
    /// The agent was told to play, or is being told.
    Playing(RoundId),
    Scoring(RoundId),
    /// The result is there; the agent may not have come to rest.
    Settling(RoundId),
}

impl Phase {
    /// The round that has no result yet.
    pub(super) const fn undecided(self) -> Option<RoundId> {
        match self {
            Self::Setup(round) | Self::Playing(round) | Self::Scoring(round) => Some(round),
            Self::Init | Self::Ready | Self::Settling(_) => None,
        }
    }
}

/// Why something can't be done now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    /// No agent is registered.
    Unregistered,
    /// A task is evaluated or scored.
    Busy,
    /// In a moment it can.
    Settling,
}

#[derive(Debug)]
pub(super) struct Machine {
    phase: Phase,
    rounds: u64,
}

impl Machine {
    pub(super) const fn new() -> Self {
        Self {
            phase: Phase::Init,
            rounds: 0,
        }
    }

    pub(super) const fn phase(&self) -> Phase {
        self.phase
    }

    /// The last round that was begun; before the first one, one that no task has.
    pub(super) const fn newest(&self) -> RoundId {
        RoundId(self.rounds)
    }

    pub(super) const fn state(&self) -> EvaluatorState {
        match self.phase {
            Phase::Init => EvaluatorState::Init,
            Phase::Ready => EvaluatorState::Ready,
            Phase::Setup(_) | Phase::Playing(_) => EvaluatorState::Evaluating,
            Phase::Scoring(_) | Phase::Settling(_) => EvaluatorState::Scoring,
        }
    }

    /// Whether nothing is under way.
    const fn idle(&self) -> Result<(), Refused> {
        match self.phase {
            Phase::Init | Phase::Ready => Ok(()),
            Phase::Setup(_) | Phase::Playing(_) | Phase::Scoring(_) => Err(Refused::Busy),
            Phase::Settling(_) => Err(Refused::Settling),
        }
    }

    /// An agent is there.
    pub(super) fn register(&mut self) -> Result<(), Refused> {
        self.idle()?;
        self.phase = Phase::Ready;
        Ok(())
    }

    /// As new.
    pub(super) fn reset(&mut self) -> Result<(), Refused> {
        self.idle()?;
        self.phase = Phase::Init;
        Ok(())
    }

    /// A task is taken on; from here on nobody else's is.
    pub(super) fn begin(&mut self) -> Result<RoundId, Refused> {
        self.idle()?;
        if self.phase == Phase::Init {
            return Err(Refused::Unregistered);
        }
        self.rounds += 1;
        let round = RoundId(self.rounds);
        self.phase = Phase::Setup(round);
        Ok(round)
    }

    /// The agent is told to play.
    pub(super) fn play(&mut self, round: RoundId) -> bool {
        self.go(Phase::Setup(round), Phase::Playing(round))
    }

    /// The task did not begin.
    pub(super) fn fail(&mut self, round: RoundId) -> bool {
        self.go(Phase::Setup(round), Phase::Ready) || self.go(Phase::Playing(round), Phase::Ready)
    }

    /// The play is over. True once in a round: whoever is told so scores.
    pub(super) fn score(&mut self, round: RoundId) -> bool {
        self.go(Phase::Playing(round), Phase::Scoring(round))
    }

    /// The result is there.
    pub(super) fn settle(&mut self, round: RoundId) -> bool {
        self.go(Phase::Scoring(round), Phase::Settling(round))
    }

    /// The agent is at rest too.
    pub(super) fn rest(&mut self, round: RoundId) -> bool {
        self.go(Phase::Settling(round), Phase::Ready)
    }

    fn go(&mut self, from: Phase, to: Phase) -> bool {
        let fits = self.phase == from;
        if fits {
            self.phase = to;
        }
        fits
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[derive(Debug, Clone, Copy)]
    enum Step {
        Register,
        Reset,
        Begin,
        /// What a round does, be it this one or one so many before.
        Play(u64),
        Fail(u64),
        Score(u64),
        Settle(u64),
        Rest(u64),
    }

    fn step() -> impl Strategy<Value = Step> {
        let back = || prop_oneof![6 => Just(0_u64), 1 => 1_u64..4];
        prop_oneof![
            1 => Just(Step::Register),
            1 => Just(Step::Reset),
            3 => Just(Step::Begin),
            3 => back().prop_map(Step::Play),
            1 => back().prop_map(Step::Fail),
            3 => back().prop_map(Step::Score),
            3 => back().prop_map(Step::Settle),
            3 => back().prop_map(Step::Rest),
        ]
    }

    proptest! {
        /// Whatever comes in whatever order: one score for each round at most, and what belongs to
        /// an earlier round changes nothing.
        #[test]
        fn a_round_is_scored_once_and_an_old_one_changes_nothing(
            steps in proptest::collection::vec(step(), 1..80)
        ) {
            let mut machine = Machine::new();
            let mut scores = BTreeMap::<u64, u32>::new();
            for step in steps {
                let before = machine.phase();
                let newest = machine.rounds;
                let id = |back: u64| RoundId(newest.saturating_sub(back));
                let (back, done) = match step {
                    Step::Register => (0, machine.register().is_ok()),
                    Step::Reset => (0, machine.reset().is_ok()),
                    Step::Begin => (0, machine.begin().is_ok()),
                    Step::Play(back) => (back, machine.play(id(back))),
                    Step::Fail(back) => (back, machine.fail(id(back))),
                    Step::Score(back) => {
                        let scored = machine.score(id(back));
                        if scored {
                            *scores.entry(id(back).0).or_default() += 1;
                        }
                        (back, scored)
                    }
                    Step::Settle(back) => (back, machine.settle(id(back))),
                    Step::Rest(back) => (back, machine.rest(id(back))),
                };
                prop_assert!(back == 0 || !done, "an old round did something: {step:?}");
                prop_assert!(done || machine.phase() == before);
                let idle = matches!(before, Phase::Init | Phase::Ready);
                if matches!(step, Step::Register | Step::Reset) {
                    prop_assert_eq!(done, idle);
                }
                if matches!(step, Step::Begin) {
                    prop_assert_eq!(done, before == Phase::Ready);
                }
            }
            prop_assert!(scores.values().all(|&count| count == 1));
        }
    }

    #[test]
    fn the_whole_way_and_what_is_refused_on_it() {
        let mut machine = Machine::new();
        assert_eq!(machine.begin(), Err(Refused::Unregistered));
        machine.register().unwrap();
        machine.register().unwrap();
        let round = machine.begin().unwrap();
        assert_eq!(machine.state(), EvaluatorState::Evaluating);
        assert_eq!(machine.begin(), Err(Refused::Busy));
        assert_eq!(machine.register(), Err(Refused::Busy));
        assert!(!machine.score(round), "nobody plays yet");
        assert!(machine.play(round) && machine.score(round));
        assert!(!machine.score(round) && !machine.fail(round));
        assert_eq!(machine.state(), EvaluatorState::Scoring);
        assert_eq!(machine.begin(), Err(Refused::Busy));
        assert!(machine.settle(round));
        assert_eq!(machine.begin(), Err(Refused::Settling));
        assert_eq!(machine.state(), EvaluatorState::Scoring);
        assert!(machine.rest(round));
        assert_eq!(machine.state(), EvaluatorState::Ready);
        machine.reset().unwrap();
        assert_eq!(machine.state(), EvaluatorState::Init);
    }
}
