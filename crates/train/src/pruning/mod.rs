//! WordPiece by pruning: many substrings, of which the least useful one is removed again and again.
//!
//! ```text
//! candidates     characters and seeds, and which of them match at a position
//! segmentation   longest match, or the fewest tokens, by the candidates that are in the vocabulary
//! effects        what one word contributes to the losses, and what absent entries would save in it
//! losses         what the removal of each entry costs, kept up to date, and the cheapest entry
//! pruner         the removals, what is put back, and the choices of an earlier run
//! ```
//!
//! The entry with the least loss is removed until the vocabulary has its size. The loss is the exact change of
//! the cost of all words under the segmentation that the model will use. Then, in rounds, removed entries are put
//! back where they save more than the cheapest entry does.
//!
//! Source: the rule is that of PathPiece (Schmidt et al. 2024, "Tokenization Is More Than Compression"), with
//! the losses of longest-match segmentation.

mod candidates;
mod effects;
mod losses;
mod pruner;
mod segmentation;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::ops::Range;

use crate::entries::Entries;
use crate::learned::fill;
use crate::progress::Progress;
use crate::resume::Choices;
use crate::substrings::{select, SeedLimits, Substring, SubstringIndex, WordText};
use crate::wordpiece::spec::{Learn, Pruning, Start, WordPieceTrainSpec};
use crate::Learned;
use piecework_core::error::Error;

use candidates::Candidates;
use losses::Losses;
use pruner::Pruner;
use segmentation::MAX_WORD_CHARS;

/// The default of `max_token_length`.
const MAX_CHARS: usize = 50;

impl Learn for Pruning {
    /// Learn one vocabulary.
    fn learn(&self, start: Start<'_>, progress: &mut Progress<'_>) -> Result<Learned, Error> {
        let learned = self.learn_sizes(&start, &[start.spec.vocab_size], progress)?;
        Ok(learned.into_iter().next().unwrap_or_default())
    }

    /// Learn a vocabulary of each size, which the special tokens and the alphabet fit.
    ///
    /// All sizes have the same seeds, so the removals for a larger size are the first ones for a smaller size. Each
    /// size puts entries back on its own.
    fn learn_sizes(
        &self,
        start: &Start<'_>,
        sizes: &[usize],
        progress: &mut Progress<'_>,
    ) -> Result<Vec<Learned>, Error> {
        self.check_weights()?;
        let Start { spec, entries, .. } = start;
        let mut choices = Choices::new(start.resume);
        let text = word_text(start, progress)?;
        let candidates = find_candidates(text, spec, self, entries, progress)?;
        let mut ascending: Vec<usize> = (0..sizes.len()).collect();
        ascending.sort_by_key(|&at| sizes[at]);
        let wanted = |at: usize| sizes[at].saturating_sub(entries.len());
        let mut pruner = Pruner::new(&candidates, self, spec.num_threads, &mut choices);
        if let Some(&least) = ascending.first() {
            pruner.remove_until(wanted(least), spec.vocab_size, progress)?;
        }
        let mut learned = vec![Learned::default(); sizes.len()];
        for at in ascending {
            pruner.put_back(wanted(at), progress)?;
            let chosen = by_uses(&pruner.losses, &candidates, progress)?;
            learned[at] = fill(entries, chosen, sizes[at], start.min_count());
            learned[at].removals = pruner.removals(wanted(at));
        }
        pruner.finish()?;
        Ok(learned)
    }
}

/// Find the seeds and the entries of the base that occur in words.
fn find_candidates(
    text: WordText,
    spec: &WordPieceTrainSpec,
    settings: &Pruning,
    base: &Entries,
    progress: &mut Progress<'_>,
) -> Result<Candidates, Error> {
    let max_chars = spec.max_token_length.unwrap_or(MAX_CHARS).min(MAX_WORD_CHARS);
    let longest_special = spec.special_tokens.iter().map(|token| token.chars().count()).max().unwrap_or(0);
    let depth = max_chars.max(longest_special.min(MAX_WORD_CHARS));
    let index = SubstringIndex::new(text, depth, spec.num_threads, progress)?;
    let limits =
        SeedLimits { number: settings.seeds(spec.vocab_size), min_count: spec.min_frequency.max(1) };
    let lengths = |longest: &Substring, lengths: Range<u32>| {
        let (index, longest) = (&index, *longest);
        let lengths = lengths.start..lengths.end.min(max_chars as u32 + 1);
        lengths.filter(move |&chars| !is_prefix(index, &Substring { chars, ..longest }))
    };
    let (mut protected, seeds) = select(&index, &limits, lengths, spec.num_threads, progress)?;
    protected.extend(spec.special_tokens.iter().filter_map(|token| occurrences(&index, token)));
    let candidates = Candidates::new(index, protected, seeds, progress)?;
    debug_assert!((0..candidates.len() as u32).all(|candidate| {
        !candidates.protected[candidate as usize] || base.find(&candidates.name(candidate)).is_some()
    }));
    Ok(candidates)
}

/// Whether a substring is the continuation prefix at the start of words, which has no characters of its own.
fn is_prefix(index: &SubstringIndex, substring: &Substring) -> bool {
    let WordText { prefix, prefix_chars, .. } = &index.text;
    substring.chars == *prefix_chars
        && index.is_initial(substring)
        && index.spell(substring).eq(prefix.chars())
}

/// Find a special token inside words, where the model uses it like any entry.
fn occurrences(index: &SubstringIndex, token: &str) -> Option<Substring> {
    let prefix = index.text.prefix.as_str();
    let body = token.strip_prefix(prefix).filter(|body| !body.is_empty());
    let is_initial = body.is_none() || prefix.is_empty();
    let codes = index.text.encode(body.unwrap_or(token)).filter(|codes| !codes.is_empty())?;
    index.find(is_initial, &codes)
}

/// Lay out the words in the order of their code points.
///
/// Words with characters outside the alphabet and words that are too long for the model are left out, because the
/// model encodes them as the unknown token.
fn word_text(start: &Start<'_>, progress: &mut Progress<'_>) -> Result<WordText, Error> {
    let fits = |word: &str| word.chars().nth(MAX_WORD_CHARS).is_none();
    let mut words = Vec::new();
    for (word, count) in start.counts.iter() {
        progress.advance(word.len())?;
        if !word.is_empty() && fits(word) && start.alphabet.contains_all(word) {
            words.push((word, count));
        }
    }
    words.sort_unstable();
    progress.check()?;
    WordText::new(&words, &start.spec.continuing_subword_prefix, true, progress)
}

/// Return the learned entries, the most used first, then by code points.
fn by_uses(
    losses: &Losses<'_>,
    candidates: &Candidates,
    progress: &mut Progress<'_>,
) -> Result<Vec<String>, Error> {
    let uses = losses.uses(progress)?;
    let mut chosen: Vec<(Reverse<u64>, String)> = (0..candidates.len() as u32)
        .filter(|&candidate| losses.is_present(candidate) && !candidates.protected[candidate as usize])
        .map(|candidate| (Reverse(uses[candidate as usize]), candidates.name(candidate)))
        .collect();
    chosen.sort_unstable();
    Ok(chosen.into_iter().map(|(_, name)| name).collect())
}
