//! Compiles pairs of texts to a `precompiled_charsmap`: checks, the pool of replacements, then the minimal
//! trie of the sources as a double array. O(bytes of the sources), except for sorting.

use foldhash::HashMap;
use piecework_core::double_array::Allocator;
use piecework_core::error::{Error, ErrorKind};

/// The longest source in bytes that a normalizer finds.
pub(super) const MAX_SOURCE_BYTES: usize = 256;
/// Limits for sources and replacements; a set within them compiles and decompiles within a second.
pub(super) const MAX_ALL_SOURCES_BYTES: usize = 1 << 22;
pub(super) const MAX_ALL_REPLACEMENTS_BYTES: usize = 1 << 26;

/// SentencePiece rejects more rules than this that begin at the same position.
const MAX_NESTED: usize = 31;

type Pair = (String, String);

/// Compile rules; no rules compile to no bytes.
pub(super) fn compile(rules: &[Pair]) -> Result<Vec<u8>, RuleError> {
    if rules.is_empty() {
        return Ok(Vec::new());
    }
    check_each(rules)?;
    check_sizes(rules)?;
    let mut order: Vec<usize> = (0..rules.len()).collect();
    order.sort_by(|&a, &b| rules[a].0.cmp(&rules[b].0));
    check_neighbours(rules, &order)?;
    let (replacements, starts) = pool(order.iter().map(|&rule| rules[rule].1.as_str()));
    let keys = order.iter().map(|&rule| rules[rule].0.as_bytes()).zip(starts);
    let units = lay_out(&MinimalTrie::build(keys))?;
    let mut blob = ((units.len() * 4) as u32).to_le_bytes().to_vec();
    blob.extend(units.into_iter().flat_map(u32::to_le_bytes));
    blob.extend_from_slice(&replacements);
    Ok(blob)
}

fn check_each(rules: &[Pair]) -> Result<(), RuleError> {
    for (at, (source, replacement)) in rules.iter().enumerate() {
        if source.is_empty() {
            return Err(RuleError::at(at, "an empty source", "the characters to replace"));
        }
        if source.contains('\0') || replacement.contains('\0') {
            return Err(RuleError::at(
                at,
                "NUL",
                "other characters, as NUL ends a text in the compiled form",
            ));
        }
        if source.len() > MAX_SOURCE_BYTES {
            let found = format!("a source of {} bytes", source.len());
            return Err(RuleError::at(at, found, format!("at most {MAX_SOURCE_BYTES} bytes of UTF-8")));
        }
    }
    Ok(())
}

fn check_sizes(rules: &[Pair]) -> Result<(), RuleError> {
    let check = |bytes: usize, max: usize, what: &str| {
        let found = format!("{bytes} bytes of {what}");
        let error = || RuleError::of_all(&found, &format!("at most {max}"));
        (bytes <= max).then_some(()).ok_or_else(error)
    };
    check(rules.iter().map(|rule| rule.0.len()).sum(), MAX_ALL_SOURCES_BYTES, "sources")?;
    check(rules.iter().map(|rule| rule.1.len()).sum(), MAX_ALL_REPLACEMENTS_BYTES, "replacements")
}

/// Check sorted rules for equal sources and for too many nested prefixes.
fn check_neighbours(rules: &[Pair], order: &[usize]) -> Result<(), RuleError> {
    let mut nested: Vec<&str> = Vec::new();
    for (place, &rule) in order.iter().enumerate() {
        let source = rules[rule].0.as_str();
        if let Some(&before) = place.checked_sub(1).and_then(|place| order.get(place)) {
            if rules[before].0 == source {
                let found = format!("the source {source:?} again");
                return Err(RuleError::at(rule, found, "each source once"));
            }
        }
        while nested.last().is_some_and(|outer| !source.starts_with(outer)) {
            nested.pop();
        }
        nested.push(source);
        if nested.len() > MAX_NESTED {
            let found = format!("{} sources that are beginnings of one another", nested.len());
            return Err(RuleError::at(rule, found, format!("at most {MAX_NESTED}")));
        }
    }
    Ok(())
}

/// Return each distinct replacement once, terminated by NUL, and the position of each rule's replacement.
fn pool<'r>(replacements: impl Iterator<Item = &'r str>) -> (Vec<u8>, Vec<u32>) {
    let mut pool = Vec::new();
    let mut start_by_replacement: HashMap<&str, u32> = HashMap::default();
    let mut start_of = |replacement| {
        *start_by_replacement.entry(replacement).or_insert_with(|| {
            let start = pool.len() as u32;
            pool.extend_from_slice(str::as_bytes(replacement));
            pool.push(0);
            start
        })
    };
    let starts = replacements.map(&mut start_of).collect();
    (pool, starts)
}

/// An error in a set of rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RuleError {
    /// The position of the rule in the list; `None` for all rules together.
    pub(super) rule: Option<usize>,
    /// What was found.
    pub(super) found: String,
    /// What was expected.
    pub(super) expected: String,
}

impl RuleError {
    /// Return an error of one rule.
    pub(super) fn at(rule: usize, found: impl Into<String>, expected: impl Into<String>) -> Self {
        Self { rule: Some(rule), found: found.into(), expected: expected.into() }
    }

    /// Return an error of all rules together.
    pub(super) fn of_all(found: &str, expected: &str) -> Self {
        Self { rule: None, found: found.to_owned(), expected: expected.to_owned() }
    }

    /// Convert into an error at `all`, or at the place of the rule.
    pub(super) fn at_place(self, kind: ErrorKind, all: &str, place: impl Fn(usize) -> String) -> Error {
        let place = self.rule.map_or_else(|| all.to_owned(), place);
        Error::new(kind, place, self.found, self.expected)
    }
}

/// A node: its value if a key ends there, and its children by byte, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct TrieNode {
    pub(super) value: Option<u32>,
    pub(super) children: Vec<(u8, u32)>,
}

/// The minimal acyclic automaton of sorted keys with values: a trie in which equal subtrees are shared
/// (Daciuk, Mihov, Watson and Watson 2000, algorithm 1).
///
/// The nodes come after their children; the last one is the root.
pub(super) struct MinimalTrie {
    pub(super) nodes: Vec<TrieNode>,
}

impl MinimalTrie {
    /// Build the automaton of distinct keys in ascending order, in O(bytes of the keys).
    fn build<'k>(keys: impl Iterator<Item = (&'k [u8], u32)>) -> Self {
        let mut builder =
            MinimalTrieBuilder { path: vec![TrieNode::default()], ..MinimalTrieBuilder::default() };
        let mut last: &[u8] = &[];
        for (key, value) in keys {
            let shared = key.iter().zip(last).take_while(|(a, b)| a == b).count();
            builder.finish_below(shared, last);
            builder.path.resize(key.len() + 1, TrieNode::default());
            builder.path[key.len()].value = Some(value);
            last = key;
        }
        builder.finish_below(0, last);
        let root = builder.path.pop().unwrap_or_default();
        builder.id_of(root);
        Self { nodes: builder.nodes }
    }
}

#[derive(Default)]
struct MinimalTrieBuilder {
    nodes: Vec<TrieNode>,
    ids: HashMap<TrieNode, u32>,
    /// The nodes of the last key, which may still change.
    path: Vec<TrieNode>,
}

impl MinimalTrieBuilder {
    /// Finish the nodes of `key` deeper than `depth`, the deepest first.
    fn finish_below(&mut self, depth: usize, key: &[u8]) {
        while self.path.len() > depth + 1 {
            let node = self.path.pop().unwrap_or_default();
            let id = self.id_of(node);
            let parent = self.path.len() - 1;
            self.path[parent].children.push((key[parent], id));
        }
    }

    fn id_of(&mut self, node: TrieNode) -> u32 {
        if let Some(&id) = self.ids.get(&node) {
            return id;
        }
        let id = self.nodes.len() as u32;
        self.nodes.push(node.clone());
        self.ids.insert(node, id);
        id
    }
}

// ---- the units of a charsmap: a trie as a double array (Aoe 1989) in the format of darts-clone
//
// A unit is 32 bits: bits 0..8 and 31 are the label, bit 8 says that the node has a value, bits 10..31 the offset,
// in steps of 256 where bit 9 is set. A node has a base such that the unit at `base ^ byte` is its child's, and
// the one at `base` holds its value, with bit 31 set. Laying out takes O(children) for each node.

/// Offsets of this many bits are stored without a shift.
const MAX_UNITS: usize = 1 << 21;

const HAS_VALUE: u32 = 1 << 8;
const IS_VALUE: u32 = 1 << 31;

/// Return the units of a trie.
pub(super) fn lay_out(trie: &MinimalTrie) -> Result<Vec<u32>, RuleError> {
    let (bases, slots) = bases(trie)?;
    // A free unit is a value, so that no byte is its label.
    let mut units = vec![IS_VALUE; slots];
    for (node, &base) in trie.nodes.iter().zip(&bases) {
        if let Some(value) = node.value {
            units[base] = IS_VALUE | value;
        }
        for &(byte, child) in &node.children {
            let at = base ^ usize::from(byte);
            let has_value = if trie.nodes[child as usize].value.is_some() { HAS_VALUE } else { 0 };
            units[at] = offset(at, bases[child as usize]) | has_value | u32::from(byte);
        }
    }
    units[0] = offset(0, bases.last().copied().unwrap_or_default());
    Ok(units)
}

fn offset(from: usize, to: usize) -> u32 {
    ((from ^ to) as u32) << 10
}

/// Return the base of each node, and the number of units.
fn bases(trie: &MinimalTrie) -> Result<(Vec<usize>, usize), RuleError> {
    let mut allocator = Allocator::with_roots(1);
    let mut bases = Vec::with_capacity(trie.nodes.len());
    let mut bytes = Vec::new();
    for TrieNode { value, children } in &trie.nodes {
        bytes.clear();
        bytes.extend(value.map(|_| 0).into_iter().chain(children.iter().map(|&(byte, _)| byte)));
        bases.push(allocator.allocate(&bytes));
        if allocator.slots() > MAX_UNITS {
            let found = format!("rules that need more than {MAX_UNITS} units");
            return Err(RuleError::of_all(&found, "fewer or more similar rules"));
        }
    }
    Ok((bases, allocator.slots()))
}

/// The units of a blob, which nothing vouches for: a lookup outside of them finds no child.
pub(super) struct Units<'b>(&'b [[u8; 4]]);

impl<'b> Units<'b> {
    /// Read units of four bytes each.
    pub(super) fn of(bytes: &'b [u8]) -> Self {
        Self(bytes.as_chunks().0)
    }

    fn unit(&self, at: usize) -> Option<u32> {
        self.0.get(at).map(|&unit| u32::from_le_bytes(unit))
    }

    /// Return the base of the root's children.
    pub(super) fn root(&self) -> usize {
        self.unit(0).map_or(0, offset_of)
    }

    /// Return the base of the children of the child by `byte`, and its value if it ends a rule.
    pub(super) fn child(&self, base: usize, byte: u8) -> Option<(usize, Option<usize>)> {
        let at = base ^ usize::from(byte);
        let unit = self.unit(at).filter(|unit| unit & (IS_VALUE | 0xFF) == u32::from(byte))?;
        let below = at ^ offset_of(unit);
        let value = if unit & HAS_VALUE == 0 { None } else { Some(self.unit(below)? & !IS_VALUE) };
        Some((below, value.map(|value| value as usize)))
    }
}

/// Return the offset of a unit.
fn offset_of(unit: u32) -> usize {
    ((unit >> 10) as usize) << ((unit & 1 << 9) >> 6)
}
