//! WordPiece by pruning: many substrings, of which the least useful one is removed again and again.
//!
//! ```text
//! candidates     characters and seeds, and which of them match at a position
//! present        which candidates are in the vocabulary
//! segmentation   longest match, or the fewest tokens
//! token_cost     1 + balance x surprisal, in fixed point
//! effects        what one word contributes to the losses
//! gains          what absent entries would save
//! loss_queue     the entries in the order of their losses
//! losses         what the removal of each entry costs, kept up to date
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
mod gains;
mod loss_queue;
mod losses;
mod present;
mod pruner;
mod segmentation;
#[cfg(test)]
mod tests;
mod token_cost;

use std::cmp::Reverse;

use crate::entries::Entries;
use crate::progress::Progress;
use crate::resume::Choices;
use crate::wordpiece::fill::fill;
use crate::wordpiece::seeds::{self, SeedRules, Substring};
use crate::wordpiece::sorted_starts::SortedStarts;
use crate::wordpiece::spec::{Learn, Pruning, Start, WordPieceTrainSpec};
use crate::wordpiece::word_text::{WordText, MAX_WORD_CHARS};
use crate::Learned;
use piecework_core::error::Error;

use candidates::Candidates;
use losses::Losses;
use pruner::Pruner;

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
        let Start { counts, spec, alphabet, entries, .. } = start;
        let mut choices = Choices::new(start.resume);
        let text = WordText::new(counts, alphabet, &spec.continuing_subword_prefix, progress)?;
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
    let starts = SortedStarts::new(&text, max_chars.max(longest_special), spec.num_threads, progress)?;
    let rules = SeedRules {
        limit: settings.seeds(spec.vocab_size),
        min_count: spec.min_frequency.max(1),
        max_chars: max_chars as u32,
    };
    let (mut protected, seeds) = seeds::select(&text, &starts, &rules, spec.num_threads, progress)?;
    protected.extend(spec.special_tokens.iter().filter_map(|token| occurrences(&text, &starts, token)));
    let candidates = Candidates::new(text, starts, protected, seeds, progress)?;
    debug_assert!((0..candidates.len() as u32).all(|candidate| {
        !candidates.protected[candidate as usize] || base.find(&candidates.name(candidate)).is_some()
    }));
    Ok(candidates)
}

/// Find a special token inside words, where the model uses it like any entry.
fn occurrences(text: &WordText, starts: &SortedStarts, token: &str) -> Option<Substring> {
    let body = token.strip_prefix(text.prefix.as_str()).filter(|body| !body.is_empty());
    let initial = body.is_none() || text.prefix.is_empty();
    let codes = text.encode(body.unwrap_or(token)).filter(|codes| !codes.is_empty())?;
    let range = starts.range_of(text, initial, &codes);
    let count = range
        .clone()
        .map(|index| text.count_at(starts.positions[index as usize]))
        .fold(0, u64::saturating_add);
    let chars = codes.len() as u32;
    (!range.is_empty()).then_some(Substring { first: range.start, end: range.end, chars, count })
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
