//! Normalizers: raw text to normalized text, with the source of each character if the sink keeps sources.
//!
//! Sources are those of tokenizers 0.23: an inserted character has the source of the character before it, a
//! composed character that of its first part.

mod bert;
mod boundaries;
mod charsmap;
mod custom;
mod edits;
mod forms;
mod normalizer;
mod precompiled;
mod rule_chars;
mod rules;
mod sentencepiece;
#[cfg(test)]
mod tests;

pub use bert::BertNormalizer;
pub use boundaries::Boundaries;
pub use custom::CustomNormalizer;
pub use edits::Replace;
pub use normalizer::{Normalizer, Sequence};
pub use precompiled::Precompiled;
pub use rules::Rules;
pub use sentencepiece::{CharAction, CharActions, SentencePieceNormalizer};
