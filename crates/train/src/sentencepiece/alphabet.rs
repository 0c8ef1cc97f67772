//! The characters that must be pieces: the required ones, and the most frequent ones up to a share of the text.
//!
//! Source: `LoadSentences` of sentencepiece 0.2.3; the order of operations and the float width are the same.

use std::cmp::Reverse;

use foldhash::HashMap;

use super::spec::SentencePieceTrainSpec;
use crate::count::Counts;
use crate::piece_rules::UNKNOWN;
use crate::progress::Progress;
use crate::symbol_splitter::SymbolSplitter;
use crate::unigram::RankedAlphabet;
use piecework_core::error::Error;

/// Replaces a symbol or a delimiter in a sentence.
const SYMBOL: char = '\t';

/// Count all characters, each symbol and delimiter as one, and choose those that must be pieces.
pub(super) fn choose(
    counts: &Counts,
    splitter: &SymbolSplitter,
    spec: &SentencePieceTrainSpec,
    progress: &mut Progress<'_>,
) -> Result<RankedAlphabet, Error> {
    let mut char_counts = required(spec);
    for (word, count) in counts.iter() {
        progress.advance(word.len())?;
        let mut parts = 0;
        splitter.split(word, |part| {
            parts += 1;
            for character in part.chars().filter(|&c| c != '\0') {
                char_counts.entry(character).or_default().count += count;
            }
        });
        if parts > 1 {
            char_counts.entry(SYMBOL).or_default().count += count * (parts - 1);
        }
    }
    let kept = covering(char_counts, spec);
    let is_piece = |&(character, _): &(char, u64)| {
        ![SYMBOL, UNKNOWN].contains(&character) && !is_symbol(character, &spec.symbols)
    };
    Ok(RankedAlphabet::of(kept.into_iter().filter(is_piece).collect()))
}

#[derive(Clone, Copy, Default)]
struct CharCount {
    is_required: bool,
    count: u64,
}

fn required(spec: &SentencePieceTrainSpec) -> HashMap<char, CharCount> {
    let characters = spec.required_chars.iter().filter(|&&c| c != '\0');
    characters.map(|&c| (c, CharCount { is_required: true, count: 0 })).collect()
}

/// Return the required characters, and the most frequent others until the share is reached.
fn covering(char_counts: HashMap<char, CharCount>, spec: &SentencePieceTrainSpec) -> Vec<(char, u64)> {
    let total: u64 = char_counts.values().map(|char_counts| char_counts.count).sum();
    let mut ranked: Vec<(char, CharCount)> = char_counts.into_iter().collect();
    ranked.sort_unstable_by_key(|&(c, char_counts)| {
        (Reverse(char_counts.is_required), Reverse(char_counts.count), c)
    });
    let mut covered = 0;
    let enough = ranked.iter().position(|(_, char_counts)| {
        let share = (covered as f64 / total as f64) as f32;
        covered += char_counts.count;
        !spec.takes_all() && !char_counts.is_required && share >= spec.character_coverage as f32
    });
    ranked.truncate(enough.unwrap_or(ranked.len()));
    ranked.into_iter().map(|(c, char_counts)| (c, char_counts.count)).collect()
}

fn is_symbol(character: char, symbols: &[String]) -> bool {
    symbols.iter().any(|symbol| symbol.chars().eq([character]))
}
