//! Words of SentencePiece's Unigram, whose rounding depends on the score so far: a cached word is accepted only if
//! [`TextScore`] finds it valid at its position. A miss is segmented at once, because the score after it is needed.
//! `model/unigram/float32/margin.rs` has the whole argument.
//!
//! ```text
//! text_score      a bound of the score so far; it decides whether a cached word is valid there
//! packed_entries  packs ids and a score into one cache entry
//! ```

mod packed_entries;
mod text_score;

use super::word_cache::{Lookup, Lookups, WordCache};
use super::words::{MetaspaceWords, WordSpan};
use crate::error::Error;
use crate::interrupt;
use crate::model::{UnigramF32, UnigramF32Scratch};
use crate::word_key::WordKey;
use packed_entries::MAX_IDS;
use text_score::TextScore;

pub(super) use text_score::UnscoredWords;

/// The words that are looked up together. A miss clears the output after it, so fewer are better than
/// [`super::word_cache::WINDOW`].
const SMALL_WINDOW: usize = 64;

/// What the words of a text are scored with.
pub(super) struct Scoring<'s> {
    pub(super) model: &'s UnigramF32,
    pub(super) scratch: &'s mut UnigramF32Scratch,
    pub(super) unscored: &'s mut UnscoredWords,
}

/// Append the ids of all words of a text.
pub(super) fn append_scored_words(
    mut words: MetaspaceWords<'_>,
    cache: &mut WordCache,
    lookups: &mut Lookups,
    Scoring { model, scratch, unscored }: Scoring<'_>,
    out: &mut Vec<u32>,
) -> Result<(), Error> {
    let mut score = TextScore::begin(model, scratch, unscored, out.len());
    loop {
        let count = words.find(SMALL_WINDOW, lookups, cache);
        if count == 0 {
            return Ok(());
        }
        interrupt::check(count);
        let mut number = 0;
        loop {
            let rest = lookups.range(number, count);
            number += append_hits(&words, number, rest, cache, &mut score, out);
            if number == count {
                break;
            }
            let lookup = lookups.range(number, count)[0];
            append_miss(&mut words, number, lookup, cache, &mut score, out)?;
            number += 1;
        }
    }
}

/// Append the ids of the words from `number` on, up to the first that is no hit or not valid here. Return their number.
#[inline(always)]
fn append_hits(
    words: &MetaspaceWords<'_>,
    number: usize,
    lookups: &[Lookup],
    cache: &WordCache,
    score: &mut TextScore<'_>,
    out: &mut Vec<u32>,
) -> usize {
    let rest = &words.window()[number..];
    let mut at = out.len();
    out.resize(at + max_ids(rest), 0);
    let mut hits = 0;
    for (&word, &lookup) in rest.iter().zip(lookups) {
        let written = if word.is_single_chars() {
            score.accept_single_chars(word, words.text, at, out)
        } else {
            cache.packed(lookup).and_then(|entry| score.accept(entry, word, at, out))
        };
        let Some(written) = written else { break };
        at += written;
        hits += 1;
    }
    out.truncate(at);
    hits
}

/// Return the most ids of adjacent words that are hits: of a run of single characters one for each, which has at least two
/// bytes, and one for the `▁`.
#[inline]
fn max_ids(words: &[WordSpan]) -> usize {
    let bytes = words.first().zip(words.last()).map_or(0, |(first, last)| last.end - first.start);
    words.len() * MAX_IDS + bytes / 2
}

/// Append the ids of a word that is not in the table of short words, or is not valid here.
#[cold]
#[inline(never)]
fn append_miss(
    words: &mut MetaspaceWords<'_>,
    number: usize,
    lookup: Lookup,
    cache: &mut WordCache,
    score: &mut TextScore<'_>,
    out: &mut Vec<u32>,
) -> Result<(), Error> {
    let (word, text) = (words.window()[number], words.text);
    if !word.is_single_chars() {
        let stored = cache.scored(lookup, || text.long_key(word));
        if stored.is_some_and(|(packed, ids)| score.accept_long(packed, ids, word, out)) {
            return Ok(());
        }
    }
    segment(words, word, WordKey::of_lookup(lookup).ok(), cache, score, out)
}

/// Segment a word after the text so far, and cache it if it may be valid elsewhere.
fn segment(
    words: &mut MetaspaceWords<'_>,
    word: WordSpan,
    key: Option<WordKey>,
    cache: &mut WordCache,
    score: &mut TextScore<'_>,
    out: &mut Vec<u32>,
) -> Result<(), Error> {
    let (from, text) = (out.len(), words.text);
    words.escape(word)?;
    let Some(packed_score) = score.segment(&words.scratch.escaped, word, text, out)? else { return Ok(()) };
    if !word.is_single_chars() && !text.depends_on_space(word) {
        let ids = &out[from..];
        let packed = score.pack(ids, packed_score);
        cache.insert_scored(key, packed, || text.long_key(word), packed_score, ids);
    }
    score.finish_word(packed_score, word, from, out);
    Ok(())
}
