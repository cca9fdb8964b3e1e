//! Work that takes its time: nobody else shall wait for it.

use agon_core::{Fault, FaultClass};
use tokio::task::spawn_blocking;

pub(crate) async fn on_the_side<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
) -> Result<T, Fault> {
    spawn_blocking(work)
        .await
        .map_err(|error| Fault::new(FaultClass::Internal, error))?
}
