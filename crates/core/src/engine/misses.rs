//! The queue of cache misses. The ids of words after a miss are written before its own are computed; a flush segments
//! all queued words in one batch, stores their ids in the cache and splices them into the rows.

use super::stages::Stages;
use super::word_cache::{hash_of, CacheKey, Lookup, WordCache};
use super::words::{PartScratch, WordParts, WordRules};
use crate::model::{BatchWord, ModelScratch};
use crate::word_key::WordKey;

/// The number of misses that are worth a batch.
const BATCH_MISSES: usize = 128;
/// The number of words that are worth a batch, if misses are many words.
const BATCH_WORDS: usize = 1024;
/// The number of long misses that are compared with a new one, by hash.
const RECENT: usize = 256;
/// Memory that the queue keeps after a flush, in bytes or items.
const KEPT: usize = 1 << 20;
/// Memory that the words keep after a flush, in bytes or items.
const KEPT_WORDS: usize = 1 << 18;

/// A cache miss.
#[derive(Clone, Copy, Debug)]
struct Miss {
    /// Where its ids go in the output, which has no ids of misses yet.
    at: usize,
    source: IdsOrigin,
    key: MissKey,
    hash: u64,
    /// Where its ids are among those of all misses.
    ids: (usize, usize),
}

/// Where the ids of a miss come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IdsOrigin {
    /// The next of the queued words.
    Segmenter,
    /// An earlier miss of the same word.
    Same(usize),
}

/// How the word is stored in the cache: long words by their bytes in `long_words`.
#[derive(Clone, Copy, Debug)]
enum MissKey {
    Short(WordKey),
    Long((usize, usize), u32),
    Uncached,
}

/// All cache misses that wait, and the rows that ended in the meantime.
#[derive(Clone, Debug, Default)]
pub(super) struct MissQueue {
    misses: Vec<Miss>,
    /// What the model segments for the misses, except those that are the same as earlier ones.
    pub(super) words: QueuedWords,
    /// The ids of the misses, as far as they are segmented.
    ids: Vec<u32>,
    long_words: Vec<u8>,
    /// By hash: the last long miss.
    recent: Vec<usize>,
    /// How many misses were queued at the end of each row.
    rows: Vec<usize>,
    /// How far the end of each row has moved by splicing.
    shifts: Vec<usize>,
}

/// Segments queued words.
pub(super) struct Segmenter<'s> {
    pub(super) stages: &'s Stages,
    pub(super) model: &'s mut ModelScratch,
    pub(super) method: Method<'s>,
}

/// What the queued words of a route are.
pub(super) enum Method<'s> {
    /// The text that the model segments.
    Text,
    /// Bytes of a byte-level vocabulary.
    Bytes,
    /// Text with spaces as `▁`, which is segmented part by part.
    Parts(&'s WordRules, &'s mut PartScratch),
}

impl Segmenter<'_> {
    /// Append the ids of words and set where they are. Return whether they may be stored. A word without bytes keeps its
    /// ids.
    fn segment(
        &mut self,
        QueuedWords { text, escaped, words, .. }: &mut QueuedWords,
        cache: &mut WordCache,
        ids: &mut Vec<u32>,
    ) -> bool {
        let Self { stages, model, method } = self;
        match method {
            Method::Text => stages.model.run_batch(text, words, &stages.vocab, model, ids),
            Method::Bytes => stages.model.run_byte_level_batch(text, words, &stages.vocab, model, ids),
            Method::Parts(rules, scratch) => {
                WordParts { rules, scratch, stages, model, cache, ids }.run_batch(escaped, words);
            }
        }
        !model.has_failed()
    }
}

impl MissQueue {
    /// Return whether no miss waits.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.misses.is_empty()
    }

    /// Return whether no miss waits, and no row waits for how far it moves.
    #[cfg(test)]
    pub(super) fn is_flushed(&self) -> bool {
        self.misses.is_empty() && self.rows.is_empty() && self.shifts.is_empty()
    }

    /// Return whether enough misses wait for a batch.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.misses.len() >= BATCH_MISSES || self.words.is_full()
    }

    /// Append a miss whose words were queued last; return its number.
    pub(super) fn push(&mut self, key: CacheKey<'_>, hash: u64, at: usize) -> usize {
        self.words.end_miss();
        let number = self.misses.len();
        let key = match key {
            CacheKey::Short(key) => MissKey::Short(key),
            CacheKey::Long(word, kind) => self.long_key(word, kind, hash, number),
            CacheKey::Uncached => MissKey::Uncached,
        };
        self.misses.push(Miss { at, source: IdsOrigin::Segmenter, key, hash, ids: (0, 0) });
        number
    }

    /// Append a miss of the same word as an earlier one.
    pub(super) fn push_same(&mut self, number: usize, at: usize) {
        let (source, key) = (IdsOrigin::Same(number), MissKey::Uncached);
        self.misses.push(Miss { at, source, key, hash: 0, ids: (0, 0) });
    }

    /// Return the number of a queued long word with these bytes, if a recent one has them.
    pub(super) fn same_long(&self, word: &[u8], kind: u32, hash: u64) -> Option<usize> {
        let number = *self.recent.get(hash as usize % RECENT)?;
        let is_same = |miss: &Miss| matches!(miss.key, MissKey::Long((from, to), of) if of == kind && self.long_words[from..to] == *word);
        self.misses.get(number).is_some_and(is_same).then_some(number)
    }

    fn long_key(&mut self, word: &[u8], kind: u32, hash: u64, number: usize) -> MissKey {
        let from = self.long_words.len();
        self.long_words.extend_from_slice(word);
        self.recent.resize(RECENT, usize::MAX);
        self.recent[hash as usize % RECENT] = number;
        MissKey::Long((from, self.long_words.len()), kind)
    }

    /// Record that a row ends here.
    pub(super) fn end_row(&mut self) {
        self.rows.push(self.misses.len());
    }

    /// Record that the rows that ended since the last flush have not moved; no miss waits.
    pub(super) fn finish_rows(&mut self) {
        self.shifts.extend(self.rows.drain(..).map(|_| 0));
    }

    /// Remove and return how far the end of each row has moved, from the first row on.
    pub(super) fn shifts(&mut self) -> impl Iterator<Item = usize> + '_ {
        self.shifts.drain(..)
    }

    /// Segment the words of all misses. Return whether their ids may be stored: not if a word has no segmentation, so
    /// that it must fail each time.
    pub(super) fn segment(&mut self, segmenter: &mut Segmenter<'_>, cache: &mut WordCache) -> bool {
        let Self { misses, words, ids, .. } = self;
        words.copy_cached(cache, ids);
        let are_final = segmenter.segment(words, cache, ids);
        let segmented = misses.iter_mut().filter(|miss| miss.source == IdsOrigin::Segmenter);
        segmented.zip(0..).for_each(|(miss, number)| miss.ids = words.ids_of(number, ids));
        are_final
    }

    /// Store the ids in the cache; if they may not be stored, remove the marks of short words.
    pub(super) fn store(&self, are_final: bool, cache: &mut WordCache) {
        for miss in &self.misses {
            let key = match miss.key {
                MissKey::Short(key) => CacheKey::Short(key),
                MissKey::Long((from, to), kind) => CacheKey::Long(&self.long_words[from..to], kind),
                MissKey::Uncached => continue,
            };
            cache.insert(key, miss.hash, are_final.then(|| &self.ids[miss.ids.0..miss.ids.1]));
        }
        if are_final {
            self.words.store(&self.ids, cache);
        }
    }

    /// Insert the ids of all misses into the output, from the last one on, and empty the queue.
    pub(super) fn splice(&mut self, out: &mut Vec<u32>) {
        self.resolve_same();
        self.move_rows();
        let mut from = out.len();
        out.resize(from + id_count(&self.misses), 0);
        let mut to = out.len();
        for miss in self.misses.iter().rev() {
            let ids = &self.ids[miss.ids.0..miss.ids.1];
            out.copy_within(miss.at..from, to - (from - miss.at));
            to -= from - miss.at;
            from = miss.at;
            out[to - ids.len()..to].copy_from_slice(ids);
            to -= ids.len();
        }
        self.clear();
    }

    /// Copy the spans of the ids of equal words.
    fn resolve_same(&mut self) {
        for at in 0..self.misses.len() {
            if let IdsOrigin::Same(number) = self.misses[at].source {
                self.misses[at].ids = self.misses[number].ids;
            }
        }
    }

    /// Compute how far the rows move.
    fn move_rows(&mut self) {
        let (mut from, mut shift) = (0, 0);
        for to in self.rows.drain(..) {
            shift += id_count(&self.misses[from..to]);
            self.shifts.push(shift);
            from = to;
        }
    }

    fn clear(&mut self) {
        self.misses.clear();
        self.words.clear();
        self.ids.clear();
        self.ids.shrink_to(KEPT);
        self.long_words.clear();
    }
}

fn id_count(misses: &[Miss]) -> usize {
    misses.iter().map(|miss| miss.ids.1 - miss.ids.0).sum()
}

/// The words of the misses in their order, as the model segments them. Most misses are one word; an ASCII span of BERT's
/// may be several words, and characters whose ids are known.
#[derive(Clone, Debug, Default)]
pub(super) struct QueuedWords {
    /// The bytes of the words, or the escaped text of metaspace words.
    text: Vec<u8>,
    pub(super) escaped: String,
    words: Vec<BatchWord>,
    /// For each miss, the end of its words and of its characters.
    ends: Vec<(usize, usize)>,
    /// The ids of characters that are words of their own, one after the other.
    char_ids: Vec<u32>,
    /// For each word before the last character, how many ids of characters come before it. All come before later words.
    char_ids_before: Vec<usize>,
    /// The words that may be cached apart from their miss.
    lookups: Vec<(usize, Lookup)>,
}

impl QueuedWords {
    /// Append a word.
    #[inline]
    pub(super) fn push(&mut self, word: &[u8]) {
        let from = self.text.len();
        self.text.extend_from_slice(word);
        self.words.push(BatchWord { bytes: (from, self.text.len()), ids: (0, 0) });
    }

    /// Append the word that was written to the escaped text from byte `start` on.
    #[inline]
    pub(super) fn push_escaped(&mut self, start: usize) {
        self.words.push(BatchWord { bytes: (start, self.escaped.len()), ids: (0, 0) });
    }

    /// Append a word that may be cached by a key of its own, and prefetch it.
    pub(super) fn push_cached(&mut self, word: &[u8], key: CacheKey<'_>, cache: &WordCache) {
        let lookup = key.lookup();
        cache.prefetch(lookup);
        self.lookups.push((self.words.len(), lookup));
        self.push(word);
    }

    /// Append a character whose id is known.
    #[inline]
    pub(super) fn push_char(&mut self, id: u32) {
        if self.char_ids_before.len() < self.words.len() {
            self.char_ids_before.resize(self.words.len(), self.char_ids.len());
        }
        self.char_ids.push(id);
    }

    /// Return whether enough words wait for a batch.
    #[inline]
    fn is_full(&self) -> bool {
        self.words.len() + self.char_ids.len() >= BATCH_WORDS
    }

    /// End a miss: it has what was appended since the last one.
    fn end_miss(&mut self) {
        self.ends.push((self.words.len(), self.char_ids.len()));
    }

    /// Remove what was appended since the end of the last miss.
    pub(super) fn drop_unfinished(&mut self) {
        let (words, char_ids) = self.ends.last().copied().unwrap_or_default();
        self.char_ids.truncate(char_ids);
        self.words.truncate(words);
        self.char_ids_before.truncate(words);
        self.lookups.retain(|&(number, _)| number < words);
    }

    /// Copy the ids of words that are cached: they are not segmented.
    fn copy_cached(&mut self, cache: &WordCache, ids: &mut Vec<u32>) {
        let Self { lookups, words, text, .. } = self;
        lookups.iter().for_each(|&(_, lookup)| cache.prefetch_found(lookup));
        lookups.retain(|&(number, lookup)| {
            let word = &mut words[number];
            let start = ids.len();
            let is_cached = cache.append_cached(lookup, || key_of(lookup, text, *word), ids);
            if is_cached {
                *word = BatchWord { bytes: (0, 0), ids: (start, ids.len()) };
            }
            !is_cached
        });
    }

    /// Return where the ids of a miss are, side by side.
    #[inline]
    fn ids_of(&self, miss: usize, ids: &mut Vec<u32>) -> (usize, usize) {
        let first = miss.checked_sub(1).map_or((0, 0), |before| self.ends[before]);
        let end = self.ends[miss];
        if let ([word], true) = (&self.words[first.0..end.0], first.1 == end.1) {
            return word.ids;
        }
        let (start, mut copied) = (ids.len(), first.1);
        for number in first.0..end.0 {
            let before =
                self.char_ids_before.get(number).copied().unwrap_or(self.char_ids.len()).min(end.1);
            ids.extend_from_slice(&self.char_ids[copied..before]);
            copied = before;
            let (from, to) = self.words[number].ids;
            ids.extend_from_within(from..to);
        }
        ids.extend_from_slice(&self.char_ids[copied..end.1]);
        (start, ids.len())
    }

    /// Store the words that may be cached apart from their miss and are not.
    fn store(&self, ids: &[u32], cache: &mut WordCache) {
        for &(number, lookup) in &self.lookups {
            let word = self.words[number];
            cache.insert(
                key_of(lookup, &self.text, word),
                hash_of(lookup),
                Some(&ids[word.ids.0..word.ids.1]),
            );
        }
    }

    /// Remove all words.
    fn clear(&mut self) {
        let Self { text, escaped, words, ends, char_ids, char_ids_before, lookups } = self;
        text.clear();
        text.shrink_to(KEPT_WORDS);
        escaped.clear();
        escaped.shrink_to(KEPT_WORDS);
        words.clear();
        words.shrink_to(KEPT_WORDS);
        ends.clear();
        char_ids.clear();
        char_ids.shrink_to(KEPT_WORDS);
        char_ids_before.clear();
        char_ids_before.shrink_to(KEPT_WORDS);
        lookups.clear();
    }
}

/// Return the key that a word was appended with.
fn key_of(lookup: Lookup, text: &[u8], word: BatchWord) -> CacheKey<'_> {
    match WordKey::of_lookup(lookup) {
        Ok(key) => CacheKey::Short(key),
        Err(_) => CacheKey::Long(&text[word.bytes.0..word.bytes.1], CacheKey::WORD),
    }
}
