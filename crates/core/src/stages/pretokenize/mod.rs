//! Pre-tokenizers: normalized text to byte spans of words. Some also rewrite the text. Linear.

mod byte_level;
mod compile;
mod custom;
mod empty;
mod metaspace;
mod pre_tokenizer;
mod raw;
mod scanners;
mod simple;
mod split;
mod stage;
#[cfg(test)]
mod tests;
mod words;

pub use empty::refuse_empty_matches;
pub use pre_tokenizer::{PreTokenizer, PreTokenizerStages};
pub use raw::write_printable;
pub use scanners::ScanScratch;
pub use words::WordSpans;
