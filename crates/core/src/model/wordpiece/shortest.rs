//! The segmentation with the fewest tokens, by dynamic programming from the right.
//!
//! Costs are the numbers of unknown characters and of tokens, compared in this order. Among equal costs the longest
//! first token wins. O(word x longest token).

use super::lin_max_match::{INSIDE, START};
use crate::double_array::Trie;
use crate::interrupt;
use crate::model::{TokenSink, TokenSpan};
use crate::spec::UnknownUnit;

/// The best segmentation of a suffix of the word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BestSuffix {
    cost: (u32, u32),
    id: u32,
    end: u32,
}

const UNREACHABLE: (u32, u32) = (u32::MAX, u32::MAX);

/// Segments words into the fewest tokens of a trie.
pub(super) struct FewestTokens<'t> {
    pub(super) trie: &'t Trie,
    pub(super) unk_id: u32,
    pub(super) unk: UnknownUnit,
}

impl FewestTokens<'_> {
    /// Segment a word. Return `false`, with nothing appended, if it has no segmentation.
    pub(super) fn append(&self, word: &str, best: &mut Vec<BestSuffix>, out: &mut impl TokenSink) -> bool {
        let end = word.len();
        best.clear();
        best.resize(end + 1, BestSuffix { cost: UNREACHABLE, id: self.unk_id, end: end as u32 });
        best[end].cost = (0, 0);
        for (start, c) in word.char_indices().rev() {
            interrupt::check(1);
            best[start] = self.best_from(word, start, c.len_utf8(), best);
        }
        if best[0].cost == UNREACHABLE {
            return false;
        }
        let mut start = 0;
        while start < end {
            let BestSuffix { id, end: next, .. } = best[start];
            out.push(TokenSpan { id, start: start as u32, end: next });
            start = next as usize;
        }
        true
    }

    fn best_from(&self, word: &str, start: usize, char_len: usize, best: &[BestSuffix]) -> BestSuffix {
        let mut chosen = self.unknown_char_from(start, start + char_len, best);
        let mut state = if start == 0 { START } else { INSIDE };
        for (at, &byte) in word.as_bytes().iter().enumerate().skip(start) {
            let Some(next) = self.trie.child(state, byte) else { break };
            state = next;
            if let Some(id) = self.trie.entry(state) {
                let (unknown, pieces) = best[at + 1].cost;
                let cost = (unknown, pieces.saturating_add(1));
                if best[at + 1].cost != UNREACHABLE && cost <= chosen.cost {
                    chosen = BestSuffix { cost, id, end: at as u32 + 1 };
                }
            }
        }
        chosen
    }

    /// Return the suffix whose first character is unknown, if unknown characters are allowed.
    fn unknown_char_from(&self, start: usize, end: usize, best: &[BestSuffix]) -> BestSuffix {
        let (unknown, pieces) = best[end].cost;
        let cost = match self.unk {
            UnknownUnit::Char if best[end].cost != UNREACHABLE => (unknown + 1, pieces + 1),
            _ => UNREACHABLE,
        };
        debug_assert!(start < end);
        BestSuffix { cost, id: self.unk_id, end: end as u32 }
    }
}
