//! Why a text is no event.

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EventError {
    #[error("an event needs the key `action` or the key `observation`")]
    Neither,
    #[error("`{0}` is no type of action; known are: {known}", known = super::Action::TYPES.join(", "))]
    UnknownAction(String),
    #[error("`{0}` is no type of observation; known are: {known}", known = super::Observation::TYPES.join(", "))]
    UnknownObservation(String),
    #[error("`{kind}` needs the key `{key}`")]
    Missing {
        kind: &'static str,
        key: &'static str,
    },
    #[error("`{kind}` can't be read: {why}")]
    Malformed { kind: &'static str, why: String },
    #[error("the event can't be read: {0}")]
    Shape(String),
    #[error("event {at}: {error}")]
    At { at: usize, error: Box<Self> },
}
