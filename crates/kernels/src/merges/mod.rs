//! Words joined pair by pair: the table of pairs, and some words at once.

mod few;
mod pairs;
mod rows;
#[cfg(test)]
mod tests;

pub use few::ABREAST;
pub use pairs::{hash, Pairs, NUMBER_BITS, NUMBER_BOUND};
pub use rows::{BytePairs, LongRows, Rows, ShortRows};
