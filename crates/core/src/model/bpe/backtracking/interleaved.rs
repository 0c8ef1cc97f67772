//! Words of a text by rows: the short ones and the longer ones apart, as many of a kind at once as there are rows.
//!
//! Words are given out in their order. When the next of its kind is not merged yet, so are as many of that kind as
//! follow: all before have been given out.

use piecework_kernels::merges::{BytePairMap, InterleavedWords, LongWords, ShortWords, MAX_WORDS};

use super::BacktrackingBpe;

/// Memory for the words that are merged at once.
#[derive(Clone, Debug, Default)]
pub(in crate::model::bpe) struct MergeBatches {
    short: LengthClass<16, 32>,
    long: LengthClass<32, 64>,
}

/// Words of one kind.
#[derive(Clone, Debug, Default)]
struct LengthClass<const SYMBOLS: usize, const CAPACITY: usize> {
    /// Made when the first word comes.
    rows: Option<Box<InterleavedWords<SYMBOLS, CAPACITY>>>,
    /// The next of the rows to be given out, and how many there are.
    next: usize,
    count: usize,
}

impl BacktrackingBpe {
    /// Append the entries of the first of the words of a text; says whether it goes by rows. All words of the text must
    /// be asked for in their order.
    #[inline]
    pub(in crate::model::bpe) fn push_next(
        &self,
        (text, words): (&[u8], &[(usize, usize)]),
        MergeBatches { short, long }: &mut MergeBatches,
        out: &mut Vec<u32>,
    ) -> bool {
        let Some(pairs) = &self.byte_pairs else { return false };
        let len = words.first().map_or(0, |(start, end)| end - start);
        if len <= ShortWords::MAX_BYTES {
            short.push_next(self, pairs, (text, words), 0, out);
        } else if len <= LongWords::MAX_BYTES {
            long.push_next(self, pairs, (text, words), ShortWords::MAX_BYTES + 1, out);
        }
        len <= LongWords::MAX_BYTES
    }
}

impl<const SYMBOLS: usize, const CAPACITY: usize> LengthClass<SYMBOLS, CAPACITY> {
    #[inline]
    fn push_next(
        &mut self,
        model: &BacktrackingBpe,
        pairs: &BytePairMap,
        words: (&[u8], &[(usize, usize)]),
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

    /// Join the first words that have at min_len so many bytes and are not too long.
    fn fill(
        &mut self,
        model: &BacktrackingBpe,
        pairs: &BytePairMap,
        (text, words): (&[u8], &[(usize, usize)]),
        min_len: usize,
    ) {
        let is_one = |word: &&[u8]| {
            (min_len..=InterleavedWords::<SYMBOLS, CAPACITY>::MAX_BYTES).contains(&word.len())
        };
        let all = words.iter().map(|&(start, end)| &text[start..end]).filter(is_one);
        let mut batch = [&[][..]; MAX_WORDS];
        (self.next, self.count) = (0, batch.iter_mut().zip(all).map(|(batch, word)| *batch = word).count());
        self.rows.get_or_insert_with(Box::default).merge_words(
            &batch[..self.count],
            pairs,
            model.split_table.pairs(),
        );
    }
}
