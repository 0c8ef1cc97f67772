//! The entries of single characters: plain at the start of a word, with the prefix after another.

use super::{PairScore, WordPieceTrainSpec};
use crate::train::alphabet::Alphabet;

/// List the entries in vocabulary order.
///
/// For `Score::Frequency` all plain forms come first, as `tokenizers` has them; for the other scores a
/// character has the forms it was seen in, sorted together.
pub(super) fn alphabet_entries(alphabet: &Alphabet, spec: &WordPieceTrainSpec) -> Vec<String> {
    let prefix = &spec.continuing_subword_prefix;
    let frequency = spec.score == PairScore::Frequency;
    let mut plain: Vec<String> =
        alphabet.select(|seen| frequency || seen.begins() || seen.wanted).map(String::from).collect();
    let mut marked: Vec<String> = alphabet
        .select(|seen| seen.continues() || (seen.wanted && !frequency))
        .map(|character| format!("{prefix}{character}"))
        .collect();
    plain.sort_unstable();
    marked.sort_unstable();
    plain.append(&mut marked);
    if !frequency {
        plain.sort_unstable();
    }
    plain
}

/// How many characters of a word's start are spelled like the inner form of a single character; this
/// happens only to words that begin with the prefix itself.
pub(super) fn continuation_like_start(alphabet: &Alphabet, word: &str, prefix: &str) -> Option<u32> {
    let next = word.strip_prefix(prefix)?.chars().next()?;
    let seen = alphabet.get(next)?;
    (seen.continues() || seen.wanted).then(|| prefix.chars().count() as u32 + 1)
}
