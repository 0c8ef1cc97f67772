//! The words of each route, as the word cache sees them and as the model segments them.
//!
//! ```text
//! byte_spans   spans of the text of a byte-level pipeline
//! ascii_spans  ASCII spans of the text of BERT's pipelines
//! metaspace       words of text that the model sees with a `▁` for each space
//! normalized   words of normalized text, of all other pipelines
//! ```

mod ascii_spans;
mod byte_spans;
mod metaspace;
mod normalized;
#[cfg(test)]
mod tests;

pub(super) use ascii_spans::AsciiSpans;
pub(super) use byte_spans::{ByteSpans, SplitLongWords};
pub(super) use metaspace::{
    MetaspaceScratch, MetaspaceText, MetaspaceWords, PartScratch, WordParts, WordRules, WordSpan,
    WrittenIds,
};
pub(super) use normalized::NormalizedWords;

use super::misses::QueuedWords;
use super::word_cache::{CacheKey, Lookups, WordCache};
use crate::error::Error;

/// The words of a text, in windows.
pub(super) trait Words {
    /// Find the next words, hash them and prefetch their buckets. Return the number of words in this window, at most
    /// [`super::word_cache::WINDOW`]; 0 after the last word.
    fn fill(&mut self, lookups: &mut Lookups, cache: &WordCache) -> Result<usize, Error>;

    /// Return the key of a word of the window.
    fn key(&self, number: usize) -> CacheKey<'_>;

    /// Queue a word of the window, which is a miss. Return whether its ids depend on its key alone, so that they may be
    /// stored.
    fn write_miss(
        &mut self,
        number: usize,
        cache: &WordCache,
        queue: &mut QueuedWords,
    ) -> Result<bool, Error>;
}
