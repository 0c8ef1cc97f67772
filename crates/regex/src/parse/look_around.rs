//! Oniguruma's rules for look-around: what look-behind may contain.

use crate::ast::{Anchor, Look, Node};
use crate::error::CompileError;
use crate::parse::char_length::CharLength;
use crate::parse::Parser;

/// The most characters that look-behind may step back, as in Oniguruma.
const MAX_STEP: u32 = 65_535;

/// Return a look-ahead node.
pub(crate) fn look_ahead(body: Node, negate: bool) -> Node {
    Node::Look(Box::new(Look { body, behind: false, negate, length: (0, None) }))
}

/// Return a look-behind node, or an error where Oniguruma rejects it.
pub(crate) fn look_behind(body: Node, negate: bool, parser: &Parser) -> Result<Node, CompileError> {
    if body.any(&|node| is_forbidden(node, negate)) {
        return Err(parser.malformed("look-behind with something in it that cannot be there"));
    }
    let body = without_optional_prefix(body);
    let length = CharLength::of(&body, &parser.group_lengths);
    if length.min > MAX_STEP || length.max.is_some_and(|max| max > MAX_STEP) {
        return Err(parser.malformed("look-behind that reads too far"));
    }
    if length.min == 0 && length.min_is_exact {
        // It matches the empty text, even where a possessive repetition would read too far.
        return Ok(look_ahead(Node::Empty, negate));
    }
    Ok(Node::Look(Box::new(Look { body, behind: true, negate, length: (length.min, length.max) })))
}

/// Return whether Oniguruma rejects a node inside look-behind.
fn is_forbidden(node: &Node, negate: bool) -> bool {
    match node {
        // The parser has turned look-behind that matches the empty text into look-ahead.
        Node::Look(look) => (!look.behind && look.body != Node::Empty) || (look.negate && !negate),
        Node::Anchor(anchor) => matches!(anchor, Anchor::TextEnd | Anchor::TextEndOrLastLine),
        Node::Capture(..) => negate,
        _ => false,
    }
}

/// Remove the optional iterations at the start of look-behind. They cannot change whether it matches.
fn without_optional_prefix(mut body: Node) -> Node {
    match &mut body {
        Node::Alternate(nodes) => {
            nodes
                .iter_mut()
                .for_each(|node| *node = without_optional_prefix(std::mem::replace(node, Node::Empty)));
        }
        Node::Concat(nodes) => {
            for node in nodes {
                if !drop_optional_iterations(node) {
                    break;
                }
            }
        }
        node => drop(drop_optional_iterations(node)),
    }
    body
}

/// Reduce a repetition of a single item to its least count. Returns whether that is zero.
fn drop_optional_iterations(node: &mut Node) -> bool {
    let Node::Repeat(repeat) = node else { return false };
    if !matches!(repeat.body, Node::Set(_) | Node::Text(_) | Node::Reference(_)) {
        return false;
    }
    repeat.max = Some(repeat.min);
    repeat.min == 0
}
