//! One attempt as it is shown: its head, its steps, its events, its track of frames and input. Reads the
//! record line by line, so that what a later version wrote, or a crash tore, hides nothing else.

mod bounded;
mod brief;
mod head;
mod kept;
mod outline;
mod peek;
mod reading;
mod record;
mod stepping;
#[cfg(test)]
mod tests;
mod tracking;

pub(crate) use brief::brief;
pub(crate) use reading::{event, head, said, step, steps, track};
