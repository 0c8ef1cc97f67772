//! Words merged pair by pair: the table of pairs, and some words at once.

mod interleaved;
mod pair_map;
#[cfg(test)]
mod tests;

pub use interleaved::{BytePairMap, InterleavedWords, LongWordBatch, ShortWordBatch, MAX_WORDS};
pub use pair_map::{PairMap, NUMBER_BITS, NUMBER_BOUND};
