//! Word and character models: what is most frequent, with the logarithm of its share.

use std::cmp::Reverse;

use super::PieceScore;
use crate::count::Counts;
use crate::error::Error;
use crate::train::progress::Progress;
use crate::train::symbol_splitter::SymbolSplitter;
use crate::train::unigram::RankedAlphabet;

/// The most frequent characters.
pub(super) fn characters(alphabet: &RankedAlphabet, size: usize) -> Vec<PieceScore> {
    let total = alphabet.ranked().iter().map(|&(_, count)| count).sum();
    let ranked = alphabet.ranked().iter().take(size);
    ranked.map(|&(character, count)| (character.to_string(), score(count, total))).collect()
}

/// The most frequent words that are made of known characters.
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

/// The logarithm of a share, as the difference of two logarithms in 32 bits; what never occurs counts once.
fn score(count: u64, total: u64) -> f32 {
    let logarithm = |count: u64| f64::from(count.max(1) as f32).ln() as f32;
    logarithm(count) - logarithm(total)
}
