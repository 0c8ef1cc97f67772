//! Pre-tokenizers: normalized text to byte spans of words. Some also rewrite the text. Linear.

mod compile;
mod custom;
mod pre_tokenizer;
mod raw;
mod rewrite;
mod scanners;
mod simple;
mod split;
mod stage;
#[cfg(test)]
mod tests;

pub use compile::{refuse_empty_matches, without_empty_matches};
pub use pre_tokenizer::{PreTokenizer, PreTokenizerStages};
pub use raw::write_printable;
pub use scanners::{ScanScratch, WordSpans};
