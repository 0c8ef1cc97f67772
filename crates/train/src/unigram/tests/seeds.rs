//! Seeds against the count of all substrings.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use proptest::prelude::*;

use super::super::piece_set::{PieceSet, NONE};
use super::super::ranked_alphabet::RankedAlphabet;
use super::super::reserved_entries::ReservedEntries;
use super::super::segment_text::SegmentText;
use super::super::{seeds, UnigramTrainSpec};
use super::{counts, small, words};
use crate::progress::Progress;
use crate::symbol_splitter::SymbolSplitter;

pub(super) fn seeded(words: &[(String, u64)], spec: &UnigramTrainSpec) -> (SegmentText, PieceSet) {
    let counts = counts(words);
    let mut call = |_, _| ControlFlow::Continue(());
    let mut progress = Progress::start(1, &mut call).expect("nobody stops");
    let splitter = SymbolSplitter::new(&[], "").expect("no symbols");
    let alphabet = RankedAlphabet::choose(&counts, &splitter, spec, &mut progress).expect("nobody stops");
    let corpus = SegmentText::new(&counts, &splitter, &alphabet, spec, 2, &mut progress).expect("small");
    let reserved = ReservedEntries::new(spec, &alphabet).expect("large enough");
    let pieces = seeds::initial_pieces(&corpus, &reserved, spec, 2, &mut progress).expect("nobody stops");
    (corpus, pieces)
}

/// Return all substrings of at most `max_chars` characters, with their counts.
fn substrings(words: &[(String, u64)], max_chars: usize) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for (word, count) in words {
        let chars: Vec<char> = word.chars().collect();
        for start in 0..chars.len() {
            for end in start + 1..=chars.len().min(start + max_chars) {
                *counts.entry(chars[start..end].iter().collect()).or_default() += count;
            }
        }
    }
    counts
}

/// What the definition says: characters, and what occurs twice and not always before the same character.
fn defined(words: &[(String, u64)], max_chars: usize) -> BTreeMap<String, u64> {
    let counts = substrings(words, max_chars + 1);
    let same: BTreeSet<(String, u64)> = counts
        .iter()
        .map(|(longer, &count)| {
            let mut shorter = longer.clone();
            shorter.pop();
            (shorter, count)
        })
        .collect();
    let is_seed = |piece: &String, count: u64| match piece.chars().count() {
        1 => true,
        chars => chars <= max_chars && count >= 2 && !same.contains(&(piece.clone(), count)),
    };
    counts.into_iter().filter(|(piece, count)| is_seed(piece, *count)).collect()
}

proptest! {
    #[test]
    fn seeds_equal_the_substrings_of_the_definition(words in words(), max_chars in 1_usize..8) {
        let spec = UnigramTrainSpec { max_piece_length: max_chars, ..small(1000) };
        let (corpus, pieces) = seeded(&words, &spec);
        let expected = defined(&words, max_chars);
        let names: Vec<String> = (0..pieces.len()).map(|piece| pieces.name(&corpus, piece)).collect();
        prop_assert_eq!(&names, &expected.keys().cloned().collect::<Vec<_>>());
        let weight = |(piece, count): (&String, &u64)| (piece.chars().count() as u64 * count) as f64;
        let total: f64 = expected.iter().map(weight).sum();
        for (link, entry) in pieces.links.iter().zip(&expected) {
            prop_assert_eq!(link.value, weight(entry).ln() - total.ln());
        }
    }

    #[test]
    fn given_seeds_are_pieces_if_they_occur(
        words in words(),
        given in prop::collection::vec(("[a-cé]{1,4}", 1_u64..9), 0..20),
        seed_size in 1_usize..30,
    ) {
        let spec = UnigramTrainSpec { seeds: Some(given.clone()), seed_size, ..small(1000) };
        let (corpus, pieces) = seeded(&words, &spec);
        let counts = substrings(&words, 16);
        let is_character = |piece: &str| piece.chars().count() == 1;
        let mut expected: BTreeMap<String, u64> =
            counts.iter().filter(|(piece, _)| is_character(piece)).map(|(c, &n)| (c.clone(), n)).collect();
        let room = seed_size.saturating_sub(expected.len());
        let mut taken = BTreeSet::new();
        for (piece, count) in &given {
            if taken.len() < room && !is_character(piece) && counts.contains_key(piece) && taken.insert(piece) {
                expected.insert(piece.clone(), *count);
            }
        }
        let weight = |(piece, count): (&String, &u64)| (piece.chars().count() as u64 * count) as f64;
        let total: f64 = expected.iter().map(weight).sum();
        prop_assert_eq!(pieces.len(), expected.len());
        for (piece, entry) in expected.iter().enumerate() {
            prop_assert_eq!(&pieces.name(&corpus, piece), entry.0);
            prop_assert_eq!(pieces.links[piece].value, weight(entry).ln() - total.ln());
        }
    }

    #[test]
    fn links_yield_all_pieces_at_a_position(
        words in words(),
        dropped in prop::collection::vec(any::<bool>(), 200),
    ) {
        let (corpus, mut pieces) = seeded(&words, &small(1000));
        pieces.retain(|piece| !dropped[piece % dropped.len()]);
        let names: Vec<String> = (0..pieces.len()).map(|piece| pieces.name(&corpus, piece)).collect();
        for segment in corpus.segments(0..corpus.len()) {
            for start in segment.range.clone() {
                let rest: String = corpus.index.text.spell(start as u32, (segment.range.end - start) as u32).collect();
                let mut found = Vec::new();
                let mut piece = pieces.longest[start];
                while piece != NONE {
                    found.push(names[piece as usize].as_str());
                    piece = pieces.links[piece as usize].shorter;
                }
                let mut expected: Vec<&str> =
                    names.iter().map(String::as_str).filter(|name| rest.starts_with(name)).collect();
                expected.sort_by_key(|name| std::cmp::Reverse(name.len()));
                prop_assert_eq!(found, expected);
            }
        }
    }
}

#[test]
fn seeds_with_the_largest_weight_are_chosen() {
    let words = [("hug", 10), ("hugs", 5), ("bun", 4)].map(|(word, count)| (word.to_owned(), count));
    let (corpus, pieces) = seeded(&words, &UnigramTrainSpec { seed_size: 7, ..small(9) });
    let names: Vec<_> =
        (0..pieces.len()).map(|piece| pieces.name(&corpus, piece)).filter(|name| name.len() > 1).collect();
    assert_eq!(names, ["hug"]);
}
