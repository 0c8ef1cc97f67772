//! The trie of substrings that occur often enough, and the deepest node of each position of the corpus.
//!
//! Two roots keep apart what begins a word (plain) and what stands inside (marked); without a prefix to
//! mark it with, there is but one kind, and all hangs below the plain root. The trie grows level by
//! level: the positions of a node are sorted by their next character, and groups that are too rare are
//! dropped with all that would hang below them, so memory follows the frequent substrings. A substring that
//! starts at a position is then an ancestor of the position's deepest node, and counting all substrings
//! that start at some positions is one addition for each of them and one pass over the nodes.

use super::forms;
use crate::error::{Error, ErrorKind};
use crate::train::alphabet::Alphabet;
use crate::train::progress::Progress;
use crate::train::Counts;

/// Root of the substrings that begin a word.
pub(super) const PLAIN: u32 = 0;
/// Root of the substrings inside words.
pub(super) const MARKED: u32 = 1;
/// Stands after each word; no character.
const END: u32 = u32::MAX;

/// The words that can be spelled with the alphabet, character by character.
pub(super) struct Text {
    chars: Vec<u32>,
    words: Vec<Word>,
    word_of: Vec<u32>,
    /// The root of what stands inside words.
    inside: u32,
}

/// A word of the text.
pub(super) struct Word {
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) count: u64,
    /// The length of an entry of the alphabet that it begins with.
    pub(super) known_start: u32,
}

/// Nodes in order of depth; a parent stands before its children.
pub(super) struct Substrings {
    /// All substrings that occur so often are nodes, if they are not too long.
    pub(super) min_count: u64,
    pub(super) parent: Vec<u32>,
    pub(super) depth: Vec<u32>,
    pub(super) count: Vec<u64>,
    /// A position where the substring stands.
    place: Vec<u32>,
    /// Where the children of each node start and end.
    children: Vec<(u32, u32)>,
    /// By position in the text.
    deepest: Vec<u32>,
}

impl Text {
    pub(super) fn new(
        counts: &Counts,
        alphabet: &Alphabet,
        prefix: &str,
        progress: &mut Progress<'_>,
    ) -> Result<Self, Error> {
        let inside = if prefix.is_empty() { PLAIN } else { MARKED };
        let mut text = Self { chars: Vec::new(), words: Vec::new(), word_of: Vec::new(), inside };
        for (word, count) in counts.iter() {
            progress.advance(word.len())?;
            if alphabet.spells(word) {
                let start = text.chars.len() as u32;
                text.chars.extend(word.chars().map(u32::from));
                let end = text.chars.len() as u32;
                text.chars.push(END);
                text.word_of.resize(text.chars.len(), text.words.len() as u32);
                let known_start = forms::marked_start(alphabet, word, prefix).unwrap_or(1);
                text.words.push(Word { start, end, count, known_start });
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

    pub(super) fn words(&self) -> &[Word] {
        &self.words
    }

    /// The largest count of any substring: that of a single character.
    pub(super) fn largest_count(&self, progress: &mut Progress<'_>) -> Result<u64, Error> {
        let single = Substrings::new(self, 1, 1, progress)?;
        Ok(single.count[2..].iter().copied().max().unwrap_or(0))
    }

    fn count_at(&self, position: u32) -> u64 {
        self.words[self.word_of[position as usize] as usize].count
    }
}

/// Positions that share a node, as a range.
type Group = (u32, std::ops::Range<usize>);

impl Substrings {
    /// Find the substrings of at most `max_chars` that occur at least `min_count` times.
    pub(super) fn new(
        text: &Text,
        min_count: u64,
        max_chars: usize,
        progress: &mut Progress<'_>,
    ) -> Result<Self, Error> {
        let mut trie = Self {
            min_count,
            parent: vec![PLAIN, MARKED],
            depth: vec![0, 0],
            count: vec![0, 0],
            place: vec![0, 0],
            children: vec![(0, 0), (0, 0)],
            deepest: vec![text.inside; text.chars.len()],
        };
        let (mut positions, mut groups) = trie.plant(text);
        for depth in 1..=max_chars {
            if groups.is_empty() {
                break;
            }
            (positions, groups) = trie.deepen(text, depth, &positions, &groups, progress)?;
        }
        Ok(trie)
    }

    /// Group the positions under the two roots.
    fn plant(&mut self, text: &Text) -> (Vec<u32>, Vec<Group>) {
        let mut positions: Vec<u32> = text.words.iter().map(|word| word.start).collect();
        positions.iter().for_each(|&position| self.deepest[position as usize] = PLAIN);
        let plain = positions.len();
        text.words.iter().for_each(|word| positions.extend(word.start + 1..word.end));
        let groups = match text.inside {
            PLAIN => vec![(PLAIN, 0..positions.len())],
            inside => vec![(PLAIN, 0..plain), (inside, plain..positions.len())],
        };
        (positions, groups)
    }

    /// Add the nodes of one more level.
    fn deepen(
        &mut self,
        text: &Text,
        depth: usize,
        positions: &[u32],
        groups: &[Group],
        progress: &mut Progress<'_>,
    ) -> Result<(Vec<u32>, Vec<Group>), Error> {
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
        self.place.push(run[0].1);
        self.children.push((0, 0));
        run.iter().for_each(|&(_, position)| self.deepest[position as usize] = node);
        node
    }

    pub(super) fn len(&self) -> usize {
        self.parent.len()
    }

    /// The longest substring that starts at a position and is a node.
    #[inline]
    pub(super) fn deepest_at(&self, position: u32) -> u32 {
        self.deepest[position as usize]
    }

    /// Whether a node's substring begins a word.
    pub(super) fn is_plain(&self, text: &Text, node: u32) -> bool {
        let place = self.place[node as usize];
        text.words[text.word_of[place as usize] as usize].start == place
    }

    /// Spell a node's substring, without any prefix.
    pub(super) fn spell(&self, text: &Text, node: u32) -> String {
        let start = self.place[node as usize] as usize;
        let chars = &text.chars[start..start + self.depth[node as usize] as usize];
        chars.iter().filter_map(|&code| char::from_u32(code)).collect()
    }

    /// Follow the characters of `path` down from a node.
    pub(super) fn walk(&self, text: &Text, from: u32, path: &str) -> Option<u32> {
        path.chars().try_fold(from, |node, character| self.child(text, node, u32::from(character)))
    }

    /// Visit all pairs of nodes that are reached by the same non-empty path from `one` and from `two`.
    pub(super) fn parallel(&self, text: &Text, one: u32, two: u32, mut visit: impl FnMut(u32, u32)) {
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

    fn child(&self, text: &Text, node: u32, character: u32) -> Option<u32> {
        let (start, end) = self.children[node as usize];
        let siblings = &self.place[start as usize..end as usize];
        let offset = self.depth[node as usize];
        let index = siblings
            .binary_search_by_key(&character, |&place| text.chars[(place + offset) as usize])
            .ok()?;
        Some(start + index as u32)
    }

    fn last_char(&self, text: &Text, node: u32) -> u32 {
        text.chars[(self.place[node as usize] + self.depth[node as usize] - 1) as usize]
    }
}
