//! Tests of the whole gateway, over real connections.

mod answers;
mod ground;
mod upstream;

pub(super) use ground::mock;
