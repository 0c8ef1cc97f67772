//! Encodes words of SentencePiece's Unigram, whose rounding depends on the score so far: a cached word is accepted only if
//! [`TextScore`] finds it valid at its position.

use super::super::Scratch;
use super::packed_entries::MAX_IDS;
use super::scratch::MetaspaceScratch;
use super::text_score::TextScore;
use super::word_source::{SourceWords, WordSource, WordSpan};
use crate::engine::word_cache::{look_up, HandleWords, Lookup, WordCache};
use crate::error::Error;
use crate::model::UnigramF32;
use crate::text::ExpansionLimit;
use crate::word_key::WordKey;

/// The words that are looked up together. A miss clears the output after it, so fewer are better than
/// [`crate::engine::word_cache::WINDOW`].
const SMALL_WINDOW: usize = 64;

/// Appends the ids of all words of a text.
pub(super) fn append(
    model: &UnigramF32,
    source: WordSource<'_>,
    scratch: &mut Scratch,
    out: &mut Vec<u32>,
) -> Result<(), Error> {
    let Scratch { cache, lookup, model: model_scratch, route, .. } = scratch;
    let MetaspaceScratch { masks, words, escaped, normalized, unscored, .. } = &mut route.metaspace;
    let score = TextScore::begin(model, &mut model_scratch.unigram_f32, unscored, out.len());
    let limit = ExpansionLimit::of(source.text.len());
    let mut handler = ContextualWords { score, escaped, normalized, limit, max_ids: 0 };
    let mut result = Ok(());
    words.clear();
    source.words(masks, |word| {
        if result.is_err() {
            return;
        }
        lookup.push(source.cache_key(word), cache);
        handler.max_ids += max_ids(word);
        words.push(word);
        if words.len() == SMALL_WINDOW {
            result = look_up(&SourceWords { source, words }, lookup, cache, &mut handler, out);
            words.clear();
            handler.max_ids = 0;
        }
    });
    result.and_then(|()| look_up(&SourceWords { source, words }, lookup, cache, &mut handler, out))
}

/// Handles hits and misses among the words of one text.
struct ContextualWords<'s> {
    score: TextScore<'s>,
    escaped: &'s mut String,
    normalized: &'s mut String,
    limit: ExpansionLimit,
    /// The bound for the words of this window.
    max_ids: usize,
}

/// Returns the most ids of a word that is a hit.
#[inline]
fn max_ids(word: WordSpan) -> usize {
    if word.is_single_chars() {
        // One per character, which has at least two bytes, and one for the `▁`.
        (word.end - word.start) / 2 + 2
    } else {
        MAX_IDS
    }
}

impl HandleWords<SourceWords<'_>> for ContextualWords<'_> {
    type Error = Error;

    #[inline(always)]
    fn append_hits(
        &mut self,
        cache: &WordCache,
        words: &SourceWords<'_>,
        number: usize,
        lookups: &[Lookup],
        out: &mut Vec<u32>,
    ) -> usize {
        let mut at = out.len();
        out.resize(at + self.max_ids, 0);
        let mut hits = 0;
        for (&word, &lookup) in words.words[number..].iter().zip(lookups) {
            let written = if word.is_single_chars() {
                self.score.accept_single_chars(word, words.source, at, out)
            } else {
                cache.packed(lookup).and_then(|entry| self.score.accept(entry, word, at, out))
            };
            let Some(written) = written else { break };
            at += written;
            hits += 1;
        }
        out.truncate(at);
        hits
    }

    #[cold]
    #[inline(never)]
    fn handle_miss(
        &mut self,
        cache: &mut WordCache,
        words: &SourceWords<'_>,
        number: usize,
        lookup: Lookup,
        out: &mut Vec<u32>,
    ) -> Result<(), Error> {
        self.append_miss(cache, words.source, words.words[number], lookup, out)
    }
}

impl ContextualWords<'_> {
    /// Appends the ids of a word that is not in the table of short words, or is not valid here.
    fn append_miss(
        &mut self,
        cache: &mut WordCache,
        source: WordSource<'_>,
        word: WordSpan,
        lookup: Lookup,
        out: &mut Vec<u32>,
    ) -> Result<(), Error> {
        if !word.is_single_chars() {
            let stored = cache.scored(lookup, || source.long_key(word));
            if stored.is_some_and(|(score, ids)| self.score.accept_long(score, ids, word, out)) {
                return Ok(());
            }
        }
        self.segment(cache, source, word, WordKey::of_lookup(lookup).ok(), out)
    }

    /// Segments a word after the text so far, and caches it if it may be valid elsewhere.
    fn segment(
        &mut self,
        cache: &mut WordCache,
        source: WordSource<'_>,
        word: WordSpan,
        key: Option<WordKey>,
        out: &mut Vec<u32>,
    ) -> Result<(), Error> {
        let from = out.len();
        source.write_escaped(word, self.normalized, self.escaped)?;
        self.limit.take(self.escaped.len())?;
        if let Some(packed_score) = self.score.segment(self.escaped, word, source, out)? {
            if !word.is_single_chars() && !source.depends_on_space(word) {
                let ids = &out[from..];
                let packed = self.score.pack(ids, packed_score);
                cache.insert_scored((key, packed), || source.long_key(word), (packed_score, ids));
            }
            self.score.finish_word(packed_score, word, from, out);
        }
        Ok(())
    }
}
