//! SentencePiece's normalizer: compiled rules by longest match, then the treatment of spaces.
//!
//! At each position a user-defined symbol is copied; else the longest matching rule is applied; else one
//! character is copied. Depending on the settings, spaces at the ends and repeated spaces are removed, a
//! space is added before or after the text, and spaces become `▁`. The source of a character extends to the
//! beginning of the next character's source. O(n) times the longest rule; ASCII without rules is copied.
//!
//! Kudo and Richardson 2018, "SentencePiece", section 3; compared with `sentencepiece` 0.2.

mod char_action;
mod normalizer;
mod segment;
mod writer;

pub use char_action::{CharAction, CharActions};
pub use normalizer::SentencePieceNormalizer;
