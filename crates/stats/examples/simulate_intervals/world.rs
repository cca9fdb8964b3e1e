//! The simulated world: how hard its tasks are, what an attempt comes to, and what is asked of a run. It knows
//! the truth; no method does.

use std::fmt;

use agon_stats::Cluster;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};

/// How hard tasks are: the chance to pass, task by task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    AllEasy,
    AllHard,
    HalfAndHalf,
    Graded,
    MostlyEasy,
}

pub(crate) const SHAPES: [Shape; 5] = [
    Shape::AllEasy,
    Shape::AllHard,
    Shape::HalfAndHalf,
    Shape::Graded,
    Shape::MostlyEasy,
];

/// What an attempt can score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    YesNo,
    /// The part of four checks that pass.
    Parts,
    /// Any number from 0 to 1, most of them close to one end.
    Any,
}

/// Which number of a run is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ask {
    Mean,
    /// By the weights of levels, which have nothing to do with how hard a task is.
    Weighted,
    /// The same, where the heavy tasks are the hard ones.
    WeightedHarder,
    /// Against a run that is as good.
    DifferenceOfEqual,
    /// Against a run that fails where this one passes in two of five cases.
    DifferenceOfBetter,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Scene {
    pub(crate) shape: Shape,
    pub(crate) tasks: usize,
    pub(crate) attempts: u32,
    pub(crate) kind: Kind,
    pub(crate) ask: Ask,
}

impl fmt::Display for Scene {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            shape,
            attempts,
            kind,
            ask,
            ..
        } = self;
        write!(f, "{ask:?} of {kind:?}, {shape:?}, {attempts} per task")
    }
}

impl Scene {
    pub(crate) fn all(tasks: usize) -> Vec<Self> {
        let played = [
            (Kind::YesNo, 1),
            (Kind::YesNo, 3),
            (Kind::YesNo, 8),
            (Kind::Parts, 1),
            (Kind::Any, 1),
            (Kind::Any, 3),
        ];
        let asked = [
            Ask::Mean,
            Ask::Weighted,
            Ask::WeightedHarder,
            Ask::DifferenceOfEqual,
            Ask::DifferenceOfBetter,
        ];
        let mut scenes = Vec::new();
        for shape in SHAPES {
            for (kind, attempts) in played {
                scenes.extend(asked.map(|ask| Self {
                    shape,
                    tasks,
                    attempts,
                    kind,
                    ask,
                }));
            }
        }
        scenes
    }
}

/// What a method gets to see of a run, and what it should hold.
#[derive(Debug)]
pub(crate) struct SimulatedRun {
    pub(crate) clusters: Vec<Cluster>,
    /// Of differences: what both runs made of each task.
    pub(crate) pairs: Vec<(f64, f64)>,
    pub(crate) truth: f64,
}

#[derive(Debug)]
pub(crate) struct Play {
    scene: Scene,
    dice: Dice,
}

/// The weights of levels.
const LEVELS: [f64; 5] = [0.5, 1.0, 2.0, 4.0, 8.0];
/// The same, with the part of the chance that heavier tasks leave.
const HARDER: [(f64, f64); 5] = [(0.5, 1.0), (1.0, 0.9), (2.0, 0.8), (4.0, 0.7), (8.0, 0.6)];
/// The part of what the one run fails that the better one passes.
const BETTER: f64 = 0.4;

impl Play {
    pub(crate) fn new(scene: Scene, seed: u64) -> Self {
        Self {
            scene,
            dice: Dice::new(seed),
        }
    }

    pub(crate) fn round(&mut self) -> SimulatedRun {
        match self.scene.ask {
            Ask::Mean => self.weighted(&[(1.0, 1.0)]),
            Ask::Weighted => self.weighted(&LEVELS.map(|weight| (weight, 1.0))),
            Ask::WeightedHarder => self.weighted(&HARDER),
            Ask::DifferenceOfEqual => self.difference(0.0),
            Ask::DifferenceOfBetter => self.difference(BETTER),
        }
    }

    /// Each task is of one of these levels, which have a weight and a part of the chance that is left.
    fn weighted(&mut self, levels: &[(f64, f64)]) -> SimulatedRun {
        let tasks = self.scene.tasks;
        let task = |_| {
            let (weight, left) = levels[self.dice.below(levels.len())];
            let chance = self.chance() * left;
            Cluster {
                sum: weight * self.attempts(chance),
                weight,
            }
        };
        let clusters = (0..tasks).map(task).collect();
        let weights: f64 = levels.iter().map(|(weight, _)| weight).sum();
        let passed: f64 = levels.iter().map(|(weight, left)| weight * left).sum();
        SimulatedRun {
            clusters,
            pairs: Vec::new(),
            truth: self.scene.shape.mean() * passed / weights,
        }
    }

    fn difference(&mut self, better: f64) -> SimulatedRun {
        let pairs: Vec<(f64, f64)> = (0..self.scene.tasks)
            .map(|_| {
                let chance = self.chance();
                let first = self.attempts(chance);
                (first, self.attempts(chance + better * (1.0 - chance)))
            })
            .collect();
        SimulatedRun {
            clusters: Vec::new(),
            pairs,
            truth: better * (1.0 - self.scene.shape.mean()),
        }
    }

    /// Of a task that was never seen before.
    fn chance(&mut self) -> f64 {
        let drawn = self.dice.share();
        match self.scene.shape {
            Shape::AllEasy => 0.9,
            Shape::AllHard => 0.1,
            Shape::HalfAndHalf if drawn < 0.5 => 0.05,
            Shape::HalfAndHalf => 0.95,
            Shape::Graded => drawn,
            // A few are much harder than the others: u^(1/9) is Beta(9, 1).
            Shape::MostlyEasy => drawn.powf(1.0 / 9.0),
        }
    }

    /// The mean score of all attempts at a task.
    fn attempts(&mut self, chance: f64) -> f64 {
        let attempts = self.scene.attempts;
        let scores = (0..attempts).map(|_| match self.scene.kind {
            Kind::YesNo => self.dice.passes(chance),
            Kind::Parts => (0..4).map(|_| self.dice.passes(chance)).sum::<f64>() / 4.0,
            Kind::Any => self.dice.beta(4.0 * chance, 4.0 * (1.0 - chance)),
        });
        scores.sum::<f64>() / f64::from(attempts)
    }
}

impl Shape {
    const fn mean(self) -> f64 {
        match self {
            Self::AllEasy | Self::MostlyEasy => 0.9,
            Self::AllHard => 0.1,
            Self::HalfAndHalf | Self::Graded => 0.5,
        }
    }
}

#[derive(Debug)]
struct Dice(ChaCha8Rng);

impl Dice {
    fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// Above 0 and below 1.
    fn share(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    fn below(&mut self, count: usize) -> usize {
        (self.share() * count as f64) as usize
    }

    fn passes(&mut self, chance: f64) -> f64 {
        f64::from(u8::from(self.share() < chance))
    }

    /// By two gamma variables, in logarithms: small shapes give numbers below all others.
    fn beta(&mut self, a: f64, b: f64) -> f64 {
        if a <= 0.0 || b <= 0.0 {
            return f64::from(u8::from(b <= 0.0));
        }
        let (one, other) = (self.ln_gamma_variable(a), self.ln_gamma_variable(b));
        1.0 / (1.0 + (other - one).exp())
    }

    /// Marsaglia and Tsang.
    fn ln_gamma_variable(&mut self, shape: f64) -> f64 {
        if shape < 1.0 {
            return self.ln_gamma_variable(shape + 1.0) + self.share().ln() / shape;
        }
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let x = self.normal();
            let v = (1.0 + c * x).powi(3);
            if v > 0.0 && self.share().ln() < 0.5 * x * x + d * (1.0 - v + v.ln()) {
                return (d * v).ln();
            }
        }
    }

    fn normal(&mut self) -> f64 {
        let (one, other) = (self.share(), self.share());
        (-2.0 * one.ln()).sqrt() * (2.0 * std::f64::consts::PI * other).cos()
    }
}
