//! How Oniguruma expands repetitions.
//!
//! The expansion decides what an iteration that matches the empty text does. Oniguruma chooses it by the
//! number of instructions that it would generate.

use crate::ast::{Node, Repeat};

/// Oniguruma unrolls repetitions up to this many instructions.
const EXPAND_LIMIT: u64 = 10;

/// The forms that Oniguruma gives to a repetition. They differ where the body matches the empty text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expansion {
    /// It is dropped.
    Empty,
    /// `min` copies, then a loop.
    CopiesThenLoop,
    /// `min` copies, then optional copies within each other.
    NestedOptional,
    /// A counted loop. An iteration that matches the empty text leaves it.
    Counted,
}

/// Return the form of a repetition.
pub(crate) fn expansion(repeat: &Repeat) -> Expansion {
    expansion_of_size(repeat, instruction_count(&repeat.body))
}

/// Return the form of a repetition whose body has `size` instructions.
fn expansion_of_size(repeat: &Repeat, size: u64) -> Expansion {
    let min = u64::from(repeat.min);
    match repeat.max {
        _ if size == 0 => Expansion::Empty,
        None if repeat.min == 1 && size > EXPAND_LIMIT => Expansion::Counted,
        None if repeat.min <= 1 || size.saturating_mul(min) <= EXPAND_LIMIT => Expansion::CopiesThenLoop,
        Some(0) => Expansion::Empty,
        Some(1) if repeat.greedy || repeat.min == 0 => Expansion::NestedOptional,
        Some(max) if repeat.greedy && (size + 1).saturating_mul(u64::from(max)) <= EXPAND_LIMIT => {
            Expansion::NestedOptional
        }
        None | Some(_) => Expansion::Counted,
    }
}

/// Return the number of instructions that Oniguruma generates for a node.
fn instruction_count(node: &Node) -> u64 {
    match node {
        Node::Empty => 0,
        Node::Set(_) | Node::Anchor(_) | Node::Reference(_) => 1,
        Node::Text(text) => text.chunk_by(|one, next| one.len_utf8() == next.len_utf8()).map(|_| 1).sum(),
        Node::Concat(nodes) => {
            nodes.iter().fold(0, |sum, node| sum.saturating_add(instruction_count(node)))
        }
        Node::Alternate(nodes) => nodes
            .iter()
            .fold(2 * (nodes.len() as u64 - 1), |sum, node| sum.saturating_add(instruction_count(node))),
        Node::Repeat(repeat) => repeat_instruction_count(repeat),
        Node::Capture(_, body) | Node::Atomic(body) => instruction_count(body).saturating_add(2),
        Node::Look(look) => {
            let around = match (look.behind, look.negate, look.length.1 == Some(look.length.0)) {
                (false, false, _) => 2,
                (false, true, _) => 5,
                (true, false, true) => 3,
                (true, true, true) => 6,
                (true, false, false) => 12,
                (true, true, false) => 14,
            };
            instruction_count(&look.body).saturating_add(around)
        }
    }
}

/// Return the number of instructions that Oniguruma generates for a repetition.
fn repeat_instruction_count(repeat: &Repeat) -> u64 {
    let body = instruction_count(&repeat.body);
    let checked = body.saturating_add(if repeat.body.is_nullable(&[]) { 2 } else { 0 });
    let min = u64::from(repeat.min);
    match expansion_of_size(repeat, body) {
        Expansion::Empty => 0,
        Expansion::CopiesThenLoop => body.saturating_mul(min).saturating_add(checked + 2),
        Expansion::NestedOptional if repeat.greedy => {
            let most = u64::from(repeat.max.unwrap_or(0));
            body.saturating_mul(min).saturating_add((body + 1).saturating_mul(most - min))
        }
        Expansion::NestedOptional => body.saturating_add(2),
        Expansion::Counted if repeat.max.is_none() && repeat.min == 1 => checked.saturating_add(3),
        Expansion::Counted => checked.saturating_add(2),
    }
}
