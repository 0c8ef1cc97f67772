//! Pre-tokenizers: normalized text to byte spans of words. Some also rewrite the text. Linear.
//!
//! ```text
//! pre_tokenizer  a compiled pre-tokenizer, and its words as spans of raw text
//! stage          one member of a sequence, and how specifications become these
//! simple         splits by classes, digits, lengths and scripts, at matches, and the stages that rewrite
//! custom         functions of the user
//! scanners       known patterns, 64 bytes at a time
//! ```

mod custom;
mod pre_tokenizer;
mod scanners;
mod simple;
mod stage;
#[cfg(test)]
mod tests;

pub use pre_tokenizer::{write_printable, PreTokenizer, PreTokenizerStages};
pub use scanners::{ScanScratch, WordSpans};
pub use stage::{refuse_empty_matches, without_empty_matches};
