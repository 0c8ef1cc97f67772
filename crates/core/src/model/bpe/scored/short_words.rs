//! Merge short words of frequent characters in batches of interleaved words (`piecework_kernels::merges`).
//!
//! A byte stands for each of these characters: ASCII for itself, a space for the metaspace, and the others for the
//! characters of two bytes that have the most merges. Numbers are in the order of merges, after the bytes. A merge of
//! such text makes such text, so these merges are all that such a word needs.

use std::cmp::Reverse;

use piecework_kernels::merges::{BytePairMap, PairMap, ShortWordBatch};

use crate::model::bpe::backtracking::SplitTable;
use crate::model::bpe::merges::MergeIds;
use crate::text::{METASPACE, METASPACE_STR};

const ASCII: usize = 128;
const BYTES: usize = 256;
const NONE: u32 = u32::MAX;
/// The code points of one or two bytes of UTF-8.
const NARROW: usize = 0x800;

/// The merges of text of frequent characters.
#[derive(Clone, Debug)]
pub(super) struct ShortWordMerges {
    codes: CharCodes,
    bytes: BytePairMap,
    pairs: PairMap,
    /// The ids by number.
    entries: Vec<u32>,
}

/// The bytes that stand for characters.
#[derive(Clone, Debug)]
pub(crate) struct CharCodes {
    /// By code point: the byte; 0 if no byte stands for it.
    codes: Box<[u8; NARROW]>,
    /// By byte.
    chars: Box<[char; BYTES]>,
}

impl CharCodes {
    /// Choose the characters, given with their ids, by the merges that have them as a side.
    fn of(chars: &[(u32, char)], merges: &[MergeIds], id_bound: usize) -> Self {
        let mut uses = vec![0_usize; id_bound];
        for merge in merges {
            [merge.left, merge.right].iter().for_each(|&side| uses[side as usize] += 1);
        }
        let mut wide: Vec<_> = chars
            .iter()
            .filter(|&&(entry, c)| (ASCII..NARROW).contains(&(c as usize)) && uses[entry as usize] > 0)
            .map(|&(entry, c)| (Reverse(uses[entry as usize]), c))
            .collect();
        wide.sort_unstable();
        let mut of_bytes: [char; BYTES] =
            std::array::from_fn(|byte| if byte < ASCII { byte as u8 as char } else { '\0' });
        of_bytes[usize::from(b' ')] = METASPACE;
        of_bytes[ASCII..].iter_mut().zip(wide).for_each(|(of_byte, (_, c))| *of_byte = c);
        let mut codes = Box::new([0; NARROW]);
        for (byte, &c) in (0..=u8::MAX).zip(&of_bytes) {
            if let Some(code) = codes.get_mut(c as usize).filter(|_| c != '\0') {
                *code = byte;
            }
        }
        Self { codes, chars: Box::new(of_bytes) }
    }

    /// Return the byte that stands for a character.
    fn code(&self, c: char) -> Option<u8> {
        match c {
            METASPACE => Some(b' '),
            _ => self.codes.get(c as usize).copied().filter(|&code| code > 0),
        }
    }

    /// Write the bytes of an escaped word, at most `max_len`. Return `false` if there are more, or none, or if no byte
    /// stands for a character.
    pub(crate) fn write(&self, escaped: &[u8], max_len: usize, out: &mut Vec<u8>) -> bool {
        out.clear();
        let mut rest = escaped;
        while let [first, after @ ..] = rest {
            let (code, after) = match after {
                _ if first.is_ascii() => (self.codes[usize::from(*first)], after),
                [second, after @ ..] if *first < 0xE0 => {
                    (self.codes[usize::from(first & 0x1F) << 6 | usize::from(second & 0x3F)], after)
                }
                _ => match rest.strip_prefix(METASPACE_STR.as_bytes()) {
                    Some(after) => (b' ', after),
                    None => return false,
                },
            };
            if code == 0 {
                return false;
            }
            out.push(code);
            rest = after;
        }
        (1..=max_len).contains(&out.len())
    }

    /// Return the characters that bytes stand for.
    pub(crate) fn chars<'c>(&'c self, bytes: &'c [u8]) -> impl Iterator<Item = char> + 'c {
        bytes.iter().map(|&byte| self.chars[usize::from(byte)])
    }
}

impl ShortWordMerges {
    /// Select the merges of frequent characters, where `chars` are the ids of characters and merges are in order. `None`
    /// if their pairs fill long runs of the hash table by every seed.
    pub(super) fn of(
        chars: impl Iterator<Item = (u32, char)>,
        merges: &[MergeIds],
        id_bound: usize,
    ) -> Option<Self> {
        let chars: Vec<_> = chars.collect();
        let codes = CharCodes::of(&chars, merges, id_bound);
        let mut numbers = vec![NONE; id_bound];
        let mut entries = vec![NONE; BYTES];
        for (entry, c) in chars {
            if let Some(code) = codes.code(c) {
                (numbers[entry as usize], entries[usize::from(code)]) = (code.into(), entry);
            }
        }
        let symbols = entries.clone();
        let mut splits = SplitTable::with_symbols(BYTES, merges.len().min(id_bound));
        for &MergeIds { left, right, merged } in merges {
            let [left, right, number] = [left, right, merged].map(|entry| numbers[entry as usize]);
            if left != NONE && right != NONE && number == NONE && splits.is_valid_token_pair(left, right) {
                numbers[merged as usize] = splits.merge(left, right, (&symbols, merges))?;
                entries.push(merged);
            }
        }
        Some(Self { codes, bytes: splits.byte_pairs(), pairs: splits.into_pairs(), entries })
    }

    /// Return the bytes that stand for characters.
    pub(super) fn codes(&self) -> &CharCodes {
        &self.codes
    }

    /// Merge up to `MAX_WORDS` words, given by the bytes for their characters, of at most `ShortWordBatch::MAX_BYTES`.
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
        let tables = self.bytes.bytes() + self.pairs.bytes() + size_of_val(self.entries.as_slice());
        tables + size_of_val(&*self.codes.codes) + size_of_val(&*self.codes.chars)
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
            pieces in prop::collection::vec(
                ("\u{2581}{0,1}[abc\u{e9}\u{44f}\u{6f22}]{1,5}|\u{2581}{2,4}", 0..1000), 1..40
            ),
            words in prop::collection::vec("[\u{2581}abc]{1,15}|[a\u{e9}\u{44f}]{1,15}|[\u{2581}acd\u{6f22}]{1,6}", 1..16),
        ) {
            let (model, vocab) = compiled(&pieces);
            let mut scratch = ScoredBpeScratch::default();
            let Some(codes) = model.codes(&vocab) else { return Ok(()) };
            let mut coded = Vec::new();
            for word in &words {
                let mut bytes = Vec::new();
                if codes.write(word.as_bytes(), 15, &mut bytes) {
                    coded.push((bytes, word.as_str()));
                }
            }
            let bytes: Vec<&[u8]> = coded.iter().map(|(bytes, _)| bytes.as_slice()).collect();
            model.merge_batch(&bytes, &vocab, &mut scratch);
            for (row, &(ref bytes, word)) in coded.iter().enumerate() {
                prop_assert_eq!(codes.chars(bytes).collect::<String>(), word);
                let (mut expected, mut found) = (Vec::new(), Vec::new());
                model.run(word, &vocab, &mut ScoredBpeScratch::default(), None, &mut expected);
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
