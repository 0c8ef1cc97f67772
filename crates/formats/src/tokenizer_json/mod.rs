//! `tokenizer.json`, version 1.0, as far as its components are known here.
//!
//! Unknown fields and components are errors that name their path and what is known.

mod field;
mod model;
mod read;
mod write;

pub use read::{read, read_pipeline};
pub use write::write;
