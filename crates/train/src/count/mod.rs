//! Counting: a corpus to word counts.
//!
//! ```text
//! boundaries    words with boundaries inside that no entry may cross, and the parts between them
//! counts        word counts as trainers read them and as shards merge
//! count_map     word counts while they are collected
//! merge         counts from columns, and sums of counts
//! sample        a random sample of texts
//! split         the words within counted words, and the characters that a pipeline makes words of their own
//! spilled       sorted runs of words in files, and their merge
//! ordered_words the result of counting, from memory or from files
//! word_counter  counting of texts on several threads
//! ```

mod boundaries;
mod count_map;
mod counts;
mod merge;
mod ordered_words;
mod sample;
mod spilled;
mod split;
mod word_counter;

pub(crate) use boundaries::{MarkedSides, Part};
pub use count_map::CountMap;
pub use counts::Counts;
pub use ordered_words::OrderedWords;
pub use spilled::GroupWeights;
pub use word_counter::{CountPosition, CounterSettings, CounterState, LeftOut, WordCounter};

#[cfg(test)]
mod tests;
