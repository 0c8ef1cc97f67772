//! The face of the crate: files, encodings, prompts.

mod encoding;
mod files;
mod segments;
