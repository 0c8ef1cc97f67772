//! The substrings of the distinct words, with their counts.
//!
//! ```text
//! word_text  the words as codes of characters in one array
//! index      the positions of the text, sorted by the text that follows: where each substring occurs
//! seeds      the substrings with the largest count times length, and which of them begin with which
//! ```
//!
//! Unigram and pruning choose their seeds from it, and top-down its entries.

mod index;
mod seeds;
mod word_text;

pub(crate) use index::{inner_starts, Substring, SubstringIndex};
pub(crate) use seeds::{connect, keep_heaviest, select, SeedLimits, NONE};
pub(crate) use word_text::{DistinctWord, WordText};
