//! Literal text when case does not matter: one character may equal several others (full case folding).

use regex_syntax::hir::ClassUnicode;

use super::ast::Node;
use super::sets::Sets;
use super::{class, fold};

/// A run of literal characters. Look-behind knows only foldings of one character to one.
pub(super) fn text(run: &[char], ignore_case: bool, in_look_behind: bool, sets: &mut Sets) -> Node {
    if !ignore_case {
        return match run {
            [] => Node::Empty,
            run => Node::Text(run.to_vec()),
        };
    }
    let mut nodes = Vec::new();
    let mut at = 0;
    while at < run.len() {
        let taken = match in_look_behind {
            true => 1,
            false => [3, 2].into_iter().find(|&len| folds(run, at, len)).unwrap_or(1),
        };
        let node = match (taken, fold::full_fold(run[at])) {
            (1, Some(folded)) if !in_look_behind => equals_sequence(&folded, sets),
            (1, _) => single(run[at], sets),
            _ => equals_sequence(&run[at..at + taken], sets),
        };
        push(&mut nodes, node);
        at += taken;
    }
    Node::concat(nodes)
}

/// The sequences that members of a set equal when case does not matter, longest first.
pub(super) fn sequences_of(set: &ClassUnicode, sets: &mut Sets) -> Vec<Node> {
    let has = |c: char| set.ranges().iter().any(|range| range.start() <= c && c <= range.end());
    let mut sequences: Vec<&[char]> =
        fold::sequences().filter(|&(_, to)| to.iter().any(|&c| has(c))).map(|s| s.0).collect();
    sequences.sort_by_key(|&sequence| (std::cmp::Reverse(sequence.len()), sequence));
    sequences.into_iter().map(|sequence| one_by_one(sequence, sets)).collect()
}

fn folds(run: &[char], at: usize, len: usize) -> bool {
    run.get(at..at + len).is_some_and(|part| !fold::folding_to(part).is_empty())
}

/// A sequence, or one of the characters that fold to it.
fn equals_sequence(sequence: &[char], sets: &mut Sets) -> Node {
    let mut one = ClassUnicode::empty();
    fold::folding_to(sequence).iter().for_each(|&c| one.union(&class::single(c)));
    let one = sets.id(&one);
    Node::Alternate(vec![one_by_one(sequence, sets), Node::Set(one)])
}

fn one_by_one(sequence: &[char], sets: &mut Sets) -> Node {
    let mut nodes = Vec::new();
    for &c in sequence {
        push(&mut nodes, single(c, sets));
    }
    Node::concat(nodes)
}

fn single(c: char, sets: &mut Sets) -> Node {
    let mut set = class::single(c);
    set.case_fold_simple();
    match set.ranges() {
        [range] if range.start() == range.end() => Node::Text(vec![c]),
        _ => Node::Set(sets.id(&set)),
    }
}

/// Texts next to each other are one text.
fn push(nodes: &mut Vec<Node>, node: Node) {
    match (nodes.last_mut(), node) {
        (Some(Node::Text(text)), Node::Text(more)) => text.extend(more),
        (_, node) => nodes.push(node),
    }
}
