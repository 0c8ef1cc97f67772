//! Merge short words of ASCII and metaspaces in batches of interleaved words (`piecework_kernels::merges`).
//!
//! Numbers are in the order of merges, after the ASCII characters; the space stands for the metaspace. A merge of
//! such text makes such text, so these merges are all that such a word needs.

use piecework_kernels::merges::{BytePairMap, PairMap, ShortWordBatch};

use crate::model::bpe::backtracking::SplitTable;
use crate::model::bpe::merges::MergeIds;
use crate::text::METASPACE;

const ASCII: usize = 128;
const NONE: u32 = u32::MAX;

/// The merges of ASCII text.
#[derive(Clone, Debug)]
pub(super) struct AsciiMerges {
    bytes: BytePairMap,
    pairs: PairMap,
    /// The ids by number.
    entries: Vec<u32>,
}

impl AsciiMerges {
    /// Select the merges of ASCII text, where `chars` are the ids of characters and merges are in order. `None` if their
    /// pairs fill long runs of the hash table by every seed.
    pub(super) fn of(
        chars: impl Iterator<Item = (u32, char)>,
        merges: &[MergeIds],
        id_bound: usize,
    ) -> Option<Self> {
        let mut numbers = vec![NONE; id_bound];
        let mut entries = vec![NONE; ASCII];
        for (entry, c) in chars {
            let byte = if c == METASPACE { b' '.into() } else { c as usize };
            if byte < ASCII && c != ' ' {
                (numbers[entry as usize], entries[byte]) = (byte as u32, entry);
            }
        }
        let symbols = entries.clone();
        let mut splits = SplitTable::with_symbols(ASCII, merges.len().min(id_bound));
        for &MergeIds { left, right, merged } in merges {
            let [left, right, number] = [left, right, merged].map(|entry| numbers[entry as usize]);
            if left != NONE && right != NONE && number == NONE && splits.is_valid_token_pair(left, right) {
                numbers[merged as usize] = splits.merge(left, right, (&symbols, merges))?;
                entries.push(merged);
            }
        }
        Some(Self { bytes: splits.byte_pairs(), pairs: splits.into_pairs(), entries })
    }

    /// Merge up to `MAX_WORDS` words, given as bytes with spaces instead of metaspaces, of at most
    /// `ShortWordBatch::MAX_BYTES`.
    #[inline]
    pub(super) fn merge_batch(&self, words: &[&[u8]], rows: &mut ShortWordBatch) {
        rows.merge_words(words, &self.bytes, &self.pairs);
    }

    /// Call `emit` with the ids of one of these words. Return `false`, perhaps after some, if one of its characters
    /// has no id.
    #[inline]
    pub(super) fn entries(&self, rows: &ShortWordBatch, row: usize, mut emit: impl FnMut(u32)) -> bool {
        rows.numbers(row).map(|number| self.entries[number as usize]).all(|entry| {
            emit(entry);
            entry != NONE
        })
    }

    /// Return the bytes of memory.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.bytes() + self.pairs.bytes() + size_of_val(self.entries.as_slice())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::model::bpe::scored::{ScoredBpe, ScoredBpeScratch};
    use crate::model::pieces::test_models::scored_bpe;
    use crate::spec::{PieceType, ScoredPiece, SentencePieceKind, SentencePieceSpec};
    use crate::vocab::Vocab;

    fn compiled(pieces: &[(String, i32)]) -> (ScoredBpe, Vocab) {
        let piece = |text: &str, score: f32, kind| ScoredPiece { text: text.into(), score, kind };
        let mut all =
            vec![piece("<unk>", 0.0, PieceType::Unknown), piece("\u{2581}", -99.0, PieceType::Normal)];
        for (text, score) in pieces {
            if all.iter().all(|other| other.text != *text) {
                // Shorter pieces mostly score more, so that no merge needs a piece that only a later one makes.
                let score = text.chars().count() as i32 * 1000 + score;
                all.push(piece(text, -score as f32, PieceType::Normal));
            }
        }
        let spec =
            SentencePieceSpec { kind: SentencePieceKind::Bpe, pieces: all, ..SentencePieceSpec::default() };
        scored_bpe(&spec)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn a_batch_of_words_equals_single_words(
            pieces in prop::collection::vec(("\u{2581}{0,1}[abc\u{e9}]{1,5}|\u{2581}{2,4}", 0..1000), 1..40),
            words in prop::collection::vec("[ abc]{1,15}|[ab]{1,15}|[ acd]{1,6}", 1..16),
        ) {
            let (model, vocab) = compiled(&pieces);
            let mut scratch = ScoredBpeScratch::default();
            if !model.merges_in_batches(&vocab) {
                return Ok(());
            }
            let bytes: Vec<&[u8]> = words.iter().map(String::as_bytes).collect();
            model.merge_batch(&bytes, &vocab, &mut scratch);
            for (row, word) in words.iter().enumerate() {
                let (mut expected, mut found) = (Vec::new(), Vec::new());
                model.run(&word.replace(' ', "\u{2581}"), &vocab, &mut ScoredBpeScratch::default(), None, &mut expected);
                // A character that is only part of pieces cannot be segmented here.
                if model.push_merged(row, &mut scratch, &mut found) {
                    prop_assert_eq!(found, expected, "{:?}", word);
                } else {
                    prop_assert!(found.is_empty() && expected.contains(&0));
                }
            }
        }
    }
}
