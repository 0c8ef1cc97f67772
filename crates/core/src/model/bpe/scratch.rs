//! The buffers of one word, and of its merges.

use super::backtracking::{BacktrackingScratch, MergeBatches};
use super::dropout::PairOrder;
use super::merge::{MergeQueue, RankQueue};
use super::symbols::{Symbol, SymbolLinks};

/// The buffers of one word.
#[derive(Clone, Debug, Default)]
pub(in crate::model) struct BpeScratch {
    pub(super) symbols: Vec<Symbol>,
    pub(super) merging: MergeScratch,
    pub(super) backtracking: BacktrackingScratch,
    pub(super) interleaved: MergeBatches,
    pub(super) bytes: Vec<u8>,
}

/// The buffers of the merges of one word.
#[derive(Clone, Debug, Default)]
pub(super) struct MergeScratch {
    pub(super) links: SymbolLinks,
    pub(super) queue: MergeQueue,
    pub(super) rank_queue: RankQueue,
    pub(super) pair_order: PairOrder,
}
