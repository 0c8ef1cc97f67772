//! The mutable state of one thread.

use super::misses::MissQueue;
use super::offsets::AlignedIds;
use super::sentencepiece_unigram::UnscoredWords;
use super::stages::AddedSpaces;
use super::word_cache::{Lookups, WordCache};
use super::words::{MetaspaceScratch, PartScratch, SplitLongWords};
use crate::model::{ModelScratch, TokenSpan};
use crate::stages::split::SplitScratch;

/// The mutable state of one thread; made by [`super::Tokenizer::scratch`].
#[derive(Clone, Debug)]
pub struct Scratch {
    pub(super) cache: WordCache,
    pub(super) lookups: Lookups,
    pub(super) misses: MissQueue,
    pub(super) metaspace: MetaspaceScratch,
    pub(super) parts: PartScratch,
    pub(super) unscored: UnscoredWords,
    /// Byte-level words that are split.
    pub(super) long_words: SplitLongWords,
    pub(super) model: ModelScratch,
    pub(super) split: SplitScratch,
    /// The ids of the first and the second sequence of a row.
    pub(super) first: Vec<u32>,
    pub(super) second: Vec<u32>,
    pub(super) row: Vec<u32>,
    /// Ids before they are aligned with their text, and the result.
    pub(super) unaligned: Vec<u32>,
    pub(super) aligned: AlignedIds,
    pub(super) spans: Vec<TokenSpan>,
    pub(super) added_spaces: AddedSpaces,
    /// A text of another encoding in UTF-8.
    pub(crate) text: String,
}

/// Memory in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// The tables of the vocabulary and the model, which all threads share.
    pub tables: usize,
    /// The word cache of each thread that encodes, at first.
    pub caches: usize,
    /// The limit of each word cache.
    pub budget: usize,
}

/// The default limit of the word cache of a thread, in bytes.
pub(super) const DEFAULT_CACHE_BUDGET: usize = 64 << 20;

impl Scratch {
    pub(super) fn new(cache_budget: usize, initial_bits: u32) -> Self {
        Self {
            cache: WordCache::within(cache_budget, initial_bits),
            lookups: Lookups::default(),
            misses: MissQueue::default(),
            metaspace: MetaspaceScratch::default(),
            parts: PartScratch::default(),
            unscored: UnscoredWords::default(),
            long_words: SplitLongWords::default(),
            model: ModelScratch::default(),
            split: SplitScratch::default(),
            first: Vec::new(),
            second: Vec::new(),
            row: Vec::new(),
            unaligned: Vec::new(),
            aligned: AlignedIds::default(),
            spans: Vec::new(),
            added_spaces: AddedSpaces::default(),
            text: String::new(),
        }
    }

    /// Return whether no word waits, and no row that ended.
    #[cfg(test)]
    pub(crate) fn is_flushed(&self) -> bool {
        self.misses.is_flushed()
    }

    /// Return the memory of the word cache, used or not.
    pub(super) fn cache_memory(&self) -> usize {
        self.cache.memory()
    }
}
