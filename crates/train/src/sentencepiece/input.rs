//! What a model is learned from.

use crate::count::Counts;
use crate::symbol_splitter::SymbolSplitter;
use crate::unigram::RankedAlphabet;

/// The counts, with the characters and symbols that limit pieces.
pub(super) struct TrainingInput<'c> {
    pub(super) counts: &'c Counts,
    pub(super) splitter: SymbolSplitter,
    pub(super) alphabet: RankedAlphabet,
}
