//! The entries before the pieces, the possible vocabulary sizes, and the final choice of pieces.

use foldhash::{HashMap, HashSet};

use super::piece_set::PieceSet;
use super::ranked_alphabet::RankedAlphabet;
use super::segment_text::SegmentText;
use super::spec::UnigramTrainSpec;
use piecework_core::error::{Error, ErrorKind};
use piecework_core::text::byte_entry;

/// The difference between the lowest score and the scores of characters without a piece, and between these.
const RARE_CHARACTER_STEP: f64 = 0.0001;

/// The entries that the vocabulary contains in any case.
pub(super) struct ReservedEntries {
    vocab_size: usize,
    /// Special tokens, user-defined symbols, bytes: each once, in this order.
    entries: Vec<String>,
    known: HashSet<String>,
    /// The other characters that must be entries, the most frequent first.
    characters: Vec<String>,
}

/// Reject settings that are out of range.
pub(super) fn check(spec: &UnigramTrainSpec) -> Result<(), Error> {
    let reject = |place: &str, found: String, expected: &str| {
        Err(Error::new(ErrorKind::Argument, place, found, expected))
    };
    let UnigramTrainSpec { character_coverage, shrinking_factor, count_exponent, .. } = *spec;
    if !(character_coverage > 0.0 && character_coverage <= 1.0) {
        return reject("character_coverage", character_coverage.to_string(), "above 0 and at most 1");
    }
    if !(shrinking_factor > 0.0 && shrinking_factor < 1.0) {
        return reject("shrinking_factor", shrinking_factor.to_string(), "above 0 and below 1");
    }
    if !(count_exponent > 0.0 && count_exponent <= 1.0) {
        return reject("count_exponent", count_exponent.to_string(), "above 0 and at most 1");
    }
    if spec.num_sub_iterations == 0 {
        return reject("num_sub_iterations", "0".into(), "at least 1");
    }
    if !(1..=512).contains(&spec.max_piece_length) {
        return reject("max_piece_length", spec.max_piece_length.to_string(), "1 to 512");
    }
    match spec.user_defined_symbols.iter().position(String::is_empty) {
        Some(at) => reject(&format!("user_defined_symbols[{at}]"), "an empty string".into(), "a symbol"),
        None => Ok(()),
    }
}

impl ReservedEntries {
    /// Collect the entries; fails if `vocab_size` cannot hold them and the alphabet.
    pub(super) fn new(spec: &UnigramTrainSpec, alphabet: &RankedAlphabet) -> Result<Self, Error> {
        let bytes = (0..=u8::MAX).filter(|_| spec.byte_fallback).map(byte_entry);
        let named = spec.special_tokens.iter().chain(&spec.user_defined_symbols).cloned();
        let mut known = HashSet::default();
        let entries: Vec<String> = named.chain(bytes).filter(|entry| known.insert(entry.clone())).collect();
        let characters = alphabet.ranked().iter().map(|(character, _)| character.to_string());
        let characters = characters.filter(|character| !known.contains(character)).collect();
        let reserved = Self { vocab_size: spec.vocab_size, entries, known, characters };
        reserved.check_room()?;
        Ok(reserved)
    }

    /// Return whether a string is a reserved entry and so cannot be a piece.
    pub(super) fn contains(&self, name: &str) -> bool {
        self.known.contains(name)
    }

    /// Return the number of entries before the pieces.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Return the number of entries to learn.
    pub(super) fn learned(&self) -> usize {
        self.vocab_size - self.entries.len()
    }

    /// Return the number of entries to learn besides the characters.
    pub(super) fn free(&self) -> usize {
        self.learned() - self.characters.len()
    }

    fn check_room(&self) -> Result<(), Error> {
        let (entries, characters) = (self.entries.len(), self.characters.len());
        let needed = entries + characters;
        if self.vocab_size >= needed {
            return Ok(());
        }
        let expected =
            format!("at least {needed} ({entries} reserved entries and an alphabet of {characters})");
        let found = self.vocab_size.to_string();
        Err(Error::new(ErrorKind::Training, "vocab_size", found, expected).with_limit(needed))
    }

    /// Check that the seeds suffice to fill the vocabulary.
    pub(super) fn check_supply(
        &self,
        corpus: &SegmentText,
        seeds: &PieceSet,
        spec: &UnigramTrainSpec,
    ) -> Result<(), Error> {
        let is_character = |&piece: &usize| seeds.links[piece].chars == 1;
        let seen: HashSet<String> =
            (0..seeds.len()).filter(is_character).map(|piece| seeds.name(corpus, piece)).collect();
        let unseen = self.characters.iter().filter(|&character| !seen.contains(character)).count();
        let most = self.entries.len() + seeds.len() + unseen;
        if self.vocab_size <= most {
            return Ok(());
        }
        let why = match spec.seeds {
            Some(_) => "no more of the seeds occur",
            None => "the corpus has no more substrings that occur twice",
        };
        let expected = format!("at most {most}");
        let found = self.vocab_size.to_string();
        Err(Error::new(ErrorKind::Training, "vocab_size", found, expected).with_limit(most).with_hint(why))
    }

    /// Choose the characters and the best pieces; return all entries in id order.
    ///
    /// Reserved entries come first, then the chosen pieces by (score descending, code points).
    pub(super) fn choose(&self, corpus: &SegmentText, pieces: &PieceSet) -> Vec<(String, f64)> {
        let mut scores: HashMap<String, f64> = pieces.named(corpus).into_iter().collect();
        let mut lowest = pieces.min_score();
        let mut chosen: Vec<(String, f64)> = Vec::with_capacity(self.learned());
        for character in &self.characters {
            let score = scores.remove(character).unwrap_or_else(|| {
                lowest -= RARE_CHARACTER_STEP;
                lowest
            });
            chosen.push((character.clone(), score));
        }
        let others = ranked(scores.into_iter().collect());
        let room = self.learned() - chosen.len();
        chosen.extend(others.into_iter().take(room));
        let reserved = self.entries.iter().map(|entry| (entry.clone(), 0.0));
        reserved.chain(ranked(chosen)).collect()
    }
}

fn ranked(mut entries: Vec<(String, f64)>) -> Vec<(String, f64)> {
    entries.sort_unstable_by(|one, two| two.1.total_cmp(&one.1).then_with(|| one.0.cmp(&two.0)));
    entries
}
