//! Literal text and sets without regard to case. Full case folding maps one character to several, such as
//! `ß` to `ss`.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::LazyLock;

use regex_syntax::hir::ClassUnicode;

use crate::ast::Node;
use crate::char_classes;
use crate::char_classes::SetInterner;

/// Return a node for literal characters. In look-behind, case folding maps one character to one only.
pub(crate) fn literal(
    chars: &[char],
    ignore_case: bool,
    in_look_behind: bool,
    sets: &mut SetInterner,
) -> Node {
    if !ignore_case {
        return match chars {
            [] => Node::Empty,
            chars => Node::Text(chars.to_vec()),
        };
    }
    let mut nodes = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let taken = match in_look_behind {
            true => 1,
            false => [3, 2].into_iter().find(|&len| is_folded_sequence(chars, at, len)).unwrap_or(1),
        };
        let node = match (taken, full_fold(chars[at])) {
            (1, Some(folded)) if !in_look_behind => sequence_or_char(&folded, sets),
            (1, _) => char_ignoring_case(chars[at], sets),
            _ => sequence_or_char(&chars[at..at + taken], sets),
        };
        push_merged(&mut nodes, node);
        at += taken;
    }
    Node::concat(nodes)
}

/// Return nodes for the sequences that members of a set fold to, longest first.
pub(crate) fn sequences_of(set: &ClassUnicode, sets: &mut SetInterner) -> Vec<Node> {
    let has = |c: char| set.ranges().iter().any(|range| range.start() <= c && c <= range.end());
    let mut sequences: Vec<&[char]> =
        folded_sequences().filter(|&(_, to)| to.iter().any(|&c| has(c))).map(|s| s.0).collect();
    sequences.sort_by_key(|&sequence| (std::cmp::Reverse(sequence.len()), sequence));
    sequences.into_iter().map(|sequence| char_by_char(sequence, sets)).collect()
}

/// Return whether a character folds to the `len` characters at `at`.
fn is_folded_sequence(chars: &[char], at: usize, len: usize) -> bool {
    chars.get(at..at + len).is_some_and(|part| !chars_folding_to(part).is_empty())
}

/// Return a node for a sequence or one of the characters that fold to it.
fn sequence_or_char(sequence: &[char], sets: &mut SetInterner) -> Node {
    let mut one = ClassUnicode::empty();
    chars_folding_to(sequence).iter().for_each(|&c| one.union(&char_classes::single(c)));
    let one = sets.id(&one);
    Node::Alternate(vec![char_by_char(sequence, sets), Node::Set(one)])
}

/// Return a node for a sequence, each character in either case.
fn char_by_char(sequence: &[char], sets: &mut SetInterner) -> Node {
    let mut nodes = Vec::new();
    for &c in sequence {
        push_merged(&mut nodes, char_ignoring_case(c, sets));
    }
    Node::concat(nodes)
}

/// Return a node for one character in either case.
fn char_ignoring_case(c: char, sets: &mut SetInterner) -> Node {
    let mut set = char_classes::single(c);
    char_classes::fold_case(&mut set);
    match set.ranges() {
        [range] if range.start() == range.end() => Node::Text(vec![c]),
        _ => Node::Set(sets.id(&set)),
    }
}

/// Append a node. Adjacent texts become one text.
fn push_merged(nodes: &mut Vec<Node>, node: Node) {
    match (nodes.last_mut(), node) {
        (Some(Node::Text(text)), Node::Text(more)) => text.extend(more),
        (_, node) => nodes.push(node),
    }
}

/// Folded sequences of two or three characters, with the characters that fold to them.
static FOLDED_SEQUENCES: LazyLock<HashMap<Vec<char>, Vec<char>>> =
    LazyLock::new(|| folded_sequences_of(FOLDED_BLOCKS.into_iter().flatten()));

/// The blocks of the characters that fold to several: the first use of a pattern with `(?i)` does not wait for all others.
const FOLDED_BLOCKS: [RangeInclusive<char>; 3] =
    ['\u{DF}'..='\u{587}', '\u{1E96}'..='\u{1FFC}', '\u{FB00}'..='\u{FB17}'];

/// Return the sequences that some characters fold to, with these characters.
fn folded_sequences_of(chars: impl Iterator<Item = char>) -> HashMap<Vec<char>, Vec<char>> {
    let mut folds: HashMap<Vec<char>, Vec<char>> = HashMap::new();
    for c in chars {
        if let Some(folded) = full_fold(c) {
            folds.entry(folded).or_default().push(c);
        }
    }
    folds
}

/// Return the sequence that a character folds to, if it is longer than one character.
///
/// It is the lowercase of the uppercase, except for two characters that are uppercase already.
fn full_fold(c: char) -> Option<Vec<char>> {
    let folded: Vec<char> = match c {
        'ẞ' => vec!['s', 's'],
        'İ' => vec!['i', '\u{307}'],
        _ => c.to_uppercase().flat_map(char::to_lowercase).collect(),
    };
    (folded.len() > 1).then_some(folded)
}

/// Return the characters that fold to a sequence of two or three characters.
fn chars_folding_to(sequence: &[char]) -> &'static [char] {
    let folded: Vec<char> = sequence.iter().map(|&c| simple_fold(c)).collect();
    FOLDED_SEQUENCES.get(&folded).map_or(&[], Vec::as_slice)
}

/// Return all folded sequences with the characters that fold to them.
fn folded_sequences() -> impl Iterator<Item = (&'static [char], &'static [char])> {
    FOLDED_SEQUENCES.iter().map(|(sequence, members)| (sequence.as_slice(), members.as_slice()))
}

/// Return the character that represents all characters that differ from `c` only in case.
fn simple_fold(c: char) -> char {
    let mut upper = c.to_uppercase();
    let upper = if upper.len() == 1 { upper.next().unwrap_or(c) } else { c };
    let mut lower = upper.to_lowercase();
    if lower.len() == 1 {
        lower.next().unwrap_or(c)
    } else {
        c
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_blocks_have_all_characters_that_fold_to_several() {
        assert_eq!(*FOLDED_SEQUENCES, folded_sequences_of('\0'..=char::MAX));
    }
}
