//! Byte tries as double arrays (Aoe 1989, "An Efficient Digital Search Algorithm by Using a Double-Array Structure").
//!
//! The child of a state by a byte is in the slot `base ^ byte`, so all children of a state are in one block of 256
//! slots. `Allocator` assigns bases and slots, `build_breadth_first` places the states of a trie with it, and
//! `Trie` and `CompactNode` are two representations of the result: 8 bytes a state with its parent, and 4 bytes
//! with the byte that leads to it.
//!
//! ```text
//! builder      sorts keys and places the states of their trie breadth first
//! trie         a trie whose states name their parents
//! ```

mod builder;
mod trie;

pub use builder::Allocator;
pub(crate) use builder::{build_breadth_first, sorted_keys, SortedKey, TrieLayout, TrieStep, BLOCK};
pub(crate) use trie::{ChildLists, CompactNode, Trie, MAX_BASE};
