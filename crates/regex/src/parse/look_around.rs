//! Oniguruma's rules for look-around: what look-behind may contain.

use crate::ast::{Anchor, Look, Node, Repeat};
use crate::error::CompileError;
use crate::parse::char_length::CharLength;
use crate::parse::Parser;

/// The most characters that look-behind may step back, as in Oniguruma.
const MAX_STEP: u32 = 65_535;

/// The most bytes of a repeated text that Oniguruma writes out.
const MAX_EXPANDED: usize = 100;

/// Return a look-ahead node.
pub(crate) fn look_ahead(body: Node, negate: bool) -> Node {
    Node::Look(Box::new(Look { body, behind: false, negate, length: (0, None) }))
}

/// Return a look-behind node, or an error where Oniguruma rejects it.
pub(crate) fn look_behind(body: Node, negate: bool, parser: &Parser) -> Result<Node, CompileError> {
    if body.any(&|node| is_forbidden(node, negate)) {
        return Err(parser.malformed("look-behind with something in it that cannot be there"));
    }
    let mut body = body;
    if drop_optional_prefixes(&mut body) {
        return Err(parser.malformed("look-behind that is a sequence of optional items only"));
    }
    let length = CharLength::of(&body, &parser.group_lengths);
    if length.min > MAX_STEP || length.max.is_some_and(|max| max > MAX_STEP) {
        return Err(parser.malformed("look-behind that reads too far"));
    }
    if length.min == 0 && length.min_is_exact {
        // It matches the empty text, even where a possessive repetition would read too far.
        return Ok(empty_look_behind(body, negate));
    }
    Ok(Node::Look(Box::new(Look { body, behind: true, negate, length: (length.min, length.max) })))
}

/// Return whether Oniguruma rejects a node inside look-behind.
fn is_forbidden(node: &Node, negate: bool) -> bool {
    match node {
        Node::Look(look) => !look.behind || (look.negate && !negate),
        Node::Anchor(anchor) => matches!(anchor, Anchor::TextEnd | Anchor::TextEndOrLastLine),
        Node::Capture(..) => negate,
        _ => false,
    }
}

/// Return look-behind that matches the empty text. Its groups remain, because negative look-behind around it rejects them.
fn empty_look_behind(body: Node, negate: bool) -> Node {
    let has_groups = body.any(&|node| matches!(node, Node::Capture(..)));
    let never = || Node::Repeat(Box::new(Repeat { body, min: 0, max: Some(0), greedy: true }));
    let body = if has_groups { never() } else { Node::Empty };
    Node::Look(Box::new(Look { body, behind: true, negate, length: (0, Some(0)) }))
}

/// Remove the optional iterations at the start of look-behind, or of its alternatives. They cannot change whether it
/// matches. Return whether all items of a sequence were removed, which Oniguruma rejects.
fn drop_optional_prefixes(body: &mut Node) -> bool {
    match body {
        Node::Alternate(nodes) => nodes.iter_mut().any(drop_optional_prefixes),
        Node::Concat(nodes) => drop_optional_prefix(nodes),
        node => {
            drop_optional_iterations(node);
            false
        }
    }
}

/// Remove the optional iterations at the start of a sequence. Return whether that was all of it. A sequence at the end is
/// part of it, but a single node is a group with options.
fn drop_optional_prefix(nodes: &mut [Node]) -> bool {
    let [others @ .., last] = nodes else { return false };
    others.iter_mut().all(drop_optional_iterations)
        && !others.is_empty()
        && match last {
            Node::Concat(nodes) => drop_optional_prefix(nodes),
            last => drop_optional_iterations(last),
        }
}

/// Reduce a repetition of a single item to its least count. Return whether that is zero.
fn drop_optional_iterations(node: &mut Node) -> bool {
    let Node::Repeat(repeat) = node else { return false };
    if !matches!(repeat.body, Node::Set(_) | Node::Text(_) | Node::Reference(_))
        && !is_expanded(&repeat.body)
    {
        return false;
    }
    repeat.max = Some(repeat.min);
    repeat.min == 0
}

/// Whether Oniguruma turns a repetition of text into text.
fn is_expanded(node: &Node) -> bool {
    let Node::Repeat(repeat) = node else { return false };
    let Node::Text(text) = &repeat.body else { return false };
    let bytes: usize = text.iter().map(|c| c.len_utf8()).sum();
    repeat.max == Some(repeat.min) && bytes.saturating_mul(repeat.min as usize) <= MAX_EXPANDED
}
