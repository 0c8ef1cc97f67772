//! BPE: merged pieces, the most frequent pair first; after a transition they may cross spaces.
//!
//! The first pieces are merged within single words. Then the model so far segments the sequences of words as it will
//! segment texts, and merging continues. No piece crosses the end of a sequence, so a text has the tokens of its
//! sequences.
//!
//! Sources: the BPE trainer of sentencepiece 0.2.3; Liu et al. 2025, "SuperBPE: Space Travel for Language Models",
//! section 2.

use foldhash::HashMap;

use super::input::TrainingInput;
use super::spec::{SentencePieceTrainSpec, SuperwordPieces};
use crate::count::Counts;
use crate::entries::Entries;
use crate::learned::check_counts;
use crate::merges::{self, EntryLimits, MergeSettings, PackedWords, PairScore, SegmentedParts, Ties};
use crate::piece_rules::UNKNOWN;
use crate::progress::Progress;
use crate::resume::EarlierMerges;
use crate::thread_team::ThreadTeam;
use crate::{Learned, Merge, PieceRules, Step, StepLog};
use piecework_core::error::{Error, ErrorKind};
use piecework_core::model::{Model, ModelScratch};
use piecework_core::spec::{ModelSpec, PieceType, ScoredPiece, SentencePieceKind, SentencePieceSpec};
use piecework_core::table_sections::TableSections;
use piecework_core::vocab::Vocab;

/// The bytes of a token at the transition, at least: what is reserved for the tokens of sequences.
const BYTES_PER_TOKEN: usize = 2;

/// Return the merged pieces in order of creation, then the characters.
pub(super) fn learn(
    input: &TrainingInput<'_>,
    spec: &SentencePieceTrainSpec,
    sequences: Option<&Counts>,
    earlier: &[Merge],
    num_threads: usize,
    progress: &mut Progress<'_>,
) -> Result<Vec<String>, Error> {
    let learned = match (sequences, &spec.superwords) {
        (Some(sequences), Some(superwords)) if superwords.crosses_spaces(spec.vocab_size) => {
            with_superwords(input, sequences, spec, superwords, earlier, num_threads, progress)?
        }
        _ => of_words(input, spec, spec.learned(), earlier.into(), num_threads, progress)?,
    };
    let mut pieces = learned.vocab;
    pieces.rotate_left(input.alphabet.ranked().len());
    if let Some(log) = progress.steps() {
        log_pieces(log, spec.symbols.len(), input);
    }
    Ok(pieces)
}

/// Report the characters, and how many of the final pieces there are after each merge: characters are the last ones.
fn log_pieces(log: &StepLog, symbols: usize, input: &TrainingInput<'_>) {
    let characters: Vec<String> = input.alphabet.ranked().iter().map(|(c, _)| c.to_string()).collect();
    log.set_alphabet(&characters);
    for step in &mut log.trace().steps {
        if let Step::Merge(merge) = step {
            merge.vocab_size = merge.vocab_size + symbols - characters.len();
        }
    }
}

/// Learn pieces of single words up to the transition, then pieces that may cross spaces.
fn with_superwords(
    input: &TrainingInput<'_>,
    sequences: &Counts,
    spec: &SentencePieceTrainSpec,
    superwords: &SuperwordPieces,
    earlier: &[Merge],
    num_threads: usize,
    progress: &mut Progress<'_>,
) -> Result<Learned, Error> {
    let (symbols, characters) = (spec.symbols.len(), input.alphabet.ranked().len());
    let mut transition = superwords.transition;
    if !superwords.is_exact {
        transition = transition.min(symbols + spec.learned()).max(symbols + characters);
    }
    if transition < symbols + characters {
        let expected = format!(
            "at least {} ({symbols} symbols and an alphabet of {characters})",
            symbols + characters
        );
        return Err(wrong_transition(transition, expected));
    }
    let stage = EarlierMerges::of_stage(earlier, transition - symbols, !superwords.is_exact);
    let first = of_words(input, spec, transition - symbols, stage, num_threads, progress)?;
    let most = symbols + first.vocab.len();
    if superwords.is_exact && most < transition {
        return Err(wrong_transition(
            transition,
            format!("at most {most}, the pieces that the words yield"),
        ));
    }
    let later = EarlierMerges::after(earlier, &first.merges)?;
    let words = segmented_by(input, sequences, &first, num_threads, progress)?;
    let (settings, limits) = rules(spec.learned(), &superwords.piece_rules, num_threads);
    merges::learn(words, Entries::of("", &first.vocab), settings, limits, None, later, progress)
}

/// Learn `size` pieces of single words, characters included.
fn of_words(
    input: &TrainingInput<'_>,
    spec: &SentencePieceTrainSpec,
    size: usize,
    earlier: EarlierMerges<'_>,
    num_threads: usize,
    progress: &mut Progress<'_>,
) -> Result<Learned, Error> {
    let ranked = input.alphabet.ranked();
    let entries = Entries::of("", ranked.iter().map(|(character, _)| character.to_string()));
    let ids: HashMap<char, u32> =
        ranked.iter().zip(0..).map(|(&(character, _), id)| (character, id)).collect();
    let chars = input.counts.iter().map(|(word, _)| word.chars().count()).sum();
    let segment = |(): &mut (), part: &str, parts: &mut SegmentedParts| {
        parts.push(part.chars().map(|c| ids[&c]));
        Ok(())
    };
    let mut team = ThreadTeam::new(num_threads, progress);
    let words = segmented(input, input.counts, chars, || (), segment, &mut team)?;
    let earlier = if entries.len() < size { earlier } else { EarlierMerges::default() };
    let (settings, limits) = rules(size, &spec.piece_rules, num_threads);
    merges::learn(words, entries, settings, limits, None, earlier, progress)
}

/// Segment the sequences with the model of the first pieces.
fn segmented_by(
    input: &TrainingInput<'_>,
    sequences: &Counts,
    first: &Learned,
    num_threads: usize,
    progress: &mut Progress<'_>,
) -> Result<PackedWords, Error> {
    let chars = check_counts(sequences, progress)?;
    let (model, vocab) = model_of(first)?;
    let state = || (ModelScratch::default(), Vec::new());
    let segment =
        |(scratch, ids): &mut (ModelScratch, Vec<u32>), part: &str, parts: &mut SegmentedParts| {
            ids.clear();
            model.run(part, &vocab, scratch, ids);
            parts.push(ids.iter().copied());
            scratch.check()
        };
    let mut team = ThreadTeam::new(num_threads, progress);
    segmented(input, sequences, chars / BYTES_PER_TOKEN, state, segment, &mut team)
}

/// Segment the texts between symbols and unknown characters, each as a word of its own.
fn segmented<S: Send>(
    input: &TrainingInput<'_>,
    counts: &Counts,
    cells: usize,
    state: impl Fn() -> S + Sync,
    segment: impl Fn(&mut S, &str, &mut SegmentedParts) -> Result<(), Error> + Sync,
    team: &mut ThreadTeam<'_, '_>,
) -> Result<PackedWords, Error> {
    let segment_word = |state: &mut S, word: &str, parts: &mut SegmentedParts| {
        let mut outcome = Ok(());
        input.splitter.known_parts(
            word,
            |c| input.alphabet.contains(c),
            |part| {
                if outcome.is_ok() {
                    outcome = segment(state, part, parts);
                }
            },
        );
        outcome
    };
    PackedWords::segmented(counts, cells, state, segment_word, team)
}

fn rules(vocab_size: usize, piece_rules: &PieceRules, num_threads: usize) -> (MergeSettings, EntryLimits) {
    let settings = MergeSettings {
        vocab_size,
        score: PairScore::Frequency,
        ties: Ties::ShortestEntries,
        min_frequency: 1,
        max_token_length: Some(piece_rules.max_chars),
        num_threads,
    };
    let limits =
        EntryLimits { piece_rules: Some(piece_rules.clone()), distinct: true, ..EntryLimits::default() };
    (settings, limits)
}

/// Return the score of a piece: its negated rank.
pub(super) fn score_of(rank: usize) -> f32 {
    -(rank as f32)
}

/// Return the model of pieces with their ids; the unknown piece, which no known character yields, is the last.
fn model_of(learned: &Learned) -> Result<(Model, Vocab), Error> {
    let normal = |(rank, text): (usize, &String)| {
        let (text, score) = (text.clone(), score_of(rank));
        ScoredPiece { text, score, kind: PieceType::Normal }
    };
    let mut pieces: Vec<ScoredPiece> = learned.vocab.iter().enumerate().map(normal).collect();
    pieces.push(ScoredPiece { text: UNKNOWN.into(), score: 0.0, kind: PieceType::Unknown });
    let kind = SentencePieceKind::Bpe;
    let spec = ModelSpec::SentencePiece(SentencePieceSpec { kind, pieces, ..SentencePieceSpec::default() });
    let vocab = Vocab::of_model(&spec)?;
    Ok((Model::compile(&spec, &vocab, &TableSections::default())?, vocab))
}

fn wrong_transition(transition: usize, expected: String) -> Error {
    Error::new(ErrorKind::Training, "transition", transition.to_string(), expected)
}
