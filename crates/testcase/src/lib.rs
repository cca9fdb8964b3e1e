//! Front door 004, desktop test cases: agents that see a screen and use keyboard and mouse, runners that
//! bring a desktop of their own, and the result files of OSUniverse as views of the run folder.

pub mod agents;
pub mod dialect;
pub mod results;
pub mod runner;
