//! The entries that the vocabulary may contain, and where they match.
//!
//! A candidate's parent is its longest proper prefix that is a candidate too. So all candidates that match at
//! a position are the ancestors of the longest one, which is stored by position. The last ancestor is a single
//! character.

use std::cmp::Reverse;

use super::seeds::Substring;
use super::sorted_starts::SortedStarts;
use super::word_text::WordText;

/// No candidate.
pub(super) const NONE: u32 = u32::MAX;

/// All candidates, sorted by their first start and their length.
pub(super) struct Candidates {
    pub(super) text: WordText,
    pub(super) starts: SortedStarts,
    pub(super) substrings: Vec<Substring>,
    /// By candidate: whether it is never removed.
    pub(super) protected: Vec<bool>,
    /// By candidate: its position in the order of removal among equal losses.
    pub(super) rank: Vec<u32>,
    /// By rank: the candidate.
    pub(super) by_rank: Vec<u32>,
    parent: Vec<u32>,
    /// By position: the longest candidate that begins there.
    longest: Vec<u32>,
}

impl Candidates {
    /// Connect the candidates; the first `protected` of `substrings` are never removed.
    pub(super) fn new(
        text: WordText,
        mut starts: SortedStarts,
        protected: Vec<Substring>,
        seeds: Vec<Substring>,
    ) -> Self {
        let mut all: Vec<(Substring, bool)> = protected.into_iter().map(|entry| (entry, true)).collect();
        all.extend(seeds.into_iter().map(|seed| (seed, false)));
        all.sort_unstable_by_key(|(entry, protected)| (entry.first, entry.chars, Reverse(*protected)));
        all.dedup_by_key(|(entry, _)| (entry.first, entry.chars));
        let (substrings, protected): (Vec<Substring>, Vec<bool>) = all.into_iter().unzip();
        let (parent, longest) = connect(&text, &starts, &substrings);
        starts.common = Vec::new();
        let mut by_rank: Vec<u32> = (0..substrings.len() as u32).collect();
        by_rank.sort_by_key(|&candidate| {
            let entry = &substrings[candidate as usize];
            (entry.count, Reverse(entry.chars), candidate)
        });
        let mut rank = vec![0; substrings.len()];
        for (at, &candidate) in by_rank.iter().enumerate() {
            rank[candidate as usize] = at as u32;
        }
        Self { text, starts, substrings, protected, rank, by_rank, parent, longest }
    }

    pub(super) fn len(&self) -> usize {
        self.substrings.len()
    }

    /// The entry of a candidate.
    pub(super) fn name(&self, candidate: u32) -> String {
        name_of(&self.text, &self.starts, &self.substrings[candidate as usize])
    }

    #[inline]
    pub(super) fn parent(&self, candidate: u32) -> u32 {
        self.parent[candidate as usize]
    }

    #[inline]
    pub(super) fn longest_at(&self, position: u32) -> u32 {
        self.longest[position as usize]
    }

    #[inline]
    pub(super) fn chars(&self, candidate: u32) -> u32 {
        self.substrings[candidate as usize].chars
    }

    /// The positions where a candidate begins.
    pub(super) fn positions_of(&self, candidate: u32) -> &[u32] {
        let entry = &self.substrings[candidate as usize];
        &self.starts.positions[entry.first as usize..entry.end as usize]
    }
}

/// The entry of a substring: with the prefix inside words.
pub(super) fn name_of(text: &WordText, starts: &SortedStarts, substring: &Substring) -> String {
    let body = text.spell(starts.positions[substring.first as usize], substring.chars);
    if starts.is_initial(substring.first) {
        body
    } else {
        format!("{}{body}", text.prefix)
    }
}

/// Return the parent of each candidate, and the longest candidate at each position.
fn connect(text: &WordText, starts: &SortedStarts, substrings: &[Substring]) -> (Vec<u32>, Vec<u32>) {
    let mut parent = vec![NONE; substrings.len()];
    let mut longest = vec![NONE; text.codes.len()];
    let mut open: Vec<u32> = Vec::new();
    let mut next = 0;
    for (index, &position) in starts.positions.iter().enumerate() {
        let common = u32::from(starts.common[index]);
        while open.last().is_some_and(|&top| substrings[top as usize].chars > common) {
            open.pop();
        }
        while substrings.get(next).is_some_and(|substring| substring.first as usize == index) {
            parent[next] = open.last().copied().unwrap_or(NONE);
            open.push(next as u32);
            next += 1;
        }
        longest[position as usize] = open.last().copied().unwrap_or(NONE);
    }
    (parent, longest)
}
