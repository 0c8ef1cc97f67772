//! Training of SentencePiece models.

use piecework_catch_panics::catch_panics;
use piecework_core::spec::SentencePieceKind;
use piecework_train::sentencepiece::{resume, SentencePieceResume, SentencePieceTrainSpec};
use piecework_train::unigram::UnigramResume;
use piecework_train::{PieceRules, Resume};
use pyo3::prelude::*;

use crate::counting::RawCounts;
use crate::errors::bad_argument;
use crate::learning::{watched, Pulse};
use crate::learning_checkpoints::{merges_of, round_of, GivenMerges, LearningLog};
use crate::learning_unigram::{GivenRound, LearnedPieces};
use crate::threads::thread_count;

/// Learn the pieces of a SentencePiece model.
#[catch_panics]
#[pyfunction]
#[pyo3(signature = (
    counts, *, model_type, vocab_size, hard_vocab_limit, character_coverage, required_chars,
    max_sentencepiece_length, split_by_unicode_script, split_by_number, split_digits,
    split_by_whitespace, allow_whitespace_only_pieces, treat_whitespace_as_suffix,
    pretokenization_delimiter, seed_sentencepiece_size, shrinking_factor, num_sub_iterations, symbols,
    seeds, num_threads, progress, earlier=None, earlier_merges=None, log=None
))]
#[expect(clippy::too_many_arguments, reason = "the settings of SentencePiece's trainer")]
pub(crate) fn learn_sentencepiece(
    py: Python<'_>,
    counts: &RawCounts,
    model_type: &str,
    vocab_size: Option<usize>,
    hard_vocab_limit: bool,
    character_coverage: f64,
    required_chars: &str,
    max_sentencepiece_length: usize,
    split_by_unicode_script: bool,
    split_by_number: bool,
    split_digits: bool,
    split_by_whitespace: bool,
    allow_whitespace_only_pieces: bool,
    treat_whitespace_as_suffix: bool,
    pretokenization_delimiter: String,
    seed_sentencepiece_size: usize,
    shrinking_factor: f64,
    num_sub_iterations: usize,
    symbols: Vec<String>,
    seeds: Option<Vec<(String, u64)>>,
    num_threads: i64,
    progress: Option<Py<PyAny>>,
    earlier: Option<GivenRound>,
    earlier_merges: Option<GivenMerges<'_>>,
    log: Option<&LearningLog>,
) -> PyResult<LearnedPieces> {
    let spec = SentencePieceTrainSpec {
        kind: kind_named(model_type)?,
        vocab_size,
        hard_vocab_limit,
        symbols,
        character_coverage,
        required_chars: required_chars.chars().collect(),
        piece_rules: PieceRules {
            max_chars: max_sentencepiece_length,
            split_by_unicode_script,
            split_by_number,
            split_digits,
            split_by_whitespace,
            allow_whitespace_only_pieces,
            treat_whitespace_as_suffix,
        },
        pretokenization_delimiter,
        seed_size: seed_sentencepiece_size,
        seeds,
        shrinking_factor,
        num_sub_iterations,
    };
    let num_threads = thread_count(num_threads)?;
    let round = earlier.map(|(pieces, steps)| round_of(pieces, steps));
    let merges = merges_of(earlier_merges)?;
    let state = SentencePieceResume {
        rounds: UnigramResume { earlier: round.as_ref(), log: log.map(|log| &log.rounds) },
        merges: Resume { earlier: &merges, log: log.map(|log| &log.merges), ..Resume::default() },
    };
    let learn = |pulse: Pulse<'_>| resume(&counts.counts, &spec, num_threads, state, pulse);
    let learned = watched(py, progress, learn)?;
    let pieces = learned.pieces.into_iter().map(|(piece, score)| (piece, f64::from(score))).collect();
    Ok(LearnedPieces { pieces, steps: learned.steps })
}

/// Return the model type of a name.
fn kind_named(name: &str) -> PyResult<SentencePieceKind> {
    match name {
        "unigram" => Ok(SentencePieceKind::Unigram),
        "bpe" => Ok(SentencePieceKind::Bpe),
        "word" => Ok(SentencePieceKind::Word),
        "char" => Ok(SentencePieceKind::Char),
        _ => Err(bad_argument("model_type", format!("{name:?}"), "unigram, bpe, word or char")),
    }
}
