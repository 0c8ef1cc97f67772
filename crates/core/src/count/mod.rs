//! Counting: a corpus to word counts.
//!
//! ```text
//! counts        word counts as trainers read them and as shards merge
//! count_map     word counts while they are collected
//! frequent      the words that occur often enough, and a digest of counts
//! merge         counts from columns, and sums of counts
//! word_counter  counting of texts on several threads
//! ```

mod count_map;
mod counts;
mod frequent;
mod merge;
mod word_counter;

pub use count_map::CountMap;
pub use counts::Counts;
pub use word_counter::{LineEnds, TextFilter, WordCounter};
