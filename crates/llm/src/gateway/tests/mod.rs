//! Tests of the whole gateway, over real connections.

mod answers;
mod ground;
mod parallel;
mod upstream;

pub(super) use ground::mock;
