//! The server: who may ask, and which answer belongs to which address.

mod app;
mod asked;
mod connections;
mod guard;
mod page_routes;
mod patience;
mod pictures;
mod reply;
mod routes;
mod secret;
mod server;

pub(crate) use app::{App, For};
pub(crate) use asked::Asked;
pub(crate) use page_routes::{MOST_COMPARED, compared};
pub(crate) use pictures::{Blob, stored};
pub(crate) use reply::{Reader, Reply, failed, trouble};
pub use server::{Served, Viewer, ViewerOptions};
