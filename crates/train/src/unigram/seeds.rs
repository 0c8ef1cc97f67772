//! The initial pieces: the characters, and the most frequent substrings or given seeds.
//!
//! A substring may be a seed if it occurs at least twice and is not always followed by the same character.
//! The end of a word is not a character, so every word that occurs twice may be one. Occurrences are weighted
//! by word counts.
//!
//! The weight of a substring is its count in the corpus times its length in characters; the `seed_size`
//! substrings of most weight are taken. Given seeds replace the substrings if they occur in the corpus, with
//! the counts that they are given; characters have theirs in the corpus.

use std::ops::Range;

use foldhash::HashSet;

use super::piece_set::{PieceLink, PieceSet};
use super::reserved_entries::ReservedEntries;
use super::segment_text::SegmentText;
use super::spec::UnigramTrainSpec;
use crate::progress::Progress;
use crate::substrings::{connect, keep_heaviest, select, SeedLimits, Substring, SubstringIndex};
use piecework_core::error::Error;

/// The least count of a seed.
pub(super) const MIN_COUNT: u64 = 2;

/// Return the characters and the substrings of most weight, or the given seeds, `seed_size` in all.
pub(super) fn initial_pieces(
    corpus: &SegmentText,
    reserved: &ReservedEntries,
    spec: &UnigramTrainSpec,
    num_threads: usize,
    progress: &mut Progress<'_>,
) -> Result<PieceSet, Error> {
    let index = &corpus.index;
    let number = if spec.seeds.is_some() { 0 } else { spec.seed_size };
    let limits = SeedLimits { number, min_count: if number > 0 { MIN_COUNT } else { u64::MAX } };
    let length = |longest: &Substring, lengths| seed_length(index, reserved, spec, longest, lengths);
    let (mut chosen, mut seeds) = select(index, &limits, length, num_threads, progress)?;
    let name = |substring: &Substring| index.spell(substring).collect::<String>();
    chosen.retain(|character| !reserved.contains(&name(character)));
    if let (Some(given), true) = (&spec.seeds, spec.only_given_characters) {
        let given: HashSet<&str> = given.iter().map(|(piece, _)| piece.as_str()).collect();
        chosen.retain(|character| given.contains(name(character).as_str()));
    }
    let room = spec.seed_size.saturating_sub(chosen.len());
    match &spec.seeds {
        Some(given) => chosen.extend(occurring(given, index, room, reserved, spec, progress)?),
        None => {
            keep_heaviest(&mut seeds, room);
            chosen.append(&mut seeds);
        }
    }
    pieces(index, chosen, Substring::weight, progress)
}

/// Return pieces that are chosen; scores are logarithms of the shares of uses, at least 1 each.
pub(super) fn used_pieces(
    corpus: &SegmentText,
    reserved: &ReservedEntries,
    uses: &[(String, u64)],
    progress: &mut Progress<'_>,
) -> Result<PieceSet, Error> {
    let index = &corpus.index;
    let mut chosen = Vec::with_capacity(uses.len());
    for (piece, uses) in uses.iter().filter(|(piece, _)| !reserved.contains(piece)) {
        progress.advance(1)?;
        let substring = index.text.encode(piece).and_then(|codes| index.find(true, &codes));
        chosen.extend(substring.map(|substring| Substring { count: *uses, ..substring }));
    }
    pieces(index, chosen, |used| u128::from(used.count.max(1)), progress)
}

/// Return the length of the longest prefix that may be a piece, if it is in the range.
fn seed_length(
    index: &SubstringIndex,
    reserved: &ReservedEntries,
    spec: &UnigramTrainSpec,
    longest: &Substring,
    lengths: Range<u32>,
) -> Option<u32> {
    if longest.chars as usize > spec.max_piece_length {
        return None;
    }
    let mut name: String = index.spell(longest).collect();
    if let Some(rules) = &spec.piece_rules {
        name.truncate(rules.longest(&name)?);
    }
    let chars = name.chars().count() as u32;
    (lengths.contains(&chars) && !reserved.contains(&name)).then_some(chars)
}

/// Return the first given substrings that may be pieces and occur, with their given counts.
fn occurring(
    given: &[(String, u64)],
    index: &SubstringIndex,
    room: usize,
    reserved: &ReservedEntries,
    spec: &UnigramTrainSpec,
    progress: &mut Progress<'_>,
) -> Result<Vec<Substring>, Error> {
    let mut seen = HashSet::default();
    let mut found = Vec::new();
    for (piece, count) in given {
        progress.advance(1)?;
        if found.len() == room {
            break;
        }
        let may_be = (2..=spec.max_piece_length).contains(&piece.chars().count())
            && spec.piece_rules.as_ref().is_none_or(|rules| rules.allows(piece));
        if may_be && !reserved.contains(piece) && seen.insert(piece) {
            let substring = index.text.encode(piece).and_then(|codes| index.find(true, &codes));
            found.extend(substring.map(|substring| Substring { count: *count, ..substring }));
        }
    }
    Ok(found)
}

/// Return the pieces of chosen substrings; scores are logarithms of the shares of weight.
fn pieces(
    index: &SubstringIndex,
    mut chosen: Vec<Substring>,
    weight: impl Fn(&Substring) -> u128,
    progress: &mut Progress<'_>,
) -> Result<PieceSet, Error> {
    chosen.sort_unstable_by_key(Substring::order);
    let total: u128 = chosen.iter().map(&weight).sum();
    let log_total = (total as f64).ln();
    let (shorter, longest) = connect(index, &chosen, progress)?;
    let link = |(substring, shorter): (&Substring, u32)| PieceLink {
        value: (weight(substring) as f64).ln() - log_total,
        shorter,
        chars: substring.chars,
    };
    Ok(PieceSet {
        links: chosen.iter().zip(shorter).map(link).collect(),
        positions: chosen.iter().map(|substring| index.positions_of(substring)[0]).collect(),
        longest,
        max_chars: chosen.iter().map(|substring| substring.chars as usize).max().unwrap_or(0),
    })
}
