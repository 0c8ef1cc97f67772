//! Merge the words of a text in batches of interleaved words, short and longer words separately.
//!
//! Words are emitted in their order. When the next word of its length class is not merged yet, a batch of the
//! following words of this class is, since all words of the previous batch have been emitted.

use piecework_kernels::merges::{BytePairMap, InterleavedWords, LongWordBatch, ShortWordBatch, MAX_WORDS};

use super::BacktrackingBpe;
use crate::model::BatchWord;

/// The batches of both length classes.
#[derive(Clone, Debug, Default)]
pub(in crate::model::bpe) struct MergeBatches {
    short: LengthClass<16, 32>,
    long: LengthClass<32, 64>,
}

/// A batch of words of one length class.
#[derive(Clone, Debug, Default)]
struct LengthClass<const SYMBOLS: usize, const CAPACITY: usize> {
    /// Allocated when the first word comes.
    rows: Option<Box<InterleavedWords<SYMBOLS, CAPACITY>>>,
    /// The next word of the batch to emit, and the size of the batch.
    next: usize,
    count: usize,
}

impl BacktrackingBpe {
    /// Append the ids of the first of `words`. Return `false` for words that are too long. The caller passes all
    /// words of the text in their order.
    #[inline]
    pub(in crate::model::bpe) fn push_next(
        &self,
        (text, words): (&[u8], &[BatchWord]),
        MergeBatches { short, long }: &mut MergeBatches,
        out: &mut Vec<u32>,
    ) -> bool {
        let Some(pairs) = &self.byte_pairs else { return false };
        let len = words.first().map_or(0, |word| word.bytes.1 - word.bytes.0);
        if len <= ShortWordBatch::MAX_BYTES {
            short.push_next(self, pairs, (text, words), 0, out);
        } else if len <= LongWordBatch::MAX_BYTES {
            long.push_next(self, pairs, (text, words), ShortWordBatch::MAX_BYTES + 1, out);
        }
        len <= LongWordBatch::MAX_BYTES
    }
}

impl<const SYMBOLS: usize, const CAPACITY: usize> LengthClass<SYMBOLS, CAPACITY> {
    #[inline]
    fn push_next(
        &mut self,
        model: &BacktrackingBpe,
        pairs: &BytePairMap,
        words: (&[u8], &[BatchWord]),
        min_len: usize,
        out: &mut Vec<u32>,
    ) {
        if self.next == self.count {
            self.fill(model, pairs, words, min_len);
        }
        if let Some(rows) = &self.rows {
            out.extend(rows.numbers(self.next).map(|number| model.entries[number as usize]));
        }
        self.next += 1;
    }

    /// Merge the first words of at least `min_len` bytes that are not too long.
    fn fill(
        &mut self,
        model: &BacktrackingBpe,
        pairs: &BytePairMap,
        (text, words): (&[u8], &[BatchWord]),
        min_len: usize,
    ) {
        let is_one = |word: &&[u8]| {
            (min_len..=InterleavedWords::<SYMBOLS, CAPACITY>::MAX_BYTES).contains(&word.len())
        };
        let all = words.iter().map(|word| &text[word.bytes.0..word.bytes.1]).filter(is_one);
        let mut batch = [&[][..]; MAX_WORDS];
        (self.next, self.count) = (0, batch.iter_mut().zip(all).map(|(batch, word)| *batch = word).count());
        self.rows.get_or_insert_with(Box::default).merge_words(
            &batch[..self.count],
            pairs,
            model.split_table.pairs(),
        );
    }
}
