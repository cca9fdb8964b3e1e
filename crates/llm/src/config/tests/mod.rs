//! Whole configurations: files, variables and names into models.

mod inheritance;
mod mistakes;
mod models;
mod place;
mod secrecy;
mod sections;
