//! The HTML report: one file that needs no other, with drawn charts and without scripts.

mod chart;
mod drawing;
mod page;
mod predictions;
mod seen;

pub(crate) use page::render;
