//! The trie of frequent substrings, and the longest substring of it at each position of the corpus.
//!
//! The trie has two roots: one for substrings that begin a word, one for substrings inside words. Without a
//! continuation prefix there is no difference, and all nodes are below the first root.
//!
//! The trie is built level by level. The positions of a node are sorted by their next character, and groups
//! that are too rare are dropped, so memory is proportional to the frequent substrings. All substrings that
//! start at a position are ancestors of the position's longest node. So counting the substrings that start at
//! n positions takes n additions and one pass over the nodes.

use std::ops::Range;

use piecework_kernels::prefetch::prefetch_read;

use crate::alphabet::Alphabet;
use crate::count::Counts;
use crate::memory::{check_available, reserve};
use crate::progress::Progress;
use crate::wordpiece::WordPieceTrainSpec;
use piecework_core::error::{Error, ErrorKind};

/// The root of the substrings that begin a word.
pub(super) const WORD_START: u32 = 0;
/// The root of the substrings inside words.
pub(super) const CONTINUATION: u32 = 1;
/// Follows each word. Characters are numbered so that the lower 16 bits of no other number are 0.
const END: u32 = 0;
/// The characters that differ in their lower 16 bits.
const LOW: u32 = u16::MAX as u32;
/// Positions in a block; the number of words before each block is stored.
const BLOCK: usize = 32;
/// Positions whose words are found together.
const RUN: usize = 64;

/// The characters of the words that consist of characters of the alphabet, two bytes each.
pub(super) struct CorpusText {
    /// The characters of the alphabet, ascending.
    alphabet: Vec<char>,
    /// By position: the lower 16 bits of the number of the character.
    low: Vec<u16>,
    /// By position: the higher bits; empty if the alphabet has less than 2^16 characters.
    high: Vec<u8>,
    /// By word.
    counts: Vec<u64>,
    /// By block: the words that end before it.
    words_before: Vec<u32>,
    /// The words that begin like a continuation entry, ascending, and the length of that entry.
    long_starts: Vec<(u32, u32)>,
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
    /// Lay out the words, of `chars` characters in all; fails for 2^32 characters or more.
    pub(super) fn new(
        counts: &Counts,
        chars: usize,
        alphabet: &Alphabet,
        spec: &WordPieceTrainSpec,
        progress: &mut Progress<'_>,
    ) -> Result<Self, Error> {
        let mut text = Self::empty(alphabet, &spec.continuing_subword_prefix);
        let length = chars.saturating_add(counts.len());
        if length >= u32::MAX as usize {
            let found = "2^32 or more characters in distinct words";
            return Err(Error::new(ErrorKind::Training, "counts", found, "fewer"));
        }
        reserve(&mut text.low, length)?;
        let wide = if text.is_wide() { length } else { 0 };
        reserve(&mut text.high, wide)?;
        reserve(&mut text.counts, counts.len())?;
        reserve(&mut text.words_before, length.div_ceil(BLOCK))?;
        for (word, count) in counts.iter() {
            progress.advance(word.len())?;
            if alphabet.contains_all(word) {
                let number = text.counts.len() as u32;
                if let Some(start) = continuation_like_start(alphabet, word, spec) {
                    text.long_starts.push((number, start));
                }
                for character in word.chars() {
                    let symbol = text.symbol_of(character).unwrap_or(END);
                    text.push(symbol);
                }
                text.push(END);
                text.counts.push(count);
            }
        }
        Ok(text)
    }

    fn empty(alphabet: &Alphabet, prefix: &str) -> Self {
        let mut characters: Vec<char> = alphabet.select(|_| true).collect();
        characters.sort_unstable();
        Self {
            alphabet: characters,
            low: Vec::new(),
            high: Vec::new(),
            counts: Vec::new(),
            words_before: Vec::new(),
            long_starts: Vec::new(),
            inside: if prefix.is_empty() { WORD_START } else { CONTINUATION },
        }
    }

    fn push(&mut self, symbol: u32) {
        if self.low.len().is_multiple_of(BLOCK) {
            self.words_before.push(self.counts.len() as u32);
        }
        self.low.push(symbol as u16);
        if self.is_wide() {
            self.high.push((symbol >> 16) as u8);
        }
    }

    fn is_wide(&self) -> bool {
        self.alphabet.len() > usize::from(u16::MAX)
    }

    fn symbol_of(&self, character: char) -> Option<u32> {
        let index = self.alphabet.binary_search(&character).ok()? as u32;
        Some((index / LOW) << 16 | (index % LOW + 1))
    }

    /// Return the character of a number.
    fn character_of(&self, symbol: u32) -> char {
        self.alphabet[self.rank_of(symbol)]
    }

    /// Return the index in the alphabet of the character of a number.
    fn rank_of(&self, symbol: u32) -> usize {
        ((symbol >> 16) * LOW + (symbol & LOW) - 1) as usize
    }

    /// Return the number of the character at a position, or `END`.
    #[inline]
    fn symbol(&self, position: usize) -> u32 {
        let high = self.high.get(position).map_or(0, |&high| u32::from(high) << 16);
        high | u32::from(self.low[position])
    }

    /// Return the number of positions.
    pub(super) fn len(&self) -> usize {
        self.low.len()
    }

    /// Return the number of blocks of positions.
    pub(super) fn blocks(&self) -> usize {
        self.words_before.len()
    }

    /// Iterate over all words.
    fn words(&self) -> impl Iterator<Item = TextWord> + '_ {
        self.words_ending_in(0..self.blocks())
    }

    /// Return the words whose end is in a range of blocks.
    pub(super) fn words_ending_in(&self, blocks: Range<usize>) -> impl Iterator<Item = TextWord> + '_ {
        let first = self.words_before.get(blocks.start).map_or(0, |&word| word as usize);
        let past = self.words_before.get(blocks.end).map_or(self.counts.len(), |&word| word as usize);
        // Within a long word, blocks have no end of a word: its start is not searched from each of them.
        let before = &self.low[..self.low.len().min(blocks.start * BLOCK)];
        let last_end = (first < past).then(|| before.iter().rposition(|&low| low == 0)).flatten();
        let mut start = last_end.map_or(0, |end| end + 1);
        let long_starts = &self.long_starts[..];
        let skipped = long_starts.partition_point(|&(number, _)| (number as usize) < first);
        let mut long_starts = long_starts[skipped..].iter().peekable();
        (first as u32..).zip(&self.counts[first..past]).map(move |(word, &count)| {
            let end = start + self.low[start..].iter().take_while(|&&low| low != 0).count();
            let long_start = long_starts.next_if(|&&(number, _)| number == word);
            let min_first_token = long_start.map_or(1, |&(_, length)| length);
            let found = TextWord { start: start as u32, end: end as u32, count, min_first_token };
            start = end + 1;
            found
        })
    }

    /// Return the largest count of any substring, which is that of a single character.
    pub(super) fn largest_count(&self, progress: &mut Progress<'_>) -> Result<u64, Error> {
        let characters = self.characters(progress)?;
        Ok(characters.iter().flatten().map(|character| character.count).max().unwrap_or(0))
    }

    /// Count the characters, by root and number.
    fn characters(&self, progress: &mut Progress<'_>) -> Result<[Vec<TrieCharCount>; 2], Error> {
        let mut characters = [0, 1].map(|_| vec![TrieCharCount::default(); self.alphabet.len()]);
        for word in self.words() {
            progress.advance((word.end - word.start) as usize)?;
            for position in word.start..word.end {
                let root = if position == word.start { WORD_START } else { self.inside };
                let found = &mut characters[root as usize][self.rank_of(self.symbol(position as usize))];
                found.count += word.count;
                found.positions += 1;
                found.last = position;
            }
        }
        Ok(characters)
    }

    /// Return the sum of the counts of the words at the positions of a run.
    ///
    /// The words of many positions are found before the first count is read, so that memory is waited for once.
    fn count_of(&self, run: &[(u32, u32)]) -> u64 {
        let mut words = [0; RUN];
        let mut rest = run.chunks(RUN).peekable();
        let mut count = 0;
        while let Some(chunk) = rest.next() {
            for &(_, position) in rest.peek().copied().unwrap_or_default() {
                prefetch_read(&self.low[position as usize]);
                prefetch_read(&self.words_before[position as usize / BLOCK]);
            }
            let words = &mut words[..chunk.len()];
            for (word, &(_, position)) in words.iter_mut().zip(chunk) {
                *word = self.word_at(position);
                prefetch_read(&self.counts[*word]);
            }
            count += words.iter().map(|&word| self.counts[word]).sum::<u64>();
        }
        count
    }

    /// Return the number of the word at a position.
    fn word_at(&self, position: u32) -> usize {
        let position = position as usize;
        let block = position / BLOCK;
        let (start, within) = (block * BLOCK, position % BLOCK);
        let cells = &self.low[start..self.low.len().min(start + BLOCK)];
        // All cells of the block are compared, which takes a few vector instructions.
        let ends =
            cells.iter().enumerate().map(|(at, &low)| u16::from(low == 0 && at < within)).sum::<u16>();
        self.words_before[block] as usize + usize::from(ends)
    }
}

/// Return the length in characters of the continuation entry that a word begins with, if it begins with one.
///
/// Only words that begin with the prefix itself, such as `##a`, do.
fn continuation_like_start(alphabet: &Alphabet, word: &str, spec: &WordPieceTrainSpec) -> Option<u32> {
    let prefix = spec.continuing_subword_prefix.as_str();
    let next = word.strip_prefix(prefix)?.chars().next()?;
    let usage = alphabet.get(next)?;
    usage.has_inner_entry(spec.alphabet_forms).then(|| prefix.chars().count() as u32 + 1)
}

/// The count of a character, and its positions.
#[derive(Clone, Copy, Default)]
struct TrieCharCount {
    count: u64,
    positions: usize,
    last: u32,
}

/// A node, and the end of its positions in a list of positions; those of a node follow those of the node before.
type NodePositions = (u32, usize);

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
            longest_node: Vec::new(),
        };
        reserve(&mut trie.longest_node, text.len())?;
        trie.longest_node.resize(text.len(), text.inside);
        let (mut positions, mut groups) = trie.add_characters(text, progress)?;
        for depth in 2..=max_chars {
            if groups.is_empty() {
                break;
            }
            groups = trie.add_level(text, depth, &mut positions, &groups, progress)?;
        }
        Ok(trie)
    }

    /// Add the nodes of the first level; return their positions.
    fn add_characters(
        &mut self,
        text: &CorpusText,
        progress: &mut Progress<'_>,
    ) -> Result<(Vec<u32>, Vec<NodePositions>), Error> {
        let characters = text.characters(progress)?;
        let mut groups = Vec::new();
        // By root and character: the node and where its next position is stored.
        let mut next = [0, 1].map(|_| vec![None; text.alphabet.len()]);
        let mut length = 0;
        for root in [WORD_START, CONTINUATION] {
            let first_child = self.parent.len() as u32;
            for (rank, found) in characters[root as usize].iter().enumerate() {
                if found.positions > 0 && found.count >= self.min_count {
                    let node = self.add(root, found.count, found.last);
                    next[root as usize][rank] = Some((node, length));
                    length += found.positions;
                    groups.push((node, length));
                }
            }
            self.children[root as usize] = (first_child, self.parent.len() as u32);
        }
        let mut positions = Vec::new();
        reserve(&mut positions, length)?;
        positions.resize(length, 0);
        for word in text.words() {
            progress.advance((word.end - word.start) as usize)?;
            self.longest_node[word.start as usize] = WORD_START;
            for position in word.start..word.end {
                let root = if position == word.start { WORD_START } else { text.inside };
                let rank = text.rank_of(text.symbol(position as usize));
                if let Some((node, at)) = &mut next[root as usize][rank] {
                    self.longest_node[position as usize] = *node;
                    positions[*at] = position;
                    *at += 1;
                }
            }
        }
        Ok((positions, groups))
    }

    /// Add the nodes of the next level; replaces the positions by theirs.
    fn add_level(
        &mut self,
        text: &CorpusText,
        depth: usize,
        positions: &mut Vec<u32>,
        groups: &[NodePositions],
        progress: &mut Progress<'_>,
    ) -> Result<Vec<NodePositions>, Error> {
        check_available(4 * text.len())?;
        let mut next_groups = Vec::new();
        let mut order: Vec<(u32, u32)> = Vec::new();
        let (mut start, mut kept) = (0, 0);
        for &(node, end) in groups {
            progress.advance(end - start)?;
            let ahead = |&position: &u32| (text.symbol(position as usize + depth - 1), position);
            order.clear();
            order.extend(positions[start..end].iter().map(ahead).filter(|&(next, _)| next != END));
            order.sort_unstable_by_key(|&(next, _)| next);
            let first_child = self.parent.len() as u32;
            for run in order.chunk_by(|one, two| one.0 == two.0) {
                let count = text.count_of(run);
                if count >= self.min_count {
                    let child = self.add(node, count, run[0].1);
                    // `kept` never exceeds the start of the group, whose positions are copied in `order`.
                    for &(_, position) in run {
                        self.longest_node[position as usize] = child;
                        positions[kept] = position;
                        kept += 1;
                    }
                    next_groups.push((child, kept));
                }
            }
            self.children[node as usize] = (first_child, self.parent.len() as u32);
            start = end;
        }
        positions.truncate(kept);
        Ok(next_groups)
    }

    fn add(&mut self, parent: u32, count: u64, position: u32) -> u32 {
        let node = self.parent.len() as u32;
        self.parent.push(parent);
        self.depth.push(self.depth[parent as usize] + 1);
        self.count.push(count);
        self.position.push(position);
        self.children.push((0, 0));
        node
    }

    pub(super) fn len(&self) -> usize {
        self.parent.len()
    }

    /// Return the node of the longest substring that starts at a position.
    #[inline]
    pub(super) fn longest_node_at(&self, position: u32) -> u32 {
        self.longest_node[position as usize]
    }

    /// Whether the substring of a node begins a word.
    pub(super) fn begins_word(&self, text: &CorpusText, node: u32) -> bool {
        let position = self.position[node as usize] as usize;
        position == 0 || text.symbol(position - 1) == END
    }

    /// Return the substring of a node, without the continuation prefix.
    pub(super) fn spell(&self, text: &CorpusText, node: u32) -> String {
        let start = self.position[node as usize] as usize;
        let positions = start..start + self.depth[node as usize] as usize;
        positions.map(|position| text.character_of(text.symbol(position))).collect()
    }

    /// Return the node that the characters of `path` lead to from a node.
    pub(super) fn walk(&self, text: &CorpusText, from: u32, path: &str) -> Option<u32> {
        path.chars().try_fold(from, |node, character| self.child(text, node, text.symbol_of(character)?))
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
                if let Some(other) = self.child(text, two, self.last_symbol(text, child)) {
                    visit(child, other);
                    stack.push((child, other));
                }
            }
        }
    }

    fn child(&self, text: &CorpusText, node: u32, symbol: u32) -> Option<u32> {
        let (start, end) = self.children[node as usize];
        let siblings = &self.position[start as usize..end as usize];
        let offset = self.depth[node as usize];
        let index = siblings
            .binary_search_by_key(&symbol, |&position| text.symbol((position + offset) as usize))
            .ok()?;
        Some(start + index as u32)
    }

    fn last_symbol(&self, text: &CorpusText, node: u32) -> u32 {
        text.symbol((self.position[node as usize] + self.depth[node as usize] - 1) as usize)
    }
}
