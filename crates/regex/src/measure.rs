//! Lengths of nodes, by which Oniguruma decides how a repetition of something empty ends.

use super::ast::{Node, Repeat};

/// Repetitions up to this many instructions are written out by Oniguruma.
const EXPAND_LIMIT: u64 = 10;

/// The ways in which Oniguruma builds a repetition; they differ where the body matches the empty text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plan {
    /// Nothing is left of it.
    Nothing,
    /// The least number of copies, then a loop.
    CopiesAndLoop,
    /// The least number of copies, then further ones within each other.
    Copies,
    /// Counted: every round that matches the empty text ends it.
    Counted,
}

/// How Oniguruma builds a repetition.
pub(super) fn plan(repeat: &Repeat) -> Plan {
    plan_of_size(repeat, size(&repeat.body))
}

fn plan_of_size(repeat: &Repeat, size: u64) -> Plan {
    let min = u64::from(repeat.min);
    match repeat.max {
        _ if size == 0 => Plan::Nothing,
        None if repeat.min == 1 && size > EXPAND_LIMIT => Plan::Counted,
        None if repeat.min <= 1 || size.saturating_mul(min) <= EXPAND_LIMIT => Plan::CopiesAndLoop,
        Some(0) => Plan::Nothing,
        Some(1) if repeat.greedy || repeat.min == 0 => Plan::Copies,
        Some(max) if repeat.greedy && (size + 1).saturating_mul(u64::from(max)) <= EXPAND_LIMIT => {
            Plan::Copies
        }
        None | Some(_) => Plan::Counted,
    }
}

/// The number of instructions that Oniguruma makes of a node.
fn size(node: &Node) -> u64 {
    match node {
        Node::Empty => 0,
        Node::Set(_) | Node::Anchor(_) | Node::Reference(_) => 1,
        Node::Text(text) => text.chunk_by(|one, next| one.len_utf8() == next.len_utf8()).map(|_| 1).sum(),
        Node::Concat(nodes) => nodes.iter().fold(0, |sum, node| sum.saturating_add(size(node))),
        Node::Alternate(nodes) => {
            nodes.iter().fold(2 * (nodes.len() as u64 - 1), |sum, node| sum.saturating_add(size(node)))
        }
        Node::Repeat(repeat) => size_of_repeat(repeat),
        Node::Capture(_, body) | Node::Atomic(body) => size(body).saturating_add(2),
        Node::Look(look) => {
            let around = match (look.behind, look.negate, look.chars.1 == Some(look.chars.0)) {
                (false, false, _) => 2,
                (false, true, _) => 5,
                (true, false, true) => 3,
                (true, true, true) => 6,
                (true, false, false) => 12,
                (true, true, false) => 14,
            };
            size(&look.body).saturating_add(around)
        }
    }
}

fn size_of_repeat(repeat: &Repeat) -> u64 {
    let body = size(&repeat.body);
    let checked = body.saturating_add(if repeat.body.is_nullable(&[]) { 2 } else { 0 });
    let min = u64::from(repeat.min);
    match plan_of_size(repeat, body) {
        Plan::Nothing => 0,
        Plan::CopiesAndLoop => body.saturating_mul(min).saturating_add(checked + 2),
        Plan::Copies if repeat.greedy => {
            let most = u64::from(repeat.max.unwrap_or(0));
            body.saturating_mul(min).saturating_add((body + 1).saturating_mul(most - min))
        }
        Plan::Copies => body.saturating_add(2),
        Plan::Counted if repeat.max.is_none() && repeat.min == 1 => checked.saturating_add(3),
        Plan::Counted => checked.saturating_add(2),
    }
}
