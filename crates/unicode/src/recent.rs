//! Normalization and case folding of Unicode 17.0, for the normalization rules of SentencePiece.
//!
//! Decompositions of assigned characters never change, so the tables add to those of Unicode 9.0 only what
//! is newer.

use super::mappings::lowercase;
use super::normal_forms::{compose, decompose_for, NormalForm};
use super::recent_tables::{OTHER_FOLDS, RECENT_COMPOSITIONS, RECENT_DECOMPOSITIONS};

/// Call `emit` with the full compatibility decomposition of a character, without canonical ordering.
pub fn decompose_recent(c: char, emit: impl FnMut(char)) {
    match RECENT_DECOMPOSITIONS.binary_search_by_key(&c, |&(c, _)| c) {
        Ok(at) => RECENT_DECOMPOSITIONS[at].1.chars().for_each(emit),
        Err(_) => decompose_for(NormalForm::Nfkd, c, emit),
    }
}

/// Return the character that two characters compose to.
#[must_use]
pub fn compose_recent(first: char, second: char) -> Option<char> {
    compose(first, second).or_else(|| {
        let at = RECENT_COMPOSITIONS.binary_search_by_key(&(first, second), |&(pair, _)| pair);
        at.ok().map(|at| RECENT_COMPOSITIONS[at].1)
    })
}

/// Return the simple case folding of a character.
#[must_use]
pub fn fold_case(c: char) -> char {
    if let Ok(at) = OTHER_FOLDS.binary_search_by_key(&c, |&(c, _)| c) {
        return OTHER_FOLDS[at].1;
    }
    let mut fold = c;
    lowercase(c, |lower| fold = lower);
    fold
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn includes_characters_newer_than_unicode_9() {
        let mut parts = String::new();
        decompose_recent('\u{32FF}', |c| parts.push(c));
        assert_eq!(parts, "令和");
        assert_eq!(compose_recent('\u{11935}', '\u{11930}'), Some('\u{11938}'));
        assert_eq!(compose_recent('e', '\u{301}'), Some('é'));
    }

    #[test]
    fn folds_one_character_to_one() {
        let folded: String = "AΣςſİß\u{13A0}\u{AB70}\u{16EA0}".chars().map(fold_case).collect();
        assert_eq!(folded, "aσσsİß\u{13A0}\u{13A0}\u{16EBB}");
    }
}
