//! Post-processors: one or two sequences of ids in, ids framed by special tokens out.
//!
//! Whatever the processors and their order, the result is fixed when the tokenizer is compiled: an arrangement of special tokens and sequences, one for each of single and pair, with and without
//! special tokens.

mod post_processor;
mod process;
mod sub_encoding;
mod template;
#[cfg(test)]
mod tests;
mod trim;

pub use post_processor::{Frame, PostProcessor};
