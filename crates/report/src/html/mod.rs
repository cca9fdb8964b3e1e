//! The HTML report: one file that needs no other, with drawn charts and without scripts.

mod chart;
mod page;

pub(crate) use page::render;
