//! The stages around the model, in the order of the data.
//!
//! ```text
//! added_tokens  added tokens in a text, before the other stages
//! normalize     text to normalized text
//! pretokenize   normalized text to words
//! split         normalizer and pre-tokenizer together, without a cache
//! postprocess   ids to a row with special tokens
//! decode        ids to text
//! ```

pub mod added_tokens;
pub mod decode;
pub mod normalize;
pub mod postprocess;
pub mod pretokenize;
pub mod split;
