//! Seeds: the characters, and the substrings that are worth being pieces, from a suffix array over the
//! distinct words.
//!
//! A substring is a candidate when it occurs at least twice and is not always followed by one and the same
//! character; the end of a word is no character, so every word that occurs twice is a candidate. Its
//! weight is its count in the corpus times its length. What counts is how often words occur, not how many
//! there are: a sweep over the sorted suffixes closes every candidate with its count (Kasai et al. 2001).
//! Where seeds are given, those that occur take the place of the candidates, with the counts they are given.

use std::cmp::Reverse;
use std::ops::Range;

use rustc_hash::FxHashSet;

use super::piece_set::{PieceLink, PieceSet, NONE};
use super::reserved_entries::ReservedEntries;
use super::segment_text::{SegmentText, END};
use super::UnigramTrainSpec;
use crate::error::Error;
use crate::text::{begins_char, char_count};
use crate::train::progress::Progress;
use crate::train::PieceRules;

/// Rarer substrings are never pieces.
const MIN_COUNT: u64 = 2;

/// A substring that begins the suffixes `first..last` of the sorted ones.
#[derive(Clone, Copy)]
struct SeedCandidate {
    first: u32,
    last: u32,
    bytes: u32,
    chars: u32,
    count: u64,
}

impl SeedCandidate {
    /// The share of the corpus that it covers.
    fn weight(&self) -> u128 {
        u128::from(self.count) * u128::from(self.chars)
    }

    /// Where it stands among all by code points.
    fn position(&self) -> (u32, u32) {
        (self.first, self.bytes)
    }
}

/// Find the characters and the best candidates, `seed_size` in all, or those that are given instead;
/// scored by weight.
pub(super) fn initial_pieces(
    corpus: &SegmentText,
    reserved: &ReservedEntries,
    spec: &UnigramTrainSpec,
    progress: &mut Progress<'_>,
) -> Result<PieceSet, Error> {
    let suffixes = SortedSuffixes::new(corpus, spec);
    progress.advance(corpus.text.len())?;
    let mut chosen = suffixes.characters(reserved);
    let room = spec.seed_size.saturating_sub(chosen.len());
    chosen.append(&mut match &spec.seeds {
        Some(given) => suffixes.given(given, room, reserved, progress)?,
        None => best(suffixes.frequent(reserved, progress)?, room),
    });
    chosen.sort_unstable_by_key(SeedCandidate::position);
    Ok(suffixes.pieces(&chosen))
}

/// The candidates of most weight.
fn best(mut candidates: Vec<SeedCandidate>, room: usize) -> Vec<SeedCandidate> {
    if room < candidates.len() {
        if room > 0 {
            let rank = |candidate: &SeedCandidate| (Reverse(candidate.weight()), candidate.position());
            candidates.select_nth_unstable_by_key(room - 1, rank);
        }
        candidates.truncate(room);
    }
    candidates
}

/// The suffixes of all segments in order.
struct SortedSuffixes<'c> {
    corpus: &'c SegmentText,
    /// Where each begins.
    order: Vec<u32>,
    /// The segment of each place of the text.
    segment_of: Vec<u32>,
    /// How many characters of a suffix matter: one more than the longest piece has.
    max_chars: usize,
    piece_rules: Option<&'c PieceRules>,
}

/// A substring whose occurrences are being counted.
struct OpenSubstring {
    bytes: usize,
    first: usize,
    count: u64,
}

impl<'c> SortedSuffixes<'c> {
    fn new(corpus: &'c SegmentText, spec: &'c UnigramTrainSpec) -> Self {
        let mut sorted = vec![0; corpus.text.len()];
        divsufsort::sort_in_place(&corpus.text, &mut sorted);
        let begins = |&position: &u32| !matches!(corpus.text[position as usize], END | 0x80..0xC0);
        let order = sorted.into_iter().map(|position| position as u32).filter(begins).collect();
        let mut segment_of = vec![0; corpus.text.len()];
        for (number, segment) in (0..).zip(&corpus.segments) {
            segment_of[segment.range()].fill(number);
        }
        let max_chars = spec.max_piece_length + 1;
        Self { corpus, order, segment_of, max_chars, piece_rules: spec.piece_rules.as_ref() }
    }

    /// All substrings of two characters and more that are candidates.
    fn frequent(
        &self,
        reserved: &ReservedEntries,
        progress: &mut Progress<'_>,
    ) -> Result<Vec<SeedCandidate>, Error> {
        let mut candidates = Vec::new();
        self.sweep(progress, |candidate| {
            if candidate.chars > 1 && !reserved.contains(self.name(&candidate)) {
                candidates.push(candidate);
            }
        })?;
        Ok(candidates)
    }

    /// The first of given substrings that may be pieces and occur, with the counts that they are given.
    fn given(
        &self,
        given: &[(String, u64)],
        room: usize,
        reserved: &ReservedEntries,
        progress: &mut Progress<'_>,
    ) -> Result<Vec<SeedCandidate>, Error> {
        let mut counts_by_char = FxHashSet::default();
        let mut candidates = Vec::new();
        for (piece, count) in given {
            progress.advance(1)?;
            if candidates.len() == room {
                break;
            }
            let chars = piece.chars().count();
            let may_be =
                (2..self.max_chars).contains(&chars) && self.piece_rules.is_none_or(|s| s.allows(piece));
            if may_be && !reserved.contains(piece.as_bytes()) && counts_by_char.insert(piece) {
                let suffixes = self.beginning_with(piece.as_bytes());
                candidates.extend(suffixes.map(|found| candidate(found, piece.len(), chars, *count)));
            }
        }
        Ok(candidates)
    }

    /// The suffixes that begin with a text, if there are any.
    fn beginning_with(&self, text: &[u8]) -> Option<Range<usize>> {
        let head = |&position: &u32| {
            let rest = &self.corpus.text[position as usize..];
            &rest[..text.len().min(rest.len())]
        };
        let first = self.order.partition_point(|position| head(position) < text);
        let count = self.order[first..].partition_point(|position| head(position) == text);
        (count > 0).then(|| first..first + count)
    }

    /// Give all candidates with their counts, each when its last suffix has passed.
    fn sweep(&self, progress: &mut Progress<'_>, mut emit: impl FnMut(SeedCandidate)) -> Result<(), Error> {
        let mut open = vec![OpenSubstring { bytes: 0, first: 0, count: 0 }];
        let mut before: &[u8] = &[];
        for (at, &position) in self.order.iter().enumerate() {
            progress.advance(1)?;
            let suffix = self.suffix(position as usize);
            self.close(&mut open, at, shared(before, suffix), &mut emit);
            add(&mut open, suffix.len(), at, self.count_at(position as usize));
            before = suffix;
        }
        self.close(&mut open, self.order.len(), 0, &mut emit);
        Ok(())
    }

    /// Close all that is longer than what the next suffix shares with the last.
    fn close(
        &self,
        open: &mut Vec<OpenSubstring>,
        at: usize,
        shared: usize,
        emit: &mut impl FnMut(SeedCandidate),
    ) {
        let (mut count, mut first) = (0, at);
        while open.last().is_some_and(|top| top.bytes > shared) {
            let Some(done) = open.pop() else { break };
            count += done.count;
            first = done.first;
            let below = open.last().map_or(0, |next| next.bytes).max(shared);
            let bytes = &self.corpus.text[self.order[first] as usize..][..done.bytes];
            if let Some(bytes) = self.allowed(bytes, below).filter(|_| count >= MIN_COUNT) {
                emit(candidate(first..at, bytes.len(), char_count(bytes) as usize, count));
            }
        }
        if count > 0 {
            add(open, shared, first, count);
        }
    }

    /// What of a substring may be a piece: all, or its longest beginning of an allowed shape that has more
    /// than `below` bytes and so occurs as often.
    fn allowed<'t>(&self, bytes: &'t [u8], below: usize) -> Option<&'t [u8]> {
        if char_count(bytes) as usize >= self.max_chars {
            return None;
        }
        let Some(piece_rules) = self.piece_rules else { return Some(bytes) };
        let longest = std::str::from_utf8(bytes).ok().and_then(|text| piece_rules.longest(text));
        longest.filter(|&len| len > below).map(|len| &bytes[..len])
    }

    /// The single characters.
    fn characters(&self, reserved: &ReservedEntries) -> Vec<SeedCandidate> {
        let width = |&position: &u32| shortest(&self.corpus.text[position as usize..]);
        let same = |one: &u32, two: &u32| width(one) == width(two);
        let mut characters = Vec::new();
        let mut first = 0;
        for run in self.order.chunk_by(same) {
            let count = run.iter().map(|&position| self.count_at(position as usize)).sum();
            let character = candidate(first..first + run.len(), width(&run[0]).len(), 1, count);
            if !reserved.contains(self.name(&character)) {
                characters.push(character);
            }
            first += run.len();
        }
        characters
    }

    /// Lay out chosen candidates, which are in order of code points.
    fn pieces(&self, chosen: &[SeedCandidate]) -> PieceSet {
        let total: u128 = chosen.iter().map(SeedCandidate::weight).sum();
        let log_total = (total as f64).ln();
        let mut pieces = PieceSet {
            links: Vec::with_capacity(chosen.len()),
            positions: Vec::with_capacity(chosen.len()),
            longest: vec![NONE; self.corpus.text.len()],
            max_bytes: chosen.iter().map(|candidate| candidate.bytes as usize).max().unwrap_or(0),
        };
        let mut around: Vec<(u32, u32)> = Vec::new();
        for (at, &position) in (0..).zip(&self.order) {
            while around.last().is_some_and(|&(last, _)| last <= at) {
                around.pop();
            }
            while let Some(next) = chosen.get(pieces.len()).filter(|next| next.first == at) {
                let number = pieces.len() as u32;
                let shorter = around.last().map_or(NONE, |&(_, piece)| piece);
                let value = (next.weight() as f64).ln() - log_total;
                pieces.links.push(PieceLink { value, shorter, bytes: next.bytes });
                pieces.positions.push(position);
                around.push((next.last, number));
            }
            pieces.longest[position as usize] = around.last().map_or(NONE, |&(_, piece)| piece);
        }
        pieces
    }

    fn name(&self, candidate: &SeedCandidate) -> &'c [u8] {
        &self.corpus.text[self.order[candidate.first as usize] as usize..][..candidate.bytes as usize]
    }

    fn count_at(&self, position: usize) -> u64 {
        self.corpus.segments[self.segment_of[position] as usize].count
    }

    /// What matters of the suffix that begins at a place.
    fn suffix(&self, position: usize) -> &'c [u8] {
        let end = self.corpus.segments[self.segment_of[position] as usize].range().end;
        let all = &self.corpus.text[position..end];
        let starts = (0..all.len()).filter(|&at| begins_char(all[at]));
        let cut = starts.take(self.max_chars + 1).nth(self.max_chars);
        &all[..cut.unwrap_or(all.len())]
    }
}

fn candidate(suffixes: Range<usize>, bytes: usize, chars: usize, count: u64) -> SeedCandidate {
    SeedCandidate {
        first: suffixes.start as u32,
        last: suffixes.end as u32,
        bytes: bytes as u32,
        chars: chars as u32,
        count,
    }
}

/// Count more occurrences of the substring of this length, which is the longest open one or longer.
fn add(open: &mut Vec<OpenSubstring>, bytes: usize, first: usize, count: u64) {
    match open.last_mut().filter(|top| top.bytes == bytes) {
        Some(top) => top.count += count,
        None => open.push(OpenSubstring { bytes, first, count }),
    }
}

/// How many bytes two texts share at their start, in whole characters.
fn shared(one: &[u8], two: &[u8]) -> usize {
    let same = one.iter().zip(two).take_while(|(a, b)| a == b).count();
    let whole = |&at: &usize| two.get(at).is_none_or(|&byte| begins_char(byte));
    (0..=same).rev().find(whole).unwrap_or(0)
}

/// The first character of a text.
fn shortest(text: &[u8]) -> &[u8] {
    let more = text[1..].iter().take_while(|&byte| byte & 0xC0 == 0x80).count();
    &text[..=more]
}
