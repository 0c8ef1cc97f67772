//! SentencePiece's normalizer: compiled rules, the longest match first, then its treatment of spaces.
//!
//! Where the text stands: a user-defined symbol is taken as it is, else the longest rule that matches is
//! applied, else one character is taken. Spaces at the ends and repeated ones may go, a space may come
//! before or after the text, and every space may become `▁`. A character comes from what stands between
//! the beginning of what it was made of and the beginning of what the next one was made of. O(n) times the
//! longest rule; ASCII that no rule touches is copied.
//!
//! Kudo and Richardson 2018, "SentencePiece", section 3; checked against `sentencepiece` 0.2.

mod char_action;
mod normalizer;
mod segment;
mod writer;

pub use char_action::{CharAction, CharActions};
pub use normalizer::SentencePiece;
