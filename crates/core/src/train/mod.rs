//! Learning vocabularies: words and counts in, entries out.
//!
//! ```text
//! counts      words, u64 counts and first positions: what learners read, and what shards merge
//! wordpiece   likelihood, pmi, frequency and top-down
//! ```

pub mod counts;
pub mod wordpiece;

pub use counts::{CountMap, Counts};
