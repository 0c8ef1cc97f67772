//! The vocabulary during training: its entries, and the pairs that may be merged.

use super::spec::BpeTrainSpec;
use crate::entries::Entries;
use crate::Merge;

/// The entries and their lengths, with the settings that limit merges.
pub(super) struct GrowingVocabulary<'a> {
    pub(super) spec: &'a BpeTrainSpec,
    pub(super) entries: Entries,
    /// By entry: its characters, prefix and suffix not counted.
    lengths: Vec<usize>,
}

/// The entry that a merge yields, and whether it is new.
#[derive(Clone, Copy)]
pub(super) struct MergedEntry {
    pub(super) entry: u32,
    pub(super) is_new: bool,
}

impl<'a> GrowingVocabulary<'a> {
    /// The lengths of special tokens and alphabet.
    pub(super) fn first_lengths(spec: &BpeTrainSpec, entries: &Entries) -> Vec<usize> {
        entries.names().iter().map(|name| first_length(name, spec)).collect()
    }

    /// Begin with the entries of special tokens and alphabet, of these lengths, and of earlier merges.
    pub(super) fn new(
        spec: &'a BpeTrainSpec,
        entries: Entries,
        mut lengths: Vec<usize>,
        earlier: &[Merge],
    ) -> Self {
        for merge in earlier {
            if merge.merged as usize == lengths.len() {
                lengths.push(lengths[merge.left as usize] + lengths[merge.right as usize]);
            }
        }
        Self { spec, entries, lengths }
    }

    /// Whether the vocabulary has `vocab_size` entries.
    pub(super) fn is_full(&self) -> bool {
        self.entries.len() >= self.spec.vocab_size
    }

    /// The least count of a pair that is merged.
    pub(super) fn min_frequency(&self) -> u64 {
        self.spec.min_frequency.max(1)
    }

    /// Whether the merged entry of a pair is allowed.
    pub(super) fn fits(&self, left: u32, right: u32) -> bool {
        let length = self.lengths[left as usize] + self.lengths[right as usize];
        let Some(rules) = &self.spec.piece_rules else {
            return self.spec.max_token_length.is_none_or(|limit| length <= limit);
        };
        length <= rules.max_chars && rules.allows(&self.entries.merged_string(left, right))
    }

    /// Whether a pair must not be merged because its merged string is already an entry.
    pub(super) fn duplicates_entry(&self, left: u32, right: u32) -> bool {
        self.spec.distinct && self.entries.find_merged(left, right).is_some()
    }

    /// Add the merged entry of a pair, unless it exists.
    pub(super) fn add_merged(&mut self, left: u32, right: u32) -> MergedEntry {
        let (entry, is_new) = self.entries.add(&self.entries.merged_string(left, right));
        if is_new {
            self.lengths.push(self.lengths[left as usize] + self.lengths[right as usize]);
        }
        MergedEntry { entry, is_new }
    }
}

/// The length of a special token in characters, or 1 for a character in any form.
fn first_length(name: &str, spec: &BpeTrainSpec) -> usize {
    if spec.special_tokens.iter().any(|token| token == name) {
        name.chars().count()
    } else {
        1
    }
}
