//! The forms of requests and answers: one file per provider's API. They turn types into bodies and
//! bodies into types; nothing here sends anything.

mod arguments;
mod azure;
mod bill;
mod body;
mod chat;
mod choice;
mod computer;
mod contract;
mod data_url;
mod emulated;
mod fault;
mod gemini;
#[cfg(test)]
mod hostile;
mod known;
mod length;
mod messages;
mod object;
mod openai;
mod overlay;
mod responses;
#[cfg(test)]
mod sample;
mod settled;
mod strict;
mod turns;

pub(crate) use bill::Bill;
pub(crate) use body::{only_known_parts, unparsed};
pub(crate) use choice::{Spoken, adapter};
pub(crate) use contract::{Adapter, Encoding, HttpCall};
pub(crate) use emulated::Emulated;
pub(crate) use known::known;
pub(crate) use length::{longest, shorten, shortest};
pub(crate) use messages::Traits;
