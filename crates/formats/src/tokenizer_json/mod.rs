//! `tokenizer.json`: version 1.0 read and written, version 2.0 read.
//!
//! Each stage has one file that holds both its reading and its writing. Fields are written as
//! `tokenizers` 0.23 writes them, in its order; what it lets a file leave out may be left out here.
//! It ignores what it does not know; here unknown fields and components, repeated names, wrong types
//! and contradictions are errors that name their path and what is known.

mod added_tokens;
mod bpe;
mod custom;
mod decoders;
mod lengths;
mod models;
mod normalizers;
mod post_processors;
mod pre_tokenizers;
mod read;
mod sentencepiece;
mod shared;
mod version_2;
mod write;

#[cfg(test)]
mod tests;

pub(crate) use models::{read_model, write_model};
pub use read::{read, read_pipeline, read_with};
pub use write::write;
