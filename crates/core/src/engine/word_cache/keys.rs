//! How the cache identifies a word.

use piecework_kernels::buckets::Lookup;

use super::long_words::long_hash;
use crate::word_key::WordKey;

/// How the cache identifies a word.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CacheKey<'w> {
    /// By the bytes themselves, up to 15.
    Short(WordKey),
    /// By more bytes and a kind: words of different kinds never match.
    Long(&'w [u8], u32),
    /// Not at all: the word is segmented each time.
    Uncached,
}

impl CacheKey<'_> {
    /// Return the key of the word at `start..end` of a text; a word of more than `max_bytes` is not cached.
    #[inline(always)]
    pub(crate) fn at(text: &str, (start, end): (usize, usize), max_bytes: usize) -> CacheKey<'_> {
        match WordKey::at(text.as_bytes(), start, end) {
            Some(key) => CacheKey::Short(key),
            None if (1..=max_bytes).contains(&(end - start)) => {
                CacheKey::Long(&text.as_bytes()[start..end], 0)
            }
            None => CacheKey::Uncached,
        }
    }

    /// Return the lookup of the word; it misses for a word that is not cached.
    #[inline(always)]
    pub(crate) fn lookup(self) -> Lookup {
        match self {
            Self::Short(key) => key.lookup(),
            Self::Long(word, kind) => WordKey::absent_lookup(long_hash(word, kind)),
            Self::Uncached => WordKey::absent_lookup(0),
        }
    }
}
