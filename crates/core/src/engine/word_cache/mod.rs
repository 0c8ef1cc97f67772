//! The word cache of one thread: words to ids, bounded in memory. It uses no stage and no model.
//!
//! ```text
//! keys          how the cache identifies a word
//! short_words   words of up to 15 bytes, two in a bucket, up to four ids beside each
//! long_words    longer words, and the ids of words that have more than four
//! tables        both tables
//! lookups       one window of words: hash all, prefetch all
//! scored_words  words that a route packs with a score, and accepts or not
//! ```

mod keys;
mod long_words;
mod lookups;
mod scored_words;
mod short_words;
mod tables;

pub(crate) use keys::CacheKey;
pub(crate) use lookups::{Lookups, WINDOW};
pub(crate) use short_words::State;
#[cfg(test)]
pub(crate) use short_words::NO_IDS;
pub(crate) use tables::{hash_of, WordCache};

pub(crate) use piecework_kernels::buckets::{Lookup, PackedIds, MAX_IDS};
