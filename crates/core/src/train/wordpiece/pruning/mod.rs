//! WordPiece by pruning: many substrings, of which the least useful one is removed again and again.
//!
//! ```text
//! word_text      the words as codes of characters
//! sorted_starts  the positions where entries can begin, sorted by the text that follows
//! seeds          the substrings with the largest count times length
//! candidates     characters and seeds, and which of them match at a position
//! segmentation   longest match, or the fewest tokens
//! token_cost     1 + balance x surprisal, in fixed point
//! losses         what the removal of each entry costs, kept up to date
//! ```
//!
//! The entry with the least loss is removed until the vocabulary has its size. The loss is the exact change of
//! the cost of all words under the segmentation that the model will use. Then, in rounds, removed entries are put
//! back where they save more than the cheapest entry does.
//!
//! Source: the rule is that of PathPiece (Schmidt et al. 2024, "Tokenization Is More Than Compression"), with
//! the losses of longest-match segmentation.

mod candidates;
mod losses;
mod seeds;
mod segmentation;
mod sorted_starts;
mod token_cost;
mod word_text;

use std::cmp::Reverse;

use super::spec::WordPieceTrainSpec;
use crate::count::Counts;
use crate::error::Error;
use crate::train::alphabet::Alphabet;
use crate::train::entries::Entries;
use crate::train::progress::Progress;
use crate::train::Learned;

use candidates::Candidates;
use losses::Losses;
use seeds::{SeedRules, Substring};
use sorted_starts::SortedStarts;
use token_cost::CostRule;
use word_text::{WordText, MAX_WORD_CHARS};

/// Seeds for each entry of the vocabulary.
const SEEDS_PER_ENTRY: usize = 8;
/// The default of `max_token_length`.
const MAX_CHARS: usize = 50;
/// Costs with surprisal are estimated anew when this share of the entries is left, in per cent.
const STAGE_PERCENT: usize = 85;
/// How often all removed entries are considered again.
const PUT_BACK_ROUNDS: usize = 4;

/// Learn the vocabulary; `entries` has the special tokens and the alphabet.
pub(super) fn learn(
    counts: &Counts,
    spec: &WordPieceTrainSpec,
    alphabet: &Alphabet,
    entries: Entries,
    progress: &mut Progress<'_>,
) -> Result<Learned, Error> {
    spec.pruning.check()?;
    let text = WordText::new(counts, alphabet, &spec.continuing_subword_prefix, progress)?;
    let candidates = find_candidates(text, spec, &entries, progress)?;
    let rule = CostRule::new(&spec.pruning);
    let mut losses = Losses::new(&candidates, spec.pruning.segmentation, rule, progress)?;
    let wanted = spec.vocab_size - entries.len();
    let removable = candidates.protected.iter().filter(|&&protected| !protected).count();
    if removable > wanted {
        prune(&mut losses, removable, wanted, spec, progress)?;
        put_back(&mut losses, &candidates, rule, progress)?;
    }
    let chosen = by_uses(&mut losses, &candidates, progress)?;
    Ok(finish(entries, chosen, spec))
}

/// Find the seeds and the entries of the base that occur in words.
fn find_candidates(
    text: WordText,
    spec: &WordPieceTrainSpec,
    base: &Entries,
    progress: &mut Progress<'_>,
) -> Result<Candidates, Error> {
    let max_chars = spec.max_token_length.unwrap_or(MAX_CHARS).min(MAX_WORD_CHARS);
    let longest_special = spec.special_tokens.iter().map(|token| token.chars().count()).max().unwrap_or(0);
    let starts = SortedStarts::new(&text, max_chars.max(longest_special), progress)?;
    let rules = SeedRules {
        limit: spec.vocab_size.saturating_mul(SEEDS_PER_ENTRY),
        min_count: spec.min_frequency.max(1),
        max_chars: max_chars as u32,
    };
    let (mut protected, seeds) = seeds::select(&text, &starts, &rules, progress)?;
    debug_assert!(protected
        .iter()
        .all(|single| base.find(&candidates::name_of(&text, &starts, single)).is_some()));
    protected.extend(spec.special_tokens.iter().filter_map(|token| occurrences(&text, &starts, token)));
    Ok(Candidates::new(text, starts, protected, seeds))
}

/// Find a special token inside words, where the model uses it like any entry.
fn occurrences(text: &WordText, starts: &SortedStarts, token: &str) -> Option<Substring> {
    let body = token.strip_prefix(text.prefix.as_str()).filter(|body| !body.is_empty());
    let initial = body.is_none() || text.prefix.is_empty();
    let codes = text.encode(body.unwrap_or(token)).filter(|codes| !codes.is_empty())?;
    let range = starts.range_of(text, initial, &codes);
    let count = range
        .clone()
        .map(|index| text.word_at(starts.positions[index as usize]).count)
        .fold(0, u64::saturating_add);
    let chars = codes.len() as u32;
    (!range.is_empty()).then_some(Substring { first: range.start, end: range.end, chars, count })
}

/// Remove the cheapest entry until `wanted` are left.
fn prune(
    losses: &mut Losses<'_>,
    removable: usize,
    wanted: usize,
    spec: &WordPieceTrainSpec,
    progress: &mut Progress<'_>,
) -> Result<(), Error> {
    let mut next_estimate = removable * STAGE_PERCENT / 100;
    for left in (wanted..removable).rev() {
        let Some((candidate, _)) = losses.cheapest() else { break };
        losses.remove(candidate, progress)?;
        let done = (removable - left) as u128 * spec.vocab_size as u128 / (removable - wanted) as u128;
        progress.reach(done as usize);
        if left == next_estimate && spec.pruning.balance > 0.0 {
            losses.estimate_costs(progress)?;
            losses.recompute(progress)?;
            next_estimate = left * STAGE_PERCENT / 100;
        }
    }
    Ok(())
}

/// Put removed entries back, each for the entry that is cheapest then, while that saves something.
fn put_back(
    losses: &mut Losses<'_>,
    candidates: &Candidates,
    rule: CostRule,
    progress: &mut Progress<'_>,
) -> Result<(), Error> {
    for _ in 0..PUT_BACK_ROUNDS {
        if rule.balance > 0 {
            losses.estimate_costs(progress)?;
            losses.recompute(progress)?;
        }
        let Some((_, least)) = losses.cheapest() else { break };
        let gains = losses.gains(progress)?;
        let mut ranked: Vec<_> = (0..candidates.len() as u32)
            .filter(|&candidate| !losses.is_present(candidate) && gains[candidate as usize].gain > least)
            .map(|candidate| {
                let gain = gains[candidate as usize].gain;
                (Reverse(gain), Reverse(candidates.rank[candidate as usize]), candidate)
            })
            .collect();
        ranked.sort_unstable();
        let mut swaps = 0;
        for (_, _, candidate) in ranked {
            swaps += usize::from(swap_in(losses, candidate, progress)?);
        }
        if swaps == 0 {
            break;
        }
    }
    Ok(())
}

/// Put an entry back if it saves more than the cheapest entry, and remove the cheapest one.
fn swap_in(losses: &mut Losses<'_>, candidate: u32, progress: &mut Progress<'_>) -> Result<bool, Error> {
    let gain = losses.gain(candidate, progress)?.gain;
    if losses.cheapest().is_none_or(|(_, loss)| gain <= loss) {
        return Ok(false);
    }
    losses.insert(candidate, progress)?;
    let Some((removed, _)) = losses.cheapest() else { return Ok(true) };
    losses.remove(removed, progress)?;
    Ok(removed != candidate)
}

/// Return the learned entries, the most used first, then by code points.
fn by_uses(
    losses: &mut Losses<'_>,
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

/// Append the learned entries to the special tokens and the alphabet.
fn finish(mut base: Entries, chosen: Vec<String>, spec: &WordPieceTrainSpec) -> Learned {
    for name in chosen {
        base.add(&name);
    }
    let size = base.len();
    let stopped_early = (size < spec.vocab_size).then(|| {
        let count = spec.min_frequency.max(1);
        format!("no more substrings occur {count} times: {size} of {} entries learned", spec.vocab_size)
    });
    Learned { vocab: base.into_names(), merges: Vec::new(), stopped_early }
}
