//! The substrings of the distinct words, with their counts.
//!
//! ```text
//! word_text  the words as codes of characters in one array
//! index      the positions of the text, sorted by the text that follows: where each substring occurs; the seeds, which are
//!            the substrings with the largest count times length, and which of them begin with which
//! ```
//!
//! Unigram and pruning choose their seeds from it, and top-down its entries.

mod index;
mod word_text;

pub(crate) use index::{
    connect, inner_starts, keep_heaviest, select, SeedLimits, Substring, SubstringIndex, NONE,
};
pub(crate) use word_text::{DistinctWord, WordText};
