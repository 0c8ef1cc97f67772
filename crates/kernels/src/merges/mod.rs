//! Words merged pair by pair: the table of pairs, and some words at once.

mod active_words;
mod interleaved;
mod pair_map;
#[cfg(test)]
mod tests;

pub use active_words::MAX_WORDS;
pub use interleaved::{BytePairMap, InterleavedWords, LongWordBatch, ShortWordBatch};
pub use pair_map::{hash, PairMap, NUMBER_BITS, NUMBER_BOUND};
