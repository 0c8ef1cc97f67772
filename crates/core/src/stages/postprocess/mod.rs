//! Post-processors: one or two sequences of ids to ids with special tokens and type ids.
//!
//! Compiling runs all processors once. The result is a list of special tokens and sequences for each of
//! single and pair, with and without special tokens.

mod post_processor;
mod process;
mod sub_encoding;
#[cfg(test)]
mod tests;
mod trim;

pub use post_processor::{Frame, PostProcessor};
pub use trim::{EdgeSpaceReader, EdgeSpaces};
