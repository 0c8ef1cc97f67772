//! The buffers of one word.

use super::backtracking::{BacktrackingScratch, MergeBatches};
use super::merge_scratch::MergeScratch;
use super::symbols::Symbol;

/// The buffers of one word.
#[derive(Clone, Debug, Default)]
pub(in crate::model) struct BpeScratch {
    pub(super) symbols: Vec<Symbol>,
    pub(super) merging: MergeScratch,
    pub(super) backtracking: BacktrackingScratch,
    pub(super) interleaved: MergeBatches,
    pub(super) bytes: Vec<u8>,
}
