//! The characters that must be pieces: those asked for, and the most frequent ones up to a share of the text.
//!
//! Source: `LoadSentences` of sentencepiece 0.2.3, of which this has the order and the width of floats.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use super::TrainSpec;
use crate::error::Error;
use crate::train::cutter::Cutter;
use crate::train::progress::Progress;
use crate::train::shape::UNKNOWN;
use crate::train::unigram::Alphabet;
use crate::train::Counts;

/// What stands for a symbol or a delimiter in a sentence.
const SYMBOL: char = '\t';

/// Count all characters of a text, each symbol and delimiter as one, and choose.
pub(super) fn choose(
    counts: &Counts,
    cutter: &Cutter,
    spec: &TrainSpec,
    progress: &mut Progress<'_>,
) -> Result<Alphabet, Error> {
    let mut seen = required(spec);
    for (word, count) in counts.iter() {
        progress.advance(word.len())?;
        let mut stretches = 0;
        cutter.stretches(word, |stretch| {
            stretches += 1;
            for character in stretch.chars().filter(|&c| c != '\0') {
                seen.entry(character).or_default().count += count;
            }
        });
        if stretches > 1 {
            seen.entry(SYMBOL).or_default().count += count * (stretches - 1);
        }
    }
    let kept = covering(seen, spec);
    let is_piece = |&(character, _): &(char, u64)| {
        ![SYMBOL, UNKNOWN].contains(&character) && !is_symbol(character, &spec.symbols)
    };
    Ok(Alphabet::of(kept.into_iter().filter(is_piece).collect()))
}

#[derive(Clone, Copy, Default)]
struct Seen {
    is_required: bool,
    count: u64,
}

fn required(spec: &TrainSpec) -> FxHashMap<char, Seen> {
    let characters = spec.required_chars.iter().filter(|&&c| c != '\0');
    characters.map(|&c| (c, Seen { is_required: true, count: 0 })).collect()
}

/// The required characters, and the most frequent others until the share is reached.
fn covering(seen: FxHashMap<char, Seen>, spec: &TrainSpec) -> Vec<(char, u64)> {
    let total: u64 = seen.values().map(|seen| seen.count).sum();
    let mut ranked: Vec<(char, Seen)> = seen.into_iter().collect();
    ranked.sort_unstable_by_key(|&(c, seen)| (Reverse(seen.is_required), Reverse(seen.count), c));
    let mut covered = 0;
    let enough = ranked.iter().position(|(_, seen)| {
        let share = (covered as f64 / total as f64) as f32;
        covered += seen.count;
        !spec.takes_all() && !seen.is_required && share >= spec.character_coverage as f32
    });
    ranked.truncate(enough.unwrap_or(ranked.len()));
    ranked.into_iter().map(|(c, seen)| (c, seen.count)).collect()
}

fn is_symbol(character: char, symbols: &[String]) -> bool {
    symbols.iter().any(|symbol| symbol.chars().eq([character]))
}
