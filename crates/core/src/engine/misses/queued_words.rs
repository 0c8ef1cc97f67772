//! The words of the misses, as the model segments them. Most misses are one word; an ASCII span of BERT's may be several
//! words, and characters whose ids are known.

use crate::engine::word_cache::{hash_of, CacheKey, Lookup, WordCache};
use crate::model::BatchWord;
use crate::word_key::WordKey;

/// The number of words that are worth a batch, if misses are many words.
const FULL: usize = 1024;
/// Memory that is kept after a flush, in bytes or items.
const KEPT: usize = 1 << 18;

/// Words in the order of the misses.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct QueuedWords {
    /// The bytes of the words, or the escaped text of metaspace words.
    pub(super) text: Vec<u8>,
    pub(in super::super) escaped: String,
    pub(super) words: Vec<BatchWord>,
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
    pub(in super::super) fn push(&mut self, word: &[u8]) {
        let from = self.text.len();
        self.text.extend_from_slice(word);
        self.words.push(BatchWord { bytes: (from, self.text.len()), ids: (0, 0) });
    }

    /// Append the word that was written to the escaped text from byte `start` on.
    #[inline]
    pub(in super::super) fn push_escaped(&mut self, start: usize) {
        self.words.push(BatchWord { bytes: (start, self.escaped.len()), ids: (0, 0) });
    }

    /// Append a word that may be cached by a key of its own, and prefetch it.
    pub(in super::super) fn push_cached(&mut self, word: &[u8], key: CacheKey<'_>, cache: &WordCache) {
        let lookup = key.lookup();
        cache.prefetch(lookup);
        self.lookups.push((self.words.len(), lookup));
        self.push(word);
    }

    /// Append a character whose id is known.
    pub(in super::super) fn push_char(&mut self, id: u32) {
        self.char_ids_before.resize(self.words.len(), self.char_ids.len());
        self.char_ids.push(id);
    }

    /// Return whether enough words wait for a batch.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.words.len() + self.char_ids.len() >= FULL
    }

    /// End a miss: it has what was appended since the last one.
    pub(super) fn end_miss(&mut self) {
        self.ends.push((self.words.len(), self.char_ids.len()));
    }

    /// Remove what was appended since the end of the last miss.
    pub(in super::super) fn drop_unfinished(&mut self) {
        let (words, char_ids) = self.ends.last().copied().unwrap_or_default();
        self.char_ids.truncate(char_ids);
        self.words.truncate(words);
        self.char_ids_before.truncate(words);
        self.lookups.retain(|&(number, _)| number < words);
    }

    /// Copy the ids of words that are cached: they are not segmented.
    pub(super) fn copy_cached(&mut self, cache: &WordCache, ids: &mut Vec<u32>) {
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
    pub(super) fn ids_of(&self, miss: usize, ids: &mut Vec<u32>) -> (usize, usize) {
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
    pub(super) fn store(&self, ids: &[u32], cache: &mut WordCache) {
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
    pub(super) fn clear(&mut self) {
        let Self { text, escaped, words, ends, char_ids, char_ids_before, lookups } = self;
        text.clear();
        text.shrink_to(KEPT);
        escaped.clear();
        escaped.shrink_to(KEPT);
        words.clear();
        words.shrink_to(KEPT);
        ends.clear();
        char_ids.clear();
        char_ids.shrink_to(KEPT);
        char_ids_before.clear();
        char_ids_before.shrink_to(KEPT);
        lookups.clear();
    }
}

/// Return the key that a word was appended with.
fn key_of(lookup: Lookup, text: &[u8], word: BatchWord) -> CacheKey<'_> {
    match WordKey::of_lookup(lookup) {
        Ok(key) => CacheKey::Short(key),
        Err(_) => CacheKey::Long(&text[word.bytes.0..word.bytes.1], 0),
    }
}
