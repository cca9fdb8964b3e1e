//! Front door for single-action prediction: a reference window, what was done in it, and the active
//! window; a model says which actions have the same effect there.

mod ask;
mod asker;
mod contender;
pub mod data;
mod evaluate;
pub mod fixtures;
mod item;
mod model;
mod options;
mod own_answer;
pub mod parse;
pub mod prompt;
pub mod score;
mod showable;

pub use agon_core::prediction::{
    KeyAction, KeyActionName, MouseAction, MouseActionName, UiAction, Window,
};
pub use asker::Asker;
pub use contender::Predictor;
pub use evaluate::{Evaluation, Evaluator};
pub use item::{ImageFile, Item, Question};
pub use model::{ActionModel, LanguageModel, PredictError};
pub use options::Options;
pub use showable::{NotShowable, showable};
