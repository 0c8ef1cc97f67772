//! Buckets of the hash table for short words: two words on one cache line, keys and ids.
//!
//! The hash of a word selects its home bucket. If that is full, the word is in another bucket of the same group.

mod append_hits;
mod bucket;
mod find;
mod lookup;
#[cfg(test)]
mod tests;

pub use append_hits::{append_hits, append_hits_at, Lookup};
pub use bucket::{count, pack, unpacked_first, Bucket, PackedIds, MAX_IDS, NO_ID, SLOTS};
pub use lookup::{get, group, home, prefetch, GROUP};
