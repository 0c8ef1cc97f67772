//! The core of piecework: every stage between text and ids, and the trainers.
//!
//! In the order of the data: added tokens, normalizer, pre-tokenizer, model, post-processor; then decoder.
//! [`encode`] is the only module that names all stages, [`batch`] runs it over many texts.

#![forbid(unsafe_code)]

pub use piecework_kernels::level;

mod double_array;
pub mod error;
pub mod spec;
pub mod table_sections;
pub mod text;
pub mod vocab;
pub mod word_key;

mod locks;

pub mod added_tokens;

pub mod normalize;

pub mod pretokenize;

pub mod model;

pub mod postprocess;

pub mod decode;

pub mod split;

mod word_cache;

pub mod encoding;

pub mod encode;

pub mod count;

pub mod train;

pub mod batch;

mod threads;
