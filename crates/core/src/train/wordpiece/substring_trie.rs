//! The trie of frequent substrings, and the longest substring of it at each position of the corpus.
//!
//! The trie has two roots: one for substrings that begin a word, one for substrings inside words. Without a
//! continuation prefix there is no difference, and all nodes are below the first root.
//!
//! The trie is built level by level. The positions of a node are sorted by their next character, and groups
//! that are too rare are dropped, so memory is proportional to the frequent substrings. All substrings that
//! start at a position are ancestors of the position's longest node. So counting the substrings that start at
//! n positions takes n additions and one pass over the nodes.

use super::char_entries;
use crate::count::Counts;
use crate::error::{Error, ErrorKind};
use crate::train::alphabet::Alphabet;
use crate::train::progress::Progress;

/// The root of the substrings that begin a word.
pub(super) const WORD_START: u32 = 0;
/// The root of the substrings inside words.
pub(super) const CONTINUATION: u32 = 1;
/// Follows each word; not a character.
const END: u32 = u32::MAX;

/// The characters of the words that consist of characters of the alphabet.
pub(super) struct CorpusText {
    chars: Vec<u32>,
    words: Vec<TextWord>,
    word_of: Vec<u32>,
    /// The root of the substrings inside words.
    inside: u32,
}

/// A word of the text.
pub(super) struct TextWord {
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) count: u64,
    /// The length of the entry of the alphabet that the word begins with.
    pub(super) min_first_token: u32,
}

/// The nodes in order of depth; a parent precedes its children.
pub(super) struct SubstringTrie {
    /// All substrings with this count are nodes, if they are not too long.
    pub(super) min_count: u64,
    pub(super) parent: Vec<u32>,
    pub(super) depth: Vec<u32>,
    pub(super) count: Vec<u64>,
    /// By node: a position of the substring.
    position: Vec<u32>,
    /// By node: the range of its children.
    children: Vec<(u32, u32)>,
    /// By position in the text: the longest substring that starts there and is a node.
    longest_node: Vec<u32>,
}

impl CorpusText {
    /// Lay out the words; fails for 2^32 characters or more.
    pub(super) fn new(
        counts: &Counts,
        alphabet: &Alphabet,
        prefix: &str,
        progress: &mut Progress<'_>,
    ) -> Result<Self, Error> {
        let inside = if prefix.is_empty() { WORD_START } else { CONTINUATION };
        let mut text = Self { chars: Vec::new(), words: Vec::new(), word_of: Vec::new(), inside };
        for (word, count) in counts.iter() {
            progress.advance(word.len())?;
            if alphabet.spells(word) {
                let start = text.chars.len() as u32;
                text.chars.extend(word.chars().map(u32::from));
                let end = text.chars.len() as u32;
                text.chars.push(END);
                text.word_of.resize(text.chars.len(), text.words.len() as u32);
                let min_first_token =
                    char_entries::continuation_like_start(alphabet, word, prefix).unwrap_or(1);
                text.words.push(TextWord { start, end, count, min_first_token });
            }
            if text.chars.len() >= END as usize {
                return Err(Error::new(
                    ErrorKind::Training,
                    "counts",
                    "2^32 or more characters in distinct words",
                    "fewer",
                ));
            }
        }
        Ok(text)
    }

    pub(super) fn words(&self) -> &[TextWord] {
        &self.words
    }

    /// Return the largest count of any substring, which is that of a single character.
    pub(super) fn largest_count(&self, progress: &mut Progress<'_>) -> Result<u64, Error> {
        let single = SubstringTrie::new(self, 1, 1, progress)?;
        Ok(single.count[2..].iter().copied().max().unwrap_or(0))
    }

    fn count_at(&self, position: u32) -> u64 {
        self.words[self.word_of[position as usize] as usize].count
    }
}

/// A node, and the range of its positions in a list of positions.
type NodePositions = (u32, std::ops::Range<usize>);

impl SubstringTrie {
    /// Find the substrings of at most `max_chars` that occur at least `min_count` times.
    pub(super) fn new(
        text: &CorpusText,
        min_count: u64,
        max_chars: usize,
        progress: &mut Progress<'_>,
    ) -> Result<Self, Error> {
        let mut trie = Self {
            min_count,
            parent: vec![WORD_START, CONTINUATION],
            depth: vec![0, 0],
            count: vec![0, 0],
            position: vec![0, 0],
            children: vec![(0, 0), (0, 0)],
            longest_node: vec![text.inside; text.chars.len()],
        };
        let (mut positions, mut groups) = trie.group_by_root(text);
        for depth in 1..=max_chars {
            if groups.is_empty() {
                break;
            }
            (positions, groups) = trie.add_level(text, depth, &positions, &groups, progress)?;
        }
        Ok(trie)
    }

    /// Group all positions by root.
    fn group_by_root(&mut self, text: &CorpusText) -> (Vec<u32>, Vec<NodePositions>) {
        let mut positions: Vec<u32> = text.words.iter().map(|word| word.start).collect();
        positions.iter().for_each(|&position| self.longest_node[position as usize] = WORD_START);
        let initial = positions.len();
        text.words.iter().for_each(|word| positions.extend(word.start + 1..word.end));
        let groups = match text.inside {
            WORD_START => vec![(WORD_START, 0..positions.len())],
            inside => vec![(WORD_START, 0..initial), (inside, initial..positions.len())],
        };
        (positions, groups)
    }

    /// Add the nodes of the next level; returns their positions.
    fn add_level(
        &mut self,
        text: &CorpusText,
        depth: usize,
        positions: &[u32],
        groups: &[NodePositions],
        progress: &mut Progress<'_>,
    ) -> Result<(Vec<u32>, Vec<NodePositions>), Error> {
        let (mut next_positions, mut next_groups) = (Vec::new(), Vec::new());
        let mut order: Vec<(u32, u32)> = Vec::new();
        for (node, range) in groups {
            progress.advance(range.len())?;
            let ahead = |&position: &u32| (text.chars[position as usize + depth - 1], position);
            order.clear();
            order.extend(positions[range.clone()].iter().map(ahead).filter(|&(next, _)| next != END));
            order.sort_unstable_by_key(|&(next, _)| next);
            let first_child = self.parent.len() as u32;
            for run in order.chunk_by(|one, two| one.0 == two.0) {
                let count = run.iter().map(|&(_, position)| text.count_at(position)).sum();
                if count >= self.min_count {
                    let child = self.add(*node, count, run);
                    let start = next_positions.len();
                    next_positions.extend(run.iter().map(|&(_, position)| position));
                    next_groups.push((child, start..next_positions.len()));
                }
            }
            self.children[*node as usize] = (first_child, self.parent.len() as u32);
        }
        Ok((next_positions, next_groups))
    }

    fn add(&mut self, parent: u32, count: u64, run: &[(u32, u32)]) -> u32 {
        let node = self.parent.len() as u32;
        self.parent.push(parent);
        self.depth.push(self.depth[parent as usize] + 1);
        self.count.push(count);
        self.position.push(run[0].1);
        self.children.push((0, 0));
        run.iter().for_each(|&(_, position)| self.longest_node[position as usize] = node);
        node
    }

    pub(super) fn len(&self) -> usize {
        self.parent.len()
    }

    /// The node of the longest substring that starts at a position.
    #[inline]
    pub(super) fn longest_node_at(&self, position: u32) -> u32 {
        self.longest_node[position as usize]
    }

    /// Whether the substring of a node begins a word.
    pub(super) fn begins_word(&self, text: &CorpusText, node: u32) -> bool {
        let position = self.position[node as usize];
        text.words[text.word_of[position as usize] as usize].start == position
    }

    /// Return the substring of a node, without the continuation prefix.
    pub(super) fn spell(&self, text: &CorpusText, node: u32) -> String {
        let start = self.position[node as usize] as usize;
        let chars = &text.chars[start..start + self.depth[node as usize] as usize];
        chars.iter().filter_map(|&code| char::from_u32(code)).collect()
    }

    /// Return the node that the characters of `path` lead to from a node.
    pub(super) fn walk(&self, text: &CorpusText, from: u32, path: &str) -> Option<u32> {
        path.chars().try_fold(from, |node, character| self.child(text, node, u32::from(character)))
    }

    /// Visit all pairs of nodes that the same non-empty path leads to from `one` and from `two`.
    pub(super) fn visit_common_paths(
        &self,
        text: &CorpusText,
        one: u32,
        two: u32,
        mut visit: impl FnMut(u32, u32),
    ) {
        let mut stack = vec![(one, two)];
        while let Some((one, two)) = stack.pop() {
            let (start, end) = self.children[one as usize];
            for child in start..end {
                if let Some(other) = self.child(text, two, self.last_char(text, child)) {
                    visit(child, other);
                    stack.push((child, other));
                }
            }
        }
    }

    fn child(&self, text: &CorpusText, node: u32, character: u32) -> Option<u32> {
        let (start, end) = self.children[node as usize];
        let siblings = &self.position[start as usize..end as usize];
        let offset = self.depth[node as usize];
        let index = siblings
            .binary_search_by_key(&character, |&position| text.chars[(position + offset) as usize])
            .ok()?;
        Some(start + index as u32)
    }

    fn last_char(&self, text: &CorpusText, node: u32) -> u32 {
        text.chars[(self.position[node as usize] + self.depth[node as usize] - 1) as usize]
    }
}
