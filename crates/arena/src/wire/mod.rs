//! What goes over the network between agent, evaluator and client, as the original speaks it: paths,
//! bodies, refusals. Knows nothing of states or of who plays.

pub(crate) mod accept;
pub mod body;
pub(crate) mod call;
pub mod events;
pub mod lax;
pub mod message;
pub mod path;
pub mod peer;
pub mod reply;
pub mod routes;
pub mod task;
pub mod token;
pub mod unprocessable;

pub use body::{MOST_BYTES, Payload};
pub use events::{Events, StateChange};
pub use message::{AgentFinished, PeerStatus, Registration, Status};
pub use peer::PeerUrl;
pub use reply::{err, ok};
pub use routes::Routes;
pub use task::parse_task;
pub use token::{BadToken, Token};
pub use unprocessable::Unprocessable;
