//! Runs whose agents ask a model: what is recorded, what it costs, and what must not be found anywhere.

#[path = "models/budget.rs"]
mod budget;
#[path = "models/echo.rs"]
mod echo;
#[path = "models/keys.rs"]
mod keys;
#[path = "models/priced.rs"]
mod priced;
#[path = "models/stamped.rs"]
mod stamped;
#[path = "models/taped.rs"]
mod taped;
#[path = "models/waiting.rs"]
mod waiting;
