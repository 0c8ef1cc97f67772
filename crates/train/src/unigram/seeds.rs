//! The initial pieces: the characters, and the most frequent substrings or given seeds.
//!
//! The weight of a substring is its count in the corpus times its length in characters; the `seed_size`
//! substrings of most weight are taken. Given seeds replace the substrings if they occur in the corpus, with
//! the counts that they are given; characters have theirs in the corpus.

use std::cmp::Reverse;

use foldhash::HashSet;

use super::piece_set::{PieceLink, PieceSet, NONE};
use super::reserved_entries::ReservedEntries;
use super::segment_text::SegmentText;
use super::sorted_suffixes::{candidate, SeedCandidate, SortedSuffixes};
use super::spec::UnigramTrainSpec;
use crate::progress::Progress;
use piecework_core::error::Error;

/// Return the characters and the candidates of most weight, or the given seeds, `seed_size` in all; scores
/// are logarithms of the shares of weight.
pub(super) fn initial_pieces(
    corpus: &SegmentText,
    reserved: &ReservedEntries,
    spec: &UnigramTrainSpec,
    progress: &mut Progress<'_>,
) -> Result<PieceSet, Error> {
    let suffixes = SortedSuffixes::new(corpus, spec, progress)?;
    progress.check()?;
    let mut chosen = suffixes.characters(reserved);
    if let (Some(given), true) = (&spec.seeds, spec.only_given_characters) {
        let given: HashSet<&[u8]> = given.iter().map(|(piece, _)| piece.as_bytes()).collect();
        chosen.retain(|character| given.contains(suffixes.name(character)));
    }
    let room = spec.seed_size.saturating_sub(chosen.len());
    chosen.append(&mut match &spec.seeds {
        Some(given) => suffixes.given(given, room, reserved, progress)?,
        None => best(suffixes.frequent(reserved, progress)?, room),
    });
    chosen.sort_unstable_by_key(SeedCandidate::position);
    Ok(suffixes.pieces(&chosen))
}

/// Keep the candidates of most weight.
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

impl<'c> SortedSuffixes<'c> {
    /// All candidates of two characters and more.
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

    /// The first given substrings that may be pieces and occur, with their given counts.
    fn given(
        &self,
        given: &[(String, u64)],
        room: usize,
        reserved: &ReservedEntries,
        progress: &mut Progress<'_>,
    ) -> Result<Vec<SeedCandidate>, Error> {
        let mut seen = HashSet::default();
        let mut candidates = Vec::new();
        for (piece, count) in given {
            progress.advance(1)?;
            if candidates.len() == room {
                break;
            }
            let chars = piece.chars().count();
            let may_be =
                (2..self.max_chars).contains(&chars) && self.piece_rules.is_none_or(|s| s.allows(piece));
            if may_be && !reserved.contains(piece.as_bytes()) && seen.insert(piece) {
                let suffixes = self.beginning_with(piece.as_bytes());
                candidates.extend(suffixes.map(|found| candidate(found, piece.len(), chars, *count)));
            }
        }
        Ok(candidates)
    }

    /// The single characters.
    fn characters(&self, reserved: &ReservedEntries) -> Vec<SeedCandidate> {
        let char_at = |&position: &u32| first_char(&self.corpus.text[position as usize..]);
        let same = |one: &u32, two: &u32| char_at(one) == char_at(two);
        let mut characters = Vec::new();
        let mut first = 0;
        for run in self.order.chunk_by(same) {
            let count = run.iter().map(|&position| self.count_at(position as usize)).sum();
            let character = candidate(first..first + run.len(), char_at(&run[0]).len(), 1, count);
            if !reserved.contains(self.name(&character)) {
                characters.push(character);
            }
            first += run.len();
        }
        characters
    }

    /// The pieces of chosen candidates, which are in order of code points.
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
}

/// The first character of a text.
fn first_char(text: &[u8]) -> &[u8] {
    let more = text[1..].iter().take_while(|&byte| byte & 0xC0 == 0x80).count();
    &text[..=more]
}
