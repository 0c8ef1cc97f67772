//! Learning vocabularies: words and counts in, entries out.
//!
//! ```text
//! count_map   words, u64 counts and first positions while they are gathered
//! counts      the same, finished: what learners read, and what shards merge
//! alphabet    which characters are entries, and where in words they stand
//! entries     the vocabulary under construction: strings, lengths, who is already there
//! progress    tells the caller how far a learner is, and lets it stop
//! shape       what pieces may look like
//! cutter      where no piece may go across
//! learned     what learners give, and what they all begin with
//! wordpiece   likelihood, pmi, frequency and top-down
//! bpe         byte-pair merges
//! unigram     the likeliest pieces
//! sentencepiece  models of SentencePiece, with its rules
//! ```

mod alphabet;
pub mod bpe;

mod entries;
mod learned;
mod piece_rules;
mod progress;
pub mod sentencepiece;
mod symbol_splitter;
pub mod unigram;
pub mod wordpiece;

pub use learned::{Learned, Merge};
pub use piece_rules::PieceRules;
