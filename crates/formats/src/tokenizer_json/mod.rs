//! `tokenizer.json`: version 1.0 read and written, version 2.0 read.
//!
//! One file a stage, with its reader and its writer. Fields are written as `tokenizers` 0.23 writes them, in its
//! order, and the same fields are optional. `tokenizers` ignores unknown content. Here unknown fields and
//! components, repeated names, wrong types and contradictions are errors, which name the path and what is
//! expected.

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
mod vocab;
mod write;

#[cfg(test)]
mod tests;

pub(crate) use models::{read_model, write_model};
pub use read::{read, read_pipeline, read_splitting_pipeline, read_with};
pub use write::write;
