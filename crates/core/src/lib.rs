//! The core of piecework: every stage between text and ids.
//!
//! In the order of the data: added tokens, normalizer, pre-tokenizer, model, post-processor; then decoder.
//! [`engine`] is the only module that names all stages.
//!
//! ```text
//! spec            tokenizers as plain data
//! vocab           tokens to ids and back
//! ranks           the merges of tokens whose ids are ranks
//! text            strings, patterns and alignments
//! stages          what happens around the model
//! model           words to tokens
//! interrupt       ends long work when its caller asks for it
//! engine          the compiled tokenizer, its word cache, and batches
//! ```

#![forbid(unsafe_code)]

pub use piecework_kernels::level;

pub mod double_array;
pub mod encoding;
pub mod engine;
pub mod error;
mod hash_runs;
pub mod interrupt;
mod locks;
pub mod model;
pub mod ranks;
pub mod spec;
pub mod stages;
pub mod table_sections;
pub mod text;
pub mod threads;
pub mod vocab;
pub mod word_key;
