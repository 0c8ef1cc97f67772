//! The queue of cache misses. The ids of words after a miss are written before its own are computed; a flush segments
//! all pending words in one batch, stores their ids in the cache and splices them into the rows.

use super::tables::WordCache;
use super::words::CacheKey;
use crate::word_key::WordKey;

/// Segments cache misses in batches.
pub(crate) trait SegmentBatch {
    /// Segment the queued words in their order: append their ids and set `spans`, one for each, to where they are.
    ///
    /// Returns whether the ids may be stored: `false` if a word has no segmentation, so that it fails each time.
    fn segment<'s>(
        &mut self,
        cache: &mut WordCache,
        spans: impl Iterator<Item = &'s mut (usize, usize)>,
        ids: &mut Vec<u32>,
    ) -> bool;
}

/// The number of pending words that is worth a batch.
const FULL: usize = 128;
/// The number of long pending words that are compared with a new one, by hash.
const RECENT: usize = 256;
/// Memory that the queue keeps after a flush, in bytes or items.
const KEPT: usize = 1 << 20;

/// A cache miss.
#[derive(Clone, Copy, Debug)]
struct PendingWord {
    /// Where its ids go in the output, which has no ids of pending words yet.
    at: usize,
    source: IdsOrigin,
    key: PendingKey,
    hash: u64,
    /// Where its ids are among those of all pending words.
    ids: (usize, usize),
}

/// Where the ids of a pending word come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IdsOrigin {
    /// The next result of the segmenter.
    Segmenter,
    /// An earlier pending word.
    Same(usize),
}

/// How the word is stored in the cache: long words by their bytes in `long_words`.
#[derive(Clone, Copy, Debug)]
enum PendingKey {
    Short(WordKey),
    Long((usize, usize), u32),
    Uncached,
}

/// All cache misses that wait, and the rows that ended in the meantime.
#[derive(Clone, Debug, Default)]
pub(crate) struct PendingWords {
    words: Vec<PendingWord>,
    /// The ids of the words, as far as they are segmented.
    ids: Vec<u32>,
    long_words: Vec<u8>,
    /// By hash: the last long pending word.
    recent: Vec<usize>,
    /// How many words were pending at the end of each row.
    rows: Vec<usize>,
    /// How far the end of each row has moved by splicing.
    shifts: Vec<usize>,
}

impl PendingWords {
    /// Whether no word is pending.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Whether no word is pending, and no row waits for how far it moves.
    #[cfg(test)]
    pub(crate) fn is_flushed(&self) -> bool {
        self.words.is_empty() && self.rows.is_empty() && self.shifts.is_empty()
    }

    /// Whether enough words wait for a batch.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.words.len() >= FULL
    }

    /// Append a word that the segmenter has queued; returns its number.
    pub(super) fn push(&mut self, key: CacheKey<'_>, hash: u64, at: usize) -> usize {
        let number = self.words.len();
        let key = match key {
            CacheKey::Short(key) => PendingKey::Short(key),
            CacheKey::Long(word, kind) => self.long_key(word, kind, hash, number),
            CacheKey::Uncached => PendingKey::Uncached,
        };
        self.words.push(PendingWord { at, source: IdsOrigin::Segmenter, key, hash, ids: (0, 0) });
        number
    }

    /// Append a word that is the same as an earlier one.
    pub(super) fn push_same(&mut self, number: usize, at: usize) {
        let (source, key) = (IdsOrigin::Same(number), PendingKey::Uncached);
        self.words.push(PendingWord { at, source, key, hash: 0, ids: (0, 0) });
    }

    /// Returns the number of a pending long word with these bytes, if a recent one has them.
    pub(super) fn same_long(&self, word: &[u8], kind: u32, hash: u64) -> Option<usize> {
        let number = *self.recent.get(hash as usize % RECENT)?;
        let is_same = |pending: &PendingWord| matches!(pending.key, PendingKey::Long((from, to), of) if of == kind && self.long_words[from..to] == *word);
        self.words.get(number).is_some_and(is_same).then_some(number)
    }

    fn long_key(&mut self, word: &[u8], kind: u32, hash: u64, number: usize) -> PendingKey {
        let from = self.long_words.len();
        self.long_words.extend_from_slice(word);
        self.recent.resize(RECENT, usize::MAX);
        self.recent[hash as usize % RECENT] = number;
        PendingKey::Long((from, self.long_words.len()), kind)
    }

    /// Record that a row ends here.
    pub(crate) fn end_row(&mut self) {
        self.rows.push(self.words.len());
    }

    /// Forget the rows that ended since the last flush; no word is pending, so none has moved.
    pub(crate) fn keep_rows(&mut self) {
        self.shifts.extend(self.rows.drain(..).map(|_| 0));
    }

    /// Remove and return how far the end of each row has moved, from the first row on.
    pub(crate) fn shifts(&mut self) -> impl Iterator<Item = usize> + '_ {
        self.shifts.drain(..)
    }

    /// Segment all pending words, store their ids in the cache and splice them into the output.
    #[cold]
    #[inline(never)]
    pub(crate) fn flush(
        &mut self,
        segmenter: &mut impl SegmentBatch,
        cache: &mut WordCache,
        out: &mut Vec<u32>,
    ) {
        let segmented = self.words.iter_mut().filter(|word| word.source == IdsOrigin::Segmenter);
        let spans = segmented.map(|word| &mut word.ids);
        let are_final = segmenter.segment(cache, spans, &mut self.ids);
        self.store(are_final, cache);
        self.resolve();
        self.splice(out);
        self.clear();
    }

    /// Store the ids in the cache; if they may not be stored, remove the marks of short words.
    fn store(&self, are_final: bool, cache: &mut WordCache) {
        for word in &self.words {
            let key = match word.key {
                PendingKey::Short(key) => CacheKey::Short(key),
                PendingKey::Long((from, to), kind) => CacheKey::Long(&self.long_words[from..to], kind),
                PendingKey::Uncached => continue,
            };
            cache.insert(key, word.hash, are_final.then(|| &self.ids[word.ids.0..word.ids.1]));
        }
    }

    /// Copy the spans of equal words, and compute how far rows will move.
    fn resolve(&mut self) {
        for at in 0..self.words.len() {
            if let IdsOrigin::Same(number) = self.words[at].source {
                self.words[at].ids = self.words[number].ids;
            }
        }
        let (mut from, mut shift) = (0, 0);
        for to in self.rows.drain(..) {
            shift += id_count(&self.words[from..to]);
            self.shifts.push(shift);
            from = to;
        }
    }

    /// Insert the ids of all words into the output, from the last word on.
    fn splice(&self, out: &mut Vec<u32>) {
        let mut from = out.len();
        out.resize(from + id_count(&self.words), 0);
        let mut to = out.len();
        for word in self.words.iter().rev() {
            let ids = &self.ids[word.ids.0..word.ids.1];
            out.copy_within(word.at..from, to - (from - word.at));
            to -= from - word.at;
            from = word.at;
            out[to - ids.len()..to].copy_from_slice(ids);
            to -= ids.len();
        }
    }

    fn clear(&mut self) {
        self.words.clear();
        self.ids.clear();
        self.ids.shrink_to(KEPT);
        self.long_words.clear();
    }
}

fn id_count(words: &[PendingWord]) -> usize {
    words.iter().map(|word| word.ids.1 - word.ids.0).sum()
}
