//! The face of the crate: files, encodings, prompts, budgets, training.

mod budget;
mod encoding;
mod files;
mod segments;
#[cfg(feature = "training")]
mod training;
