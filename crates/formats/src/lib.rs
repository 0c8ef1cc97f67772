//! Tokenizer files: bytes to specification and back, nothing else. No format builds a tokenizer.

#![forbid(unsafe_code)]

pub mod tokenizer_json;
pub mod vocab_txt;
