//! Decompiles a `precompiled_charsmap` to pairs of texts by a walk through its trie: a little-endian u32 length, a
//! trie of that many bytes, then the replacements, each terminated by NUL.
//!
//! An untrusted trie may share nodes, so that few nodes stand for many rules, or contain cycles. The walk
//! is bounded by the size of a set that could have been compiled.

use piecework_core::error::{Error, ErrorKind};
use rustc_hash::FxHashMap;

use super::compile::{Units, MAX_ALL_REPLACEMENTS_BYTES, MAX_ALL_SOURCES_BYTES, MAX_SOURCE_BYTES};

/// Return the rules, ordered by source; an empty blob has none.
pub(super) fn pairs(blob: &[u8]) -> Result<Vec<(String, String)>, Error> {
    let mut pairs = Vec::new();
    if blob.is_empty() {
        return Ok(pairs);
    }
    let (units, replacements) = parts(blob)?;
    let mut source = Vec::new();
    let mut budget = Budget {
        nodes: MAX_ALL_SOURCES_BYTES,
        source_bytes: MAX_ALL_SOURCES_BYTES,
        bytes: MAX_ALL_REPLACEMENTS_BYTES,
    };
    let mut nodes = Nodes { units: &units, children_of: FxHashMap::default() };
    let mut pending = Vec::new();
    nodes.add_children(units.root(), 0, &mut pending);
    while let Some((depth, child)) = pending.pop() {
        budget.take_node(depth)?;
        source.truncate(depth);
        source.push(child.byte);
        if let Some(new) = child.value.and_then(|value| replacements.get(value..)?.split('\0').next()) {
            budget.take_source(source.len())?;
            budget.take_bytes(new.len())?;
            pairs.push((text_of(&source)?, new.to_owned()));
        }
        nodes.add_children(child.base, depth + 1, &mut pending);
    }
    Ok(pairs)
}

/// Split a blob into the trie and the replacements.
fn parts(blob: &[u8]) -> Result<(Units<'_>, &str), Error> {
    let split = || {
        let (len, rest) = blob.split_first_chunk::<4>()?;
        let (units, replacements) = rest.split_at_checked(u32::from_le_bytes(*len) as usize)?;
        Some((Units::of(units), std::str::from_utf8(replacements).ok()?))
    };
    split().ok_or_else(|| fault(format!("{} bytes", blob.len()), "a trie and its replacements in UTF-8"))
}

/// An edge to a child.
#[derive(Clone, Copy)]
struct Child {
    byte: u8,
    base: usize,
    value: Option<usize>,
}

/// The children of visited nodes; each node is read once, however many parents it has.
struct Nodes<'b> {
    units: &'b Units<'b>,
    children_of: FxHashMap<usize, Vec<Child>>,
}

impl Nodes<'_> {
    /// Push the children of a node in reverse order, with its depth.
    fn add_children(&mut self, base: usize, depth: usize, pending: &mut Vec<(usize, Child)>) {
        let children = self.children_of.entry(base).or_insert_with(|| {
            let child = |byte| {
                let (base, value) = self.units.child(base, byte)?;
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
