//! The words of text that the model sees with a `▁` for each space, if no piece crosses a word boundary.
//!
//! The cache key of a word is its raw text. Only a miss is normalized and escaped, that is, spaces become `▁`. Raw text
//! that has a `▁` itself is ambiguous, and takes the generic route.
//!
//! Words of SentencePiece's Unigram have a loop of their own, `engine/sentencepiece_unigram`: a cached word holds within a
//! margin, as `model/unigram/float32/margin.rs` explains.
//!
//! ```text
//! layout         how a text splits into words, and what a word consists of: the text between whitespace, with one space,
//!                with all spaces
//! rules          the rules of a pipeline
//! scanner        splits raw text into spans, 64 bytes at a time
//! spans          where a word is in its text, and the spans that it is made of
//! single_chars   characters that every segmentation leaves alone; they bypass the cache
//! space_runs     splits a run of spaces from the word after it, for BPE
//! parts          segments a cache miss part by part, and several ASCII misses at once
//! ```

mod layout;
mod parts;
mod rules;
mod scanner;
mod single_chars;
mod space_runs;
mod spans;

pub(in super::super) use layout::{MetaspaceText, WordRules};
pub(in super::super) use parts::{PartScratch, WordParts};
pub(in super::super) use single_chars::WrittenIds;
pub(in super::super) use spans::WordSpan;

use super::Words;
use crate::engine::misses::QueuedWords;
use crate::engine::word_cache::{CacheKey, Lookups, WordCache, WINDOW};
use crate::error::Error;
use crate::text::ExpansionLimit;
use crate::word_key::{block_at, WordKey, MAX_KEY_BYTES};
use layout::FindState;
use scanner::Masks;
use spans::{SpanKind, WordPrefix};

/// Memory of one thread.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct MetaspaceScratch {
    masks: Masks,
    /// The words of the window, and after them words that are found already.
    words: Vec<WordSpan>,
    /// Memory to escape words.
    pub(in super::super) escaped: String,
    pub(in super::super) normalized: String,
}

/// The words of a text.
pub(in super::super) struct MetaspaceWords<'t> {
    pub(in super::super) text: MetaspaceText<'t>,
    pub(in super::super) scratch: &'t mut MetaspaceScratch,
    state: FindState,
    /// The number of words of the window.
    count: usize,
    limit: ExpansionLimit,
}

impl<'t> MetaspaceWords<'t> {
    /// Begin at the start of a text.
    pub(in super::super) fn new(text: MetaspaceText<'t>, scratch: &'t mut MetaspaceScratch) -> Self {
        scratch.masks.clear();
        scratch.words.clear();
        let limit = ExpansionLimit::of(text.text.len());
        Self { text, scratch, state: FindState::default(), count: 0, limit }
    }

    /// Find the next words, at most `size`, hash them and prefetch their buckets. Return their number.
    pub(in super::super) fn find(
        &mut self,
        size: usize,
        lookups: &mut Lookups,
        cache: &WordCache,
    ) -> usize {
        let (text, MetaspaceScratch { masks, words, .. }) = (self.text, &mut *self.scratch);
        words.drain(..self.count);
        if words.len() < size {
            text.find(size, &mut self.state, masks, words);
        }
        self.count = words.len().min(size);
        let words = self.window();
        let keys = words.iter().map(|&word| text.short_key(word));
        lookups.hash(keys, |number| text.cache_key(words[number]), cache);
        self.count
    }

    /// Return the words of the window.
    pub(in super::super) fn window(&self) -> &[WordSpan] {
        &self.scratch.words[..self.count]
    }

    /// Write the escaped text of a word to the scratch.
    pub(in super::super) fn escape(&mut self, word: WordSpan) -> Result<(), Error> {
        let MetaspaceScratch { escaped, normalized, .. } = &mut *self.scratch;
        escaped.clear();
        self.text.write_escaped(word, normalized, escaped)?;
        self.limit.take(escaped.len())
    }
}

impl Words for MetaspaceWords<'_> {
    fn fill(&mut self, lookups: &mut Lookups, cache: &WordCache) -> Result<usize, Error> {
        Ok(self.find(WINDOW, lookups, cache))
    }

    fn key(&self, number: usize) -> CacheKey<'_> {
        self.text.cache_key(self.window()[number])
    }

    fn write_miss(&mut self, number: usize, _: &WordCache, queue: &mut QueuedWords) -> Result<bool, Error> {
        let word = self.window()[number];
        let start = queue.escaped.len();
        self.text.write_escaped(word, &mut self.scratch.normalized, &mut queue.escaped)?;
        self.limit.take(queue.escaped.len() - start)?;
        queue.push_escaped(start);
        Ok(!self.text.depends_on_space(word))
    }
}

impl<'t> MetaspaceText<'t> {
    /// Return the raw text of a word without the space of its prefix, and whether it has a prefix.
    #[inline]
    fn without_prefix(&self, word: WordSpan) -> (&'t str, bool) {
        let start = word.start + usize::from(word.prefix == WordPrefix::Space);
        (&self.text[start..word.end], word.prefix != WordPrefix::None)
    }

    /// Write the ids of a run of single characters, with its prefix. `ids` has room for one id per character and one
    /// more.
    #[inline]
    pub(in super::super) fn write_single_chars(
        &self,
        word: WordSpan,
        is_after_unknown: bool,
        ids: &mut [u32],
    ) -> WrittenIds {
        let Some(single_chars) = self.rules.scanner.single_chars() else { return WrittenIds::default() };
        let (text, has_prefix) = self.without_prefix(word);
        let prefix = single_chars.write_prefix(has_prefix, is_after_unknown, ids);
        match word.kind {
            SpanKind::UnknownChars(count) => single_chars.write_unknown(count, prefix, ids),
            _ => single_chars.write(text.as_bytes(), prefix, ids),
        }
    }

    /// Write the id of every character of a run of single characters. Return `false` for another word.
    pub(in super::super) fn push_char_ids(&self, word: WordSpan, out: &mut Vec<u32>) -> bool {
        out.clear();
        if !word.is_single_chars() {
            return false;
        }
        let Some(single_chars) = self.rules.scanner.single_chars() else { return false };
        let (run, has_prefix) = self.without_prefix(word);
        single_chars.push_char_ids(run.as_bytes(), has_prefix, out);
        true
    }

    /// Return how the cache identifies a word.
    #[inline(always)]
    fn cache_key(&self, word: WordSpan) -> CacheKey<'t> {
        match (self.short_key(word), self.long_key(word)) {
            (WordKey::ABSENT, _) | (WordKey::NONE, []) => CacheKey::Uncached,
            (WordKey::NONE, long) => CacheKey::Long(long, CacheKey::WORD),
            (key, _) => CacheKey::Short(key),
        }
    }

    /// Return the short key of a word: its bytes, with a space for a leading `▁`. A longer word has [`WordKey::NONE`], a run
    /// of single characters [`WordKey::ABSENT`].
    #[inline(always)]
    fn short_key(&self, word: WordSpan) -> WordKey {
        if word.is_single_chars() {
            return WordKey::ABSENT;
        }
        let len = word.end - word.start + usize::from(word.prefix == WordPrefix::Added);
        if len > MAX_KEY_BYTES {
            return WordKey::NONE;
        }
        let mut block = block_at(self.text.as_bytes(), word.start);
        match word.prefix {
            WordPrefix::None => {}
            WordPrefix::Space => block = block & !0xFF | u128::from(b' '),
            WordPrefix::Added => block = block << 8 | u128::from(b' '),
        }
        WordKey::from_block(block, len)
    }

    /// Return the bytes that identify a longer word; none if it is not cached.
    #[inline]
    pub(in super::super) fn long_key(&self, word: WordSpan) -> &'t [u8] {
        match word.prefix {
            WordPrefix::Added => &[],
            _ => &self.text.as_bytes()[word.start..word.end],
        }
    }
}
