//! The ASCII spans of a window, as the word cache sees them.

use crate::engine::word_cache::{CacheKey, Words};
use crate::stages::split::bert::{AsciiSpan, SpanChunk, SpanGroup};
use crate::word_key::WordKey;

/// The longest cached span, in bytes: longer ones hardly ever occur again.
pub(super) const MAX_CACHED_BYTES: usize = 31;
/// The kind of long keys that are normalized words, and of those that are raw text.
pub(super) const WORD: u32 = 0;
pub(super) const RAW: u32 = 1;

/// A window of words: ASCII spans of a chunk.
pub(super) struct SpanWindow<'c> {
    pub(super) chunk: &'c SpanChunk<'c>,
    pub(super) spans: SpanGroup<'c>,
}

impl SpanWindow<'_> {
    #[inline(always)]
    fn key_of(&self, span: AsciiSpan) -> CacheKey<'_> {
        let key = self.chunk.short_key(span);
        if key != WordKey::NONE {
            return CacheKey::Short(key);
        }
        let text = self.chunk.lowered(span);
        if text.len() <= MAX_CACHED_BYTES {
            CacheKey::Long(text, if span.needs_actions { RAW } else { WORD })
        } else {
            CacheKey::Uncached
        }
    }
}

impl Words for SpanWindow<'_> {
    #[inline(always)]
    fn len(&self) -> usize {
        self.spans.len()
    }

    #[inline(always)]
    fn short_keys(&self) -> impl Iterator<Item = WordKey> {
        self.spans.spans().map(|span| self.chunk.short_key(span))
    }

    fn key(&self, number: usize) -> CacheKey<'_> {
        self.key_of(self.spans.span(number))
    }
}
