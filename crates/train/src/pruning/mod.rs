//! Pruning: many substrings, of which the least useful one is removed again and again.
//!
//! ```text
//! candidates     characters and seeds, and which of them match at a position
//! segmentation   longest match, or the fewest tokens, by the candidates that are in the vocabulary
//! effects        what one word contributes to the losses, and what absent entries would save in it
//! losses         what the removal of each entry costs, kept up to date, and the cheapest entry
//! pruner         the removals, what is put back, and the choices of an earlier run
//! steps          the removals as data
//! ```
//!
//! The entry with the least loss is removed until the vocabulary has its size. The loss is the exact change of
//! the cost of all words under the segmentation that the model will use. Then, in rounds, removed entries are put
//! back where they save more than the cheapest entry does.
//!
//! WordPiece learns its entries so, and Unigram its seeds: they differ in the continuation prefix, and in which words
//! and substrings count.
//!
//! Source: the rule is that of PathPiece (Schmidt et al. 2024, "Tokenization Is More Than Compression"), with
//! the losses of longest-match segmentation.

mod candidates;
mod effects;
mod losses;
mod pruner;
mod segmentation;
mod steps;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::ops::Range;

use crate::count::Part;
use crate::learned::fill;
use crate::progress::Progress;
use crate::resume::{Choices, Resume};
use crate::substrings::{select, SeedLimits, Substring, SubstringIndex, WordText};
use crate::wordpiece::spec::{Learn, Pruning, Start};
use crate::Learned;
use piecework_core::error::Error;

use candidates::Candidates;
use losses::Losses;
use pruner::Pruner;
use steps::RemovalLog;

pub(crate) use segmentation::MAX_WORD_CHARS;

/// The default of `max_token_length`.
const MAX_CHARS: usize = 50;

/// The words to prune for, and their substrings that may be entries.
pub(crate) struct PruningTask<'a> {
    /// The words with their counts, sorted, of at most [`MAX_WORD_CHARS`] characters, all of which are entries.
    pub(crate) words: Vec<(Part<'a>, u64)>,
    /// The continuation prefix; often empty.
    pub(crate) prefix: &'a str,
    /// Tokens that stay entries where words contain them.
    pub(crate) special_tokens: &'a [String],
    pub(crate) seeds: SeedLimits,
    /// The most characters of a seed, the prefix not counted.
    pub(crate) max_chars: usize,
    /// Whether a string may be a seed; `None` if each one may.
    pub(crate) allows: Option<&'a (dyn Fn(&str) -> bool + Sync)>,
    pub(crate) num_threads: usize,
}

/// Remove seeds until `wanted` are left; return these and the characters with their uses.
///
/// Progress is reported up to `total`.
pub(crate) fn prune(
    task: &PruningTask<'_>,
    settings: &Pruning,
    wanted: usize,
    total: usize,
    resume: Resume<'_>,
    progress: &mut Progress<'_>,
) -> Result<Vec<(String, u64)>, Error> {
    settings.check_weights()?;
    let mut choices = Choices::new(resume);
    let candidates = task.candidates(progress)?;
    let mut pruner = Pruner::new(&candidates, settings, task.num_threads);
    pruner.remove_until(wanted, total, &mut choices, progress)?;
    pruner.put_back(wanted, &mut choices, progress)?;
    let uses = pruner.losses.uses(progress)?;
    let present = (0..candidates.len() as u32).filter(|&candidate| pruner.losses.is_present(candidate));
    let found = present.map(|candidate| (candidates.name(candidate), uses[candidate as usize])).collect();
    choices.finish()?;
    Ok(found)
}

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
        let task = wordpiece_task(start, self, progress)?;
        let candidates = task.candidates(progress)?;
        debug_assert!((0..candidates.len() as u32).all(|candidate| {
            !candidates.protected[candidate as usize] || entries.find(&candidates.name(candidate)).is_some()
        }));
        let mut ascending: Vec<usize> = (0..sizes.len()).collect();
        ascending.sort_by_key(|&at| sizes[at]);
        let wanted = |at: usize| sizes[at].saturating_sub(entries.len());
        let mut pruner = Pruner::new(&candidates, self, spec.num_threads);
        pruner.log = progress.steps().map(|log| RemovalLog::new(log, start, &task.words, &candidates));
        if let Some(&least) = ascending.first() {
            pruner.remove_until(wanted(least), spec.vocab_size, &mut choices, progress)?;
        }
        let mut learned = vec![Learned::default(); sizes.len()];
        for at in ascending {
            pruner.put_back(wanted(at), &mut choices, progress)?;
            let chosen = by_uses(&pruner.losses, &candidates, progress)?;
            learned[at] = fill(entries, chosen, sizes[at], start.min_count());
            learned[at].removals = pruner.removals(wanted(at));
        }
        choices.finish()?;
        Ok(learned)
    }
}

/// Return what WordPiece prunes.
///
/// Words with characters outside the alphabet and words that are too long for the model are left out, because the
/// model encodes them as the unknown token.
fn wordpiece_task<'a>(
    start: &'a Start<'_>,
    settings: &Pruning,
    progress: &mut Progress<'_>,
) -> Result<PruningTask<'a>, Error> {
    let fits = |word: &str| word.chars().nth(MAX_WORD_CHARS).is_none();
    let mut words = Vec::new();
    for (word, count) in start.counts.iter_parts() {
        progress.advance(word.text.len())?;
        if !word.text.is_empty() && fits(word.text) && start.alphabet.contains_all(word.text) {
            words.push((word, count));
        }
    }
    words.sort_unstable();
    progress.check()?;
    let spec = start.spec;
    Ok(PruningTask {
        words,
        prefix: &spec.continuing_subword_prefix,
        special_tokens: &spec.special_tokens,
        seeds: SeedLimits { number: settings.seeds(spec.vocab_size), min_count: start.min_count() },
        max_chars: spec.max_token_length.unwrap_or(MAX_CHARS).clamp(1, MAX_WORD_CHARS),
        allows: None,
        num_threads: spec.num_threads,
    })
}

impl PruningTask<'_> {
    /// Find the seeds, the characters and the special tokens that occur in words.
    fn candidates(&self, progress: &mut Progress<'_>) -> Result<Candidates, Error> {
        let text = WordText::new(&self.words, self.prefix, true, progress)?;
        let longest_special =
            self.special_tokens.iter().map(|token| token.chars().count()).max().unwrap_or(0);
        let depth = self.max_chars.max(longest_special.min(MAX_WORD_CHARS));
        let index = SubstringIndex::new(text, depth, self.num_threads, progress)?;
        let lengths = |longest: &Substring, lengths: Range<u32>| {
            let (index, longest) = (&index, *longest);
            let lengths = lengths.start..lengths.end.min(self.max_chars as u32 + 1);
            lengths.filter(move |&chars| self.may_be_seed(index, &Substring { chars, ..longest }))
        };
        let (mut protected, seeds) = select(&index, &self.seeds, lengths, self.num_threads, progress)?;
        protected.extend(self.special_tokens.iter().filter_map(|token| occurrences(&index, token)));
        Candidates::new(index, protected, seeds, progress)
    }

    fn may_be_seed(&self, index: &SubstringIndex, substring: &Substring) -> bool {
        !is_prefix(index, substring)
            && self.allows.is_none_or(|allows| allows(&index.spell(substring).collect::<String>()))
    }
}

/// Return whether a substring is the continuation prefix at the start of words, which has no characters of its own.
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
