//! Small models for tests.

use super::{BacktrackingBpe, MergeIds, MergeRules};
use crate::table_sections::TableSections;

/// Return a model of these bytes with these merges, given by indices of symbols, of tokens shorter than `bound`.
pub(super) fn linear(bytes: [u8; 3], pairs: &[(usize, usize)], bound: usize) -> Option<BacktrackingBpe> {
    let mut texts = bytes.map(|byte| vec![byte]).to_vec();
    let mut merges = Vec::new();
    for &(left, right) in pairs {
        let (left, right) = (left % texts.len(), right % texts.len());
        let text = [&texts[left][..], &texts[right]].concat();
        if !texts.contains(&text) && text.len() < bound {
            let [left, right, merged] = [left, right, texts.len()].map(|entry| entry as u32);
            merges.push(MergeIds { left, right, merged });
            texts.push(text);
        }
    }
    let stored = &TableSections::default();
    let (id_bound, merges) = (texts.len(), &merges);
    let rules = MergeRules { id_bound, symbols: &[0, 1, 2], merges, whole_words: &[], stored };
    BacktrackingBpe::compile(&rules, |entry, bytes| bytes.extend_from_slice(&texts[entry as usize]))
}
