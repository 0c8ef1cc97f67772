//! Tokenizer files: bytes to specification and back, rules compiled for specifications, and lines to texts. No format
//! builds a tokenizer.

#![forbid(unsafe_code)]

mod bytes;
mod detect;
mod json;
mod ranks;
mod text;

pub mod cache;
pub mod clip;
pub mod gguf;
pub mod json_lines;
pub mod normalization_rules;
pub mod piecework_file;
pub mod sentencepiece;
pub mod tekken;
pub mod text_rows;
pub mod tiktoken;
pub mod tokenizer_json;
pub mod vocab_merges;
pub mod vocab_txt;

pub use detect::{detect, Format};
