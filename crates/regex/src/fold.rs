//! Characters that equal several others when case does not matter, such as `ß` and `ss` (full case folding).

use std::collections::HashMap;
use std::sync::LazyLock;

/// Folded sequences of two or three characters, with the characters that fold to them.
static FOLDS: LazyLock<HashMap<Vec<char>, Vec<char>>> = LazyLock::new(|| {
    let mut folds: HashMap<Vec<char>, Vec<char>> = HashMap::new();
    for c in '\u{80}'..='\u{FFFF}' {
        if let Some(folded) = full_fold(c) {
            folds.entry(folded).or_default().push(c);
        }
    }
    folds
});

/// The sequence that a character folds to, if it is longer than one character.
///
/// Lowercase of uppercase gives it, except for two characters that are uppercase already.
pub(super) fn full_fold(c: char) -> Option<Vec<char>> {
    let folded: Vec<char> = match c {
        'ẞ' => vec!['s', 's'],
        'İ' => vec!['i', '\u{307}'],
        _ => c.to_uppercase().flat_map(char::to_lowercase).collect(),
    };
    (folded.len() > 1).then_some(folded)
}

/// The characters that fold to a sequence of two or three.
pub(super) fn folding_to(sequence: &[char]) -> &'static [char] {
    let folded: Vec<char> = sequence.iter().map(|&c| simple_fold(c)).collect();
    FOLDS.get(&folded).map_or(&[], Vec::as_slice)
}

/// All such sequences, with the characters that fold to them.
pub(super) fn sequences() -> impl Iterator<Item = (&'static [char], &'static [char])> {
    FOLDS.iter().map(|(sequence, members)| (sequence.as_slice(), members.as_slice()))
}

/// The one character that stands for all that differ from `c` in case alone.
pub(super) fn simple_fold(c: char) -> char {
    let mut upper = c.to_uppercase();
    let upper = if upper.len() == 1 { upper.next().unwrap_or(c) } else { c };
    let mut lower = upper.to_lowercase();
    if lower.len() == 1 {
        lower.next().unwrap_or(c)
    } else {
        c
    }
}
