//! Training: a corpus to word counts, and word counts to vocabularies. It is a crate apart from the engine, which it does
//! not use, so that each half builds and is tested alone.
//!
//! ```text
//! count            a corpus to word counts
//! alphabet         the characters that are entries, and their entries by position in a word
//! entries          the entries during training: strings, ids, merged strings
//! memory           reservations that fail with an error
//! resume           training that continues after the merges or choices of an earlier run
//! progress         progress reports and interruption
//! trace            the steps of a run as data
//! thread_team      work by several threads in parts of fixed size
//! piece_rules      the rules for SentencePiece pieces
//! symbol_splitter  splitting of words where no piece may cross
//! learned          the result of training, and the first entries
//! merges           training by merges of pairs
//! substrings       the substrings of the distinct words, with their counts
//! pruning          training by pruning: many substrings, of which the least useful is removed
//! top_down         training top-down: frequent substrings, longest first
//! wordpiece        WordPiece: likelihood, pmi, frequency, top-down and pruning
//! bpe              byte-pair encoding
//! unigram          Unigram
//! sentencepiece    the four models of SentencePiece
//! ```
//!
//! Training is deterministic: the result depends on counts and settings only, not on threads or on the order
//! of the corpus, except where ties use first positions.

#![forbid(unsafe_code)]

mod alphabet;
pub mod bpe;
pub mod count;
mod entries;
mod learned;
mod memory;
pub mod merges;
mod piece_rules;
mod progress;
mod pruning;
mod resume;
pub mod sentencepiece;
mod substrings;
mod symbol_splitter;
mod thread_team;
mod top_down;
mod trace;
pub mod unigram;
pub mod wordpiece;

pub use alphabet::{AlphabetForms, AlphabetOrder};
pub use learned::{Learned, Removal};
pub use memory::check_available;
pub use piece_rules::{PieceRules, SeveralWords};
pub use resume::{ChoiceLog, Merge, MergeLog, Resume};
pub use trace::{
    EntryLoss, MergeStep, RemovalStep, Score, ScoredPair, SplitChange, Step, StepLog, ThresholdStep, Trace,
    TraceSpec,
};
