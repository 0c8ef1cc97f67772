//! The face of the crate: files, encodings, prompts, training.

mod encoding;
mod files;
mod segments;
#[cfg(feature = "training")]
mod training;
