//! Decompiles a `precompiled_charsmap` to pairs of texts by a walk through its trie.
//!
//! An untrusted trie may share nodes, so that few nodes stand for many rules, or contain cycles. The walk
//! is bounded by the size of a set that could have been compiled.

use rustc_hash::FxHashMap;

use super::super::charsmap::{Charsmap, MAX_SOURCE_BYTES};
use super::compile::{MAX_ALL_REPLACEMENTS_BYTES, MAX_ALL_SOURCES_BYTES};
use crate::error::{Error, ErrorKind};

/// Returns the rules, ordered by source.
pub(super) fn pairs(charsmap: &Charsmap) -> Result<Vec<(String, String)>, Error> {
    let mut pairs = Vec::new();
    let mut source = Vec::new();
    let mut budget = Budget {
        nodes: MAX_ALL_SOURCES_BYTES,
        source_bytes: MAX_ALL_SOURCES_BYTES,
        bytes: MAX_ALL_REPLACEMENTS_BYTES,
    };
    let mut nodes = Nodes { charsmap, children_of: FxHashMap::default() };
    let mut pending = Vec::new();
    nodes.add_children(charsmap.root(), 0, &mut pending);
    while let Some((depth, child)) = pending.pop() {
        budget.take_node(depth)?;
        source.truncate(depth);
        source.push(child.byte);
        if let Some(new) = child.value.and_then(|value| charsmap.replacement(value)) {
            budget.take_source(source.len())?;
            budget.take_bytes(new.len())?;
            pairs.push((text_of(&source)?, new.to_owned()));
        }
        nodes.add_children(child.base, depth + 1, &mut pending);
    }
    Ok(pairs)
}

/// An edge to a child.
#[derive(Clone, Copy)]
struct Child {
    byte: u8,
    base: usize,
    value: Option<usize>,
}

/// The children of visited nodes; each node is read once, however many parents it has.
struct Nodes<'c> {
    charsmap: &'c Charsmap,
    children_of: FxHashMap<usize, Vec<Child>>,
}

impl Nodes<'_> {
    /// Pushes the children of a node in reverse order, with its depth.
    fn add_children(&mut self, base: usize, depth: usize, pending: &mut Vec<(usize, Child)>) {
        let children = self.children_of.entry(base).or_insert_with(|| {
            let child = |byte| {
                let (base, value) = self.charsmap.child(base, byte)?;
                Some(Child { byte, base, value })
            };
            (1..=255).rev().filter_map(child).collect()
        });
        pending.extend(children.iter().map(|&child| (depth, child)));
    }
}

fn text_of(source: &[u8]) -> Result<String, Error> {
    let error = |_| fault(format!("a rule for {source:02X?}"), "sources in UTF-8");
    String::from_utf8(source.to_vec()).map_err(error)
}

/// The remaining nodes to visit and bytes to write.
struct Budget {
    nodes: usize,
    source_bytes: usize,
    bytes: usize,
}

impl Budget {
    fn take_node(&mut self, depth: usize) -> Result<(), Error> {
        self.nodes =
            self.nodes.checked_sub(1).filter(|_| depth < MAX_SOURCE_BYTES).ok_or_else(too_large)?;
        Ok(())
    }

    fn take_source(&mut self, len: usize) -> Result<(), Error> {
        self.source_bytes = self.source_bytes.checked_sub(len).ok_or_else(too_large)?;
        Ok(())
    }

    fn take_bytes(&mut self, len: usize) -> Result<(), Error> {
        self.bytes = self.bytes.checked_sub(len).ok_or_else(|| {
            let expected = format!("at most {MAX_ALL_REPLACEMENTS_BYTES} bytes of replacements");
            fault("more", expected)
        })?;
        Ok(())
    }
}

fn too_large() -> Error {
    let expected =
        format!("sources of at most {MAX_SOURCE_BYTES} bytes each and {MAX_ALL_SOURCES_BYTES} in all");
    fault("longer or more rules", expected)
}

fn fault(found: impl Into<String>, expected: impl Into<String>) -> Error {
    Error::new(ErrorKind::Format, "precompiled_charsmap", found, expected)
}
