//! The mutable state of one thread.

use super::misses::MissQueue;
use super::scanner::Masks;
use super::text_score::UnscoredWords;
use super::word_source::WordSpan;

/// Scratch of one thread.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct MetaspaceScratch {
    pub(super) masks: Masks,
    /// The words that are looked up together.
    pub(super) words: Vec<WordSpan>,
    pub(super) escaped: String,
    pub(super) normalized: String,
    pub(super) queue: MissQueue,
    pub(super) unscored: UnscoredWords,
}
