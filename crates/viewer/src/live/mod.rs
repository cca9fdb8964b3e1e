//! A run while it goes on: watches its folder and tells the pages that look at it. Reads only what was
//! appended, and of that no more than is told; counts and rows are the index's.

mod attempt;
mod counting;
mod doorbell;
mod feeds;
#[cfg(test)]
mod fixture;
mod following;
mod listeners;
mod output;
mod peek;
mod playing;
mod results;
mod tail;
mod telling;
mod watcher;

pub(crate) use feeds::Feeds;
pub(crate) use following::Following;
pub(crate) use watcher::progress;
