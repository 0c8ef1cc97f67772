//! The entries that the vocabulary may contain, and where they match.
//!
//! A candidate's parent is its longest proper prefix that is a candidate too. So all candidates that match at
//! a position are the ancestors of the longest one, which is stored by position. The last ancestor is a single
//! character.

use std::cmp::Reverse;
use std::ops::Range;

use piecework_kernels::level::prefetch_read;

use crate::progress::Progress;
use crate::substrings::{connect, Substring, SubstringIndex, NONE};
use piecework_core::error::Error;

/// All candidates, sorted by their first start and their length: a parent comes before its descendants, which
/// are adjacent.
pub(super) struct Candidates {
    pub(super) index: SubstringIndex,
    substrings: Vec<Substring>,
    names: CandidateNames,
    /// By candidate: its length in characters, without the continuation prefix.
    chars: Vec<u8>,
    /// By candidate: whether it is never removed.
    pub(super) protected: Vec<bool>,
    /// By candidate: its position in the order of removal among equal losses.
    pub(super) rank: Vec<u32>,
    /// By rank: the candidate.
    pub(super) by_rank: Vec<u32>,
    parent: Vec<u32>,
    /// By candidate: the number after its last descendant.
    end: Vec<u32>,
    /// By position: the longest candidate that begins there.
    longest: Vec<u32>,
}

impl Candidates {
    /// Connect the candidates: `protected` ones are never removed, `seeds` may be.
    pub(super) fn new(
        mut index: SubstringIndex,
        protected: Vec<Substring>,
        seeds: Vec<Substring>,
        progress: &mut Progress<'_>,
    ) -> Result<Self, Error> {
        let mut all: Vec<(Substring, bool)> = protected.into_iter().map(|entry| (entry, true)).collect();
        all.extend(seeds.into_iter().map(|seed| (seed, false)));
        all.sort_unstable_by_key(|(entry, protected)| (entry.first, entry.chars, Reverse(*protected)));
        all.dedup_by_key(|(entry, _)| (entry.first, entry.chars));
        let (substrings, protected): (Vec<Substring>, Vec<bool>) = all.into_iter().unzip();
        let names = CandidateNames::new(&index, &substrings);
        index.drop_codes();
        progress.check()?;
        let (parent, longest) = connect(&index, &substrings, progress)?;
        index.drop_common();
        let mut by_rank: Vec<u32> = (0..substrings.len() as u32).collect();
        by_rank.sort_by_key(|&candidate| {
            let entry = &substrings[candidate as usize];
            (entry.count, Reverse(entry.chars), candidate)
        });
        let mut rank = vec![0; substrings.len()];
        for (at, &candidate) in by_rank.iter().enumerate() {
            rank[candidate as usize] = at as u32;
        }
        let chars = substrings.iter().map(|entry| entry.chars as u8).collect();
        let end = ends(&parent);
        Ok(Self { index, substrings, names, chars, protected, rank, by_rank, parent, end, longest })
    }

    pub(super) fn len(&self) -> usize {
        self.substrings.len()
    }

    /// Return the entry of a candidate: with the prefix inside words.
    pub(super) fn name(&self, candidate: u32) -> String {
        let body = self.names.get(candidate);
        if self.is_initial(candidate) {
            body.to_owned()
        } else {
            format!("{}{body}", self.index.text.prefix)
        }
    }

    /// Return whether the candidate is an entry at the start of words.
    #[inline]
    pub(super) fn is_initial(&self, candidate: u32) -> bool {
        self.index.is_initial(&self.substrings[candidate as usize])
    }

    /// Return the longest proper prefix that is a candidate, or [`NONE`].
    #[inline]
    pub(super) fn parent(&self, candidate: u32) -> u32 {
        self.parent[candidate as usize]
    }

    /// Return the candidate and its descendants.
    #[inline]
    pub(super) fn descendants(&self, candidate: u32) -> Range<u32> {
        candidate..self.end[candidate as usize]
    }

    /// Return the longest candidate that begins at a position, or [`NONE`].
    #[inline]
    pub(super) fn longest_at(&self, position: u32) -> u32 {
        self.longest[position as usize]
    }

    /// Prefetch what [`Self::longest_at`] reads.
    pub(super) fn prefetch_at(&self, position: u32) {
        prefetch_read(&self.longest[position as usize]);
    }

    #[inline]
    pub(super) fn chars(&self, candidate: u32) -> u32 {
        u32::from(self.chars[candidate as usize])
    }

    /// Return the count of a candidate as a substring.
    pub(super) fn count(&self, candidate: u32) -> u64 {
        self.substrings[candidate as usize].count
    }

    /// Return the positions where a candidate begins.
    pub(super) fn positions_of(&self, candidate: u32) -> &[u32] {
        self.index.positions_of(&self.substrings[candidate as usize])
    }
}

/// The strings of substrings.
struct CandidateNames {
    bodies: String,
    /// By substring: the end in `bodies`.
    ends: Vec<usize>,
}

impl CandidateNames {
    fn new(index: &SubstringIndex, substrings: &[Substring]) -> Self {
        let (mut bodies, mut ends) = (String::new(), Vec::with_capacity(substrings.len()));
        for substring in substrings {
            bodies.extend(index.spell(substring));
            ends.push(bodies.len());
        }
        Self { bodies, ends }
    }

    fn get(&self, candidate: u32) -> &str {
        let start = candidate.checked_sub(1).map_or(0, |last| self.ends[last as usize]);
        &self.bodies[start..self.ends[candidate as usize]]
    }
}

/// Return the number after the last descendant of each candidate.
fn ends(parent: &[u32]) -> Vec<u32> {
    let mut ends: Vec<u32> = (1..=parent.len() as u32).collect();
    for candidate in (0..parent.len()).rev() {
        if parent[candidate] != NONE {
            let above = parent[candidate] as usize;
            ends[above] = ends[above].max(ends[candidate]);
        }
    }
    ends
}
