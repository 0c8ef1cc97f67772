//! Word and character models: the most frequent words or characters, scored by log probability.

use std::cmp::Reverse;

use crate::count::Counts;
use crate::progress::Progress;
use crate::symbol_splitter::SymbolSplitter;
use crate::unigram::RankedAlphabet;
use piecework_core::error::Error;

/// A piece and its score.
pub type PieceScore = (String, f32);

/// Return the most frequent characters.
pub(super) fn characters(alphabet: &RankedAlphabet, size: usize) -> Vec<PieceScore> {
    let total = alphabet.ranked().iter().map(|&(_, count)| count).sum();
    let ranked = alphabet.ranked().iter().take(size);
    ranked.map(|&(character, count)| (character.to_string(), score(count, total))).collect()
}

/// Return the most frequent words without unknown characters.
pub(super) fn words(
    counts: &Counts,
    splitter: &SymbolSplitter,
    alphabet: &RankedAlphabet,
    size: usize,
    progress: &mut Progress<'_>,
) -> Result<Vec<PieceScore>, Error> {
    let mut total = 0;
    let mut whole = Vec::new();
    for (word, count) in counts.iter() {
        progress.advance(word.len())?;
        total += count;
        let mut is_whole = false;
        splitter.known_parts(word, |c| alphabet.contains(c), |part| is_whole |= part.len() == word.len());
        if is_whole {
            whole.push((word, count));
        }
    }
    whole.sort_unstable_by_key(|&(word, count)| (Reverse(count), word));
    whole.truncate(size);
    Ok(whole.into_iter().map(|(word, count)| (word.to_owned(), score(count, total))).collect())
}

/// Return the logarithm of count / total, as a difference of 32-bit logarithms; a count of 0 means 1.
fn score(count: u64, total: u64) -> f32 {
    let logarithm = |count: u64| f64::from(count.max(1) as f32).ln() as f32;
    logarithm(count) - logarithm(total)
}
