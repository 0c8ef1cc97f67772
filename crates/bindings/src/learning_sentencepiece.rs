//! Learning the pieces of a model of SentencePiece.

use piecework_catch_panics::catch_panics;
use piecework_core::spec::SentencePieceKind;
use piecework_core::train::sentencepiece::{learn, TrainSpec};
use piecework_core::train::Shape;
use pyo3::prelude::*;

use crate::core::thread_count;
use crate::counting::RawCounts;
use crate::errors::bad_argument;
use crate::learning::watched;
use crate::learning_unigram::LearnedPieces;

/// The attributes of a `SentencePieceTrainer` that the learner goes by.
#[derive(FromPyObject)]
pub(crate) struct Trainer {
    model_type: String,
    vocab_size: usize,
    hard_vocab_limit: bool,
    use_all_vocab: bool,
    character_coverage: f64,
    required_chars: String,
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
}

/// Learn the pieces of a model of SentencePiece.
#[catch_panics]
#[pyfunction]
#[pyo3(signature = (counts, trainer, *, symbols, seeds, num_threads, progress))]
pub(crate) fn learn_sentencepiece(
    py: Python<'_>,
    counts: &RawCounts,
    trainer: Trainer,
    symbols: Vec<String>,
    seeds: Option<Vec<(String, u64)>>,
    num_threads: i64,
    progress: Option<Py<PyAny>>,
) -> PyResult<LearnedPieces> {
    let spec = TrainSpec {
        kind: kind_named(&trainer.model_type)?,
        vocab_size: (!trainer.use_all_vocab).then_some(trainer.vocab_size),
        hard_vocab_limit: trainer.hard_vocab_limit,
        symbols,
        character_coverage: trainer.character_coverage,
        required_chars: trainer.required_chars.chars().collect(),
        shape: Shape {
            max_chars: trainer.max_sentencepiece_length,
            split_by_unicode_script: trainer.split_by_unicode_script,
            split_by_number: trainer.split_by_number,
            split_digits: trainer.split_digits,
            split_by_whitespace: trainer.split_by_whitespace,
            allow_whitespace_only_pieces: trainer.allow_whitespace_only_pieces,
            treat_whitespace_as_suffix: trainer.treat_whitespace_as_suffix,
        },
        pretokenization_delimiter: trainer.pretokenization_delimiter,
        seed_size: trainer.seed_sentencepiece_size,
        seeds,
        shrinking_factor: trainer.shrinking_factor,
        num_sub_iterations: trainer.num_sub_iterations,
    };
    let num_threads = thread_count(num_threads)?;
    let learned = watched(py, progress, |pulse| learn(&counts.counts, &spec, num_threads, pulse))?;
    let pieces = learned.pieces.into_iter().map(|(piece, score)| (piece, f64::from(score))).collect();
    Ok(LearnedPieces { pieces, steps: learned.steps })
}

fn kind_named(name: &str) -> PyResult<SentencePieceKind> {
    match name {
        "unigram" => Ok(SentencePieceKind::Unigram),
        "bpe" => Ok(SentencePieceKind::Bpe),
        "word" => Ok(SentencePieceKind::Word),
        "char" => Ok(SentencePieceKind::Char),
        _ => Err(bad_argument("model_type", format!("{name:?}"), "unigram, bpe, word or char")),
    }
}
