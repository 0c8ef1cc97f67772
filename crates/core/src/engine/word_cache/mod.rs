//! The word cache of one thread: words to ids, bounded in memory. It uses no stage and no model.
//!
//! short_words  words of up to 15 bytes, two in a bucket, up to four ids beside each
//! long_words   longer words, and the ids of words that have more than four
//! tables       both tables
//! words        how a route presents its words
//! lookups      one window of words: hash all, prefetch all
//! scored_words words that a route packs with a score, and accepts or not
//! pending      cache misses, in a queue until enough of them are segmented at once
//! lookup_loop  the loop: look up a window, append the ids of hits, queue misses, flush the queue
//!
//! A route supplies the words ([`Words`]) and segments the misses ([`SegmentBatch`], [`QueueWord`]).

mod long_words;
mod lookup_loop;
mod lookups;
mod pending;
mod scored_words;
mod short_words;
mod tables;
mod words;

pub(crate) use lookup_loop::{look_up, CachedWords, HandleWords, LookupScratch, QueueWord};
pub(crate) use lookups::WINDOW;
pub(crate) use pending::SegmentBatch;
#[cfg(test)]
pub(crate) use short_words::NO_IDS;
pub(crate) use tables::{hash_of, WordCache};
pub(crate) use words::{CacheKey, Words};

pub(crate) use piecework_kernels::buckets::{Lookup, PackedIds, MAX_IDS};
