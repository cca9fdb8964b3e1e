//! `random`: draws from the actions that the task allows. The same seed gives the same actions.

use agon_core::action::{Button, Point};
use agon_core::{Action, ActionKind, Brief, Observation, Seconds, Seed};
use async_trait::async_trait;
use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use crate::contract::{Agent, AgentError, Answer};
use crate::factory::{Contender, TrialContext};
use crate::registry::Kind;

pub(crate) const KIND: Kind = Kind {
    name: "random",
    argument: "",
    about: "draws from the allowed actions, by the trial's seed",
    check: |_| Ok(()),
    open: |_, _| Ok(Box::new(Random)),
};

/// It finishes after at most this many actions.
const LONGEST: u32 = 20;

const WORDS: &[&str] = &["hello", "yes", "no", "42", "readme", "data", "a", "the"];
const FILES: &[&str] = &["a.txt", "b.txt", "notes.md", "data/out.csv", "."];
const KEYS: &[&str] = &["Return", "Escape", "Tab", "ctrl+c", "a", "Left"];

#[derive(Debug)]
struct Random;

impl Contender for Random {
    fn for_trial(&self, context: &TrialContext<'_>) -> Result<Box<dyn Agent>, AgentError> {
        Ok(Box::new(Dice::new(context.seed)))
    }
}

#[derive(Debug)]
struct Dice {
    rng: ChaCha8Rng,
    allowed: Vec<ActionKind>,
    left: u32,
}

impl Dice {
    fn new(seed: Seed) -> Self {
        Self {
            rng: seed.derive("random agent").rng(),
            allowed: Vec::new(),
            left: 0,
        }
    }

    fn pick(&mut self, from: &'static [&'static str]) -> String {
        from.choose(&mut self.rng)
            .map_or_else(String::new, |word| (*word).to_owned())
    }

    fn word(&mut self) -> String {
        self.pick(WORDS)
    }

    fn file(&mut self) -> String {
        self.pick(FILES)
    }

    fn text(&mut self) -> String {
        let count = self.rng.random_range(1..=4);
        let words: Vec<String> = (0..count).map(|_| self.word()).collect();
        words.join(" ")
    }

    fn command(&mut self) -> String {
        match self.rng.random_range(0..6) {
            0 => "ls -l".to_owned(),
            1 => "pwd".to_owned(),
            2 => format!("cat {}", self.file()),
            3 => format!("mkdir -p {}", self.word()),
            4 => format!("echo {} > {}", self.text(), self.file()),
            _ => format!("echo {}", self.text()),
        }
    }

    fn at(&mut self) -> Point {
        Point {
            x: self.rng.random_range(0..1280),
            y: self.rng.random_range(0..800),
        }
    }

    fn draw(&mut self, kind: ActionKind) -> Action {
        match kind {
            ActionKind::Run => Action::run(self.command()),
            ActionKind::Cell => Action::Cell {
                code: format!("print({:?})", self.text()),
            },
            ActionKind::Read => Action::Read {
                path: self.file(),
                lines: None,
            },
            ActionKind::Write => Action::Write {
                path: self.file(),
                content: self.text(),
                create: false,
            },
            ActionKind::Edit => Action::Edit {
                path: self.file(),
                old: self.word(),
                new: self.word(),
            },
            ActionKind::Insert => Action::Insert {
                path: self.file(),
                line: self.rng.random_range(0..4),
                text: self.text(),
            },
            ActionKind::Undo => Action::Undo { path: self.file() },
            ActionKind::Browse => Action::Browse {
                code: "noop()".to_owned(),
            },
            ActionKind::Reject => Action::Reject { reason: None },
            ActionKind::Message => Action::Message { text: self.text() },
            ActionKind::Think => Action::Think {
                thought: self.text(),
            },
            ActionKind::Finish => Action::Finish {
                result: self.rng.random_bool(0.5).then(|| self.word()),
            },
            ActionKind::Key => Action::Key {
                keys: self.pick(KEYS),
                hold: None,
            },
            ActionKind::KeyDown => Action::KeyDown {
                key: "shift".to_owned(),
            },
            ActionKind::KeyUp => Action::KeyUp {
                key: "shift".to_owned(),
            },
            ActionKind::Type => Action::Type { text: self.text() },
            ActionKind::Move => {
                let Point { x, y } = self.at();
                Action::Move { x, y }
            }
            ActionKind::Click => {
                let Point { x, y } = self.at();
                let buttons = [Button::Left, Button::Middle, Button::Right];
                Action::Click {
                    x,
                    y,
                    button: buttons.choose(&mut self.rng).copied().unwrap_or_default(),
                    count: self.rng.random_range(1..=2),
                    hold: None,
                }
            }
            ActionKind::Drag => Action::Drag {
                path: vec![self.at(), self.at()],
                button: Button::Left,
                seconds: None,
            },
            ActionKind::Scroll => {
                let Point { x, y } = self.at();
                Action::Scroll {
                    x,
                    y,
                    dx: 0,
                    dy: self.rng.random_range(-5..=5),
                }
            }
            ActionKind::Wait => Action::Wait {
                seconds: Seconds::whole(0),
            },
            ActionKind::Screenshot => Action::Screenshot,
        }
    }
}

#[async_trait]
impl Agent for Dice {
    async fn start(&mut self, brief: &Brief) -> Result<(), AgentError> {
        let others = brief.actions.iter().copied();
        self.allowed = others
            .filter(|kind| !matches!(kind, ActionKind::Finish | ActionKind::Reject))
            .collect();
        self.left = self.rng.random_range(0..brief.max_steps.clamp(1, LONGEST));
        Ok(())
    }

    async fn act(&mut self, _: &Observation) -> Result<Answer, AgentError> {
        let kind = match self.allowed.choose(&mut self.rng) {
            Some(kind) if self.left > 0 => *kind,
            _ => ActionKind::Finish,
        };
        self.left = self.left.saturating_sub(1);
        Ok(self.draw(kind).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn play(seed: u64, actions: &[ActionKind]) -> Vec<Answer> {
        let brief = Brief {
            trial: "t".to_owned(),
            instruction: "anything".to_owned(),
            actions: actions.to_vec(),
            environment: "local".to_owned(),
            max_steps: 12,
            max_seconds: Seconds::whole(60),
            seed,
        };
        let mut agent = Dice::new(Seed(seed));
        agent.start(&brief).await.unwrap();
        let mut answers = Vec::new();
        loop {
            let answer = agent.act(&Observation::done()).await.unwrap();
            answers.push(answer);
            if let Some(Answer::Reply(reply)) = answers.last()
                && reply.action.kind() == ActionKind::Finish
            {
                return answers;
            }
        }
    }

    #[tokio::test]
    async fn the_same_seed_plays_the_same_game() {
        assert_eq!(
            play(7, &ActionKind::ALL).await,
            play(7, &ActionKind::ALL).await
        );
        let mut games = Vec::new();
        for seed in 0..20 {
            games.push(play(seed, &ActionKind::ALL).await);
        }
        games.dedup();
        assert!(games.len() > 10, "seeds make no difference");
    }

    #[tokio::test]
    async fn only_allowed_actions_are_drawn_and_it_finishes_in_time() {
        let allowed = [ActionKind::Read, ActionKind::Message];
        for seed in 0..50 {
            let answers = play(seed, &allowed).await;
            assert!(answers.len() <= 12);
            for answer in &answers[..answers.len() - 1] {
                let Answer::Reply(reply) = answer else {
                    panic!("{answer:?}")
                };
                assert!(allowed.contains(&reply.action.kind()), "{reply:?}");
            }
        }
        assert_eq!(play(1, &[]).await.len(), 1);
    }
}
