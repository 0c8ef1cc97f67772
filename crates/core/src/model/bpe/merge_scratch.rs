//! The buffers of the merges of one word.

use super::dropout::PairOrder;
use super::merge_by_heap::MergeQueue;
use super::merge_by_rank::RankQueue;
use super::symbols::SymbolLinks;

/// The buffers of the merges of one word.
#[derive(Clone, Debug, Default)]
pub(super) struct MergeScratch {
    pub(super) links: SymbolLinks,
    pub(super) queue: MergeQueue,
    pub(super) rank_queue: RankQueue,
    pub(super) pair_order: PairOrder,
}
