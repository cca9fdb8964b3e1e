//! What is sent, checked against the documented shapes in golden files, and what may come back.

mod decode;
mod encode;
mod hostile;
mod stream;
