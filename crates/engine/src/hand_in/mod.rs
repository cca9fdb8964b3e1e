//! From the working folder that the agent left to what checks look at: a script that completes it, files
//! that are kept one by one, and a repository handed in as a patch.

mod collect;
mod complete;
mod fresh;
mod git;
mod patch;
mod take;

pub(crate) use take::{beside, graded_afresh, runs_programs, take};
