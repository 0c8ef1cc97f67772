//! Words of a text by rows: the short ones and the longer ones apart, as many of a kind at once as there are rows.
//!
//! Words are given out in their order. When the next of its kind is not merged yet, so are as many of that kind as
//! follow: all before have been given out.

use piecework_kernels::merges::{BytePairs, LongRows, Rows, ShortRows, ABREAST};

use super::BacktrackingBpe;

/// Memory for the words that are merged at once.
#[derive(Clone, Debug, Default)]
pub(in crate::model::bpe) struct InterleavedWords {
    short: LengthClass<16, 32>,
    long: LengthClass<32, 64>,
}

/// Words of one kind.
#[derive(Clone, Debug, Default)]
struct LengthClass<const PLACES: usize, const ROOM: usize> {
    /// Made when the first word comes.
    rows: Option<Box<Rows<PLACES, ROOM>>>,
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
        InterleavedWords { short, long }: &mut InterleavedWords,
        out: &mut Vec<u32>,
    ) -> bool {
        let Some(pairs) = &self.byte_pairs else { return false };
        let len = words.first().map_or(0, |(start, end)| end - start);
        if len <= ShortRows::MAX_BYTES {
            short.push_next(self, pairs, (text, words), 0, out);
        } else if len <= LongRows::MAX_BYTES {
            long.push_next(self, pairs, (text, words), ShortRows::MAX_BYTES + 1, out);
        }
        len <= LongRows::MAX_BYTES
    }
}

impl<const PLACES: usize, const ROOM: usize> LengthClass<PLACES, ROOM> {
    #[inline]
    fn push_next(
        &mut self,
        model: &BacktrackingBpe,
        pairs: &BytePairs,
        words: (&[u8], &[(usize, usize)]),
        least: usize,
        out: &mut Vec<u32>,
    ) {
        if self.next == self.count {
            self.merge(model, pairs, words, least);
        }
        if let Some(rows) = &self.rows {
            out.extend(rows.numbers(self.next).map(|number| model.entries[number as usize]));
        }
        self.next += 1;
    }

    /// Join the first words that have at least so many bytes and are not too long.
    fn merge(
        &mut self,
        model: &BacktrackingBpe,
        pairs: &BytePairs,
        (text, words): (&[u8], &[(usize, usize)]),
        least: usize,
    ) {
        let is_one = |word: &&[u8]| (least..=Rows::<PLACES, ROOM>::MAX_BYTES).contains(&word.len());
        let all = words.iter().map(|&(start, end)| &text[start..end]).filter(is_one);
        let mut some = [&[][..]; ABREAST];
        (self.next, self.count) = (0, some.iter_mut().zip(all).map(|(some, word)| *some = word).count());
        self.rows.get_or_insert_with(Box::default).join(
            &some[..self.count],
            pairs,
            model.split_table.pairs(),
        );
    }
}
