//! SIMD pre-tokenization: scanners for the split patterns of published models, with the matches of their
//! regular expressions on every text.
//!
//! A scanner classifies 64 bytes at once into class masks, one mask for each class of characters. The rules
//! of the pattern turn class masks into a boundary mask, which has a bit for each byte where a word starts.
//! The few bytes that their neighbours do not decide are repaired afterwards. Linear in the text.
//!
//! ```text
//! scanner                         the settings of a scanner, and the patterns that have one
//! scan                            the whole scan, one window of a long text after the other
//! classes                         kinds of characters, and class masks
//! boundary_rules, deepseek, clip  the rules of each family, on the masks of a block with its neighbours, and repairs of
//!                                 the bytes that they do not decide
//! kind_text                       a text and the kinds of its characters
//! scalar                          the patterns character by character: the definition, which also scans short texts
//! ```
//!
//! A *leading* character is one of another class that a word includes before its run, such as a space before letters.
//!
//! GPT-2, cl100k and o200k patterns may follow a split at every number, as in StarCoder.

mod boundary_rules;
mod classes;
mod clip;
mod deepseek;
mod kind_text;
mod scalar;
mod scan;
mod scanner;
#[cfg(test)]
mod tests;

pub(super) use clip::CLIP;
pub(super) use deepseek::DEEPSEEK;
pub use scan::{ScanScratch, WordSpans};
pub(super) use scanner::{NumberSplit, Scanner};
