//! The minimal acyclic automaton of sorted keys with values: a trie in which equal subtrees are shared
//! (Daciuk, Mihov, Watson and Watson 2000, algorithm 1). O(bytes of the keys).

use foldhash::HashMap;

/// A node: its value if a key ends there, and its children by byte, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct TrieNode {
    pub(super) value: Option<u32>,
    pub(super) children: Vec<(u8, u32)>,
}

/// The nodes, each after its children; the last one is the root.
pub(super) struct MinimalTrie {
    pub(super) nodes: Vec<TrieNode>,
}

impl MinimalTrie {
    /// Build the automaton of distinct keys in ascending order.
    pub(super) fn build<'k>(keys: impl Iterator<Item = (&'k [u8], u32)>) -> Self {
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
