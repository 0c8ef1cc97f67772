//! Whose turn it is to choose a merge: the source whose measured text takes the most tokens for its size.
//!
//! Source: Foroutan et al. 2026, "Parity-Aware Byte-Pair Encoding", sections 3.1 to 3.3: the rule, its moving
//! window, and merges by the whole corpus before it. Sizes are integers and costs are compared as fractions, so
//! there is no rounding.

use std::cmp::Ordering;
use std::collections::VecDeque;

/// The share of the window that a source may have, as a multiple of an equal share.
const MOST_SHARES: usize = 2;

/// The costs of the sources, and the turns so far.
pub(crate) struct Turns {
    /// By source: the tokens of its measured text, and the size of that text.
    tokens: Vec<u64>,
    sizes: Vec<u64>,
    /// The index among all texts of the measured text of source 0.
    measured: usize,
    /// The merges that the whole corpus chooses first.
    global_merges: usize,
    /// The number of recent turns in which a source may have at most twice its equal share; 0 for no limit.
    window: usize,
    recent: VecDeque<u32>,
    recent_turns: Vec<usize>,
}

impl Turns {
    /// Begin with the tokens of all texts, those of sources first; the last ones, one for each of `sizes`, are
    /// measured.
    pub(crate) fn new(lengths: &[u64], sizes: Vec<u64>, global_merges: usize, window: usize) -> Self {
        let measured = lengths.len() - sizes.len();
        Self {
            tokens: lengths[measured..].to_vec(),
            measured,
            global_merges,
            window,
            recent: VecDeque::new(),
            recent_turns: vec![0; sizes.len()],
            sizes,
        }
    }

    /// Return the number of sources.
    pub(super) fn sources(&self) -> usize {
        self.sizes.len()
    }

    /// Return whether the whole corpus chooses the merge after so many.
    pub(super) fn are_global(&self, merges: usize) -> bool {
        merges < self.global_merges
    }

    /// Subtract the tokens that a merge removed from a text.
    pub(super) fn shorten(&mut self, text: usize, tokens: u64) {
        if let Some(length) = text.checked_sub(self.measured).and_then(|source| self.tokens.get_mut(source))
        {
            *length -= tokens;
        }
    }

    /// Return the sources, the one whose turn it is first; a source without a frequent pair leaves its turn to the next.
    ///
    /// Sources with more than their share of the window follow the others. Then the higher cost is first, then
    /// the earlier source.
    pub(super) fn order(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.sources() as u32).collect();
        order.sort_by(|&one, &two| {
            let (one, two) = (one as usize, two as usize);
            self.exceeds_share(one).cmp(&self.exceeds_share(two)).then_with(|| self.compare_costs(two, one))
        });
        order
    }

    /// Give the turn after `merges` merges to the first source that meets a condition; only a window needs to know it.
    pub(super) fn take(&mut self, merges: usize, is_frequent: impl Fn(u32) -> bool) {
        if self.window == 0 || self.are_global(merges) {
            return;
        }
        let Some(source) = self.order().into_iter().find(|&source| is_frequent(source)) else { return };
        if self.recent.len() == self.window {
            let oldest = self.recent.pop_front();
            oldest.into_iter().for_each(|oldest| self.recent_turns[oldest as usize] -= 1);
        }
        self.recent.push_back(source);
        self.recent_turns[source as usize] += 1;
    }

    fn exceeds_share(&self, source: usize) -> bool {
        self.recent_turns[source] * self.sources() > MOST_SHARES * self.window
    }

    fn compare_costs(&self, one: usize, two: usize) -> Ordering {
        let product =
            |tokens: usize, size: usize| u128::from(self.tokens[tokens]) * u128::from(self.sizes[size]);
        product(one, two).cmp(&product(two, one))
    }
}
