//! The mutable state of one thread.

use super::bert;
use super::byte_level;
use super::generic;
use super::metaspace;
use super::offsets::AlignedIds;
use super::stages::AddedSpaces;
use crate::engine::word_cache::{LookupScratch, WordCache};
use crate::model::{ModelScratch, TokenSpan};
use crate::stages::split::SplitScratch;

/// The mutable state of one thread; made by [`super::Tokenizer::scratch`].
#[derive(Clone, Debug)]
pub struct Scratch {
    pub(super) cache: WordCache,
    pub(super) lookup: LookupScratch,
    pub(super) route: RouteScratch,
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

/// The memory of each route.
#[derive(Clone, Debug, Default)]
pub(super) struct RouteScratch {
    pub(super) byte_level: byte_level::MissQueue,
    pub(super) bert: bert::MissQueue,
    pub(super) metaspace: metaspace::MetaspaceScratch,
    pub(super) generic: generic::MissQueue,
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
            lookup: LookupScratch::default(),
            route: RouteScratch::default(),
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

    /// Whether no word waits, and no row that ended.
    #[cfg(test)]
    pub(crate) fn is_flushed(&self) -> bool {
        self.lookup.pending.is_flushed()
    }

    /// Returns the memory of the word cache, used or not.
    pub(super) fn cache_memory(&self) -> usize {
        self.cache.memory()
    }
}
