//! Segmentation into pieces, with their normalized text and their offsets in the original text.

use piecework_catch_panics::catch_panics;
use piecework_core::engine::{ScoredSegmentation, SpannedPiece};
use piecework_core::text::CharIndex;
use pyo3::prelude::*;

use crate::core::Core;
use crate::sampling::{drawn, SeededSampling};
use crate::segmentations::selection;

/// Pieces, their score, their log probability, and the log probability that they are sampled.
type ScoredPieces = (Vec<SpannedPiece>, f64, f64, Option<f64>);

/// Segment a text into pieces: id, normalized text, character offsets.
#[catch_panics]
#[pyfunction]
#[pyo3(signature = (core, text, *, sampling))]
pub(crate) fn pieces(
    py: Python<'_>,
    core: &Core,
    text: &Bound<'_, PyAny>,
    sampling: Option<SeededSampling>,
) -> PyResult<Vec<SpannedPiece>> {
    let sampling = drawn(sampling);
    core.compute(py, text, |tokenizer, text, scratch| {
        let found = tokenizer.pieces(text, sampling, scratch)?;
        Ok(in_chars(found, &CharIndex::new(text)))
    })
}

/// List segmentations of a text, each as its pieces.
#[catch_panics]
#[pyfunction]
#[pyo3(signature = (core, text, n, *, sampling, replacement, include_best))]
pub(crate) fn piece_segmentations(
    py: Python<'_>,
    core: &Core,
    text: &Bound<'_, PyAny>,
    n: usize,
    sampling: Option<SeededSampling>,
    replacement: bool,
    include_best: bool,
) -> PyResult<Vec<ScoredPieces>> {
    let selection = selection(sampling, replacement, include_best);
    core.compute(py, text, |tokenizer, text, scratch| {
        let chars = CharIndex::new(text);
        let scored = |ScoredSegmentation { tokens, score, log_probability, log_inclusion }| {
            (in_chars(tokens, &chars), score, log_probability, log_inclusion)
        };
        Ok(tokenizer.piece_segmentations(text, n, selection, scratch)?.into_iter().map(scored).collect())
    })
}

/// Normalize a text; return the index of the original character for each character, and for the end.
#[catch_panics]
#[pyfunction]
pub(crate) fn normalize_with_offsets(
    py: Python<'_>,
    core: &Core,
    text: &Bound<'_, PyAny>,
) -> PyResult<(String, Vec<u32>)> {
    core.compute(py, text, |tokenizer, text, scratch| {
        let (normalized, mut offsets) = tokenizer.normalize_with_offsets(text, scratch)?;
        let chars = CharIndex::new(text);
        offsets.iter_mut().for_each(|offset| *offset = chars.chars_before(*offset));
        Ok((normalized, offsets))
    })
}

/// Convert byte offsets into character offsets.
fn in_chars(mut pieces: Vec<SpannedPiece>, chars: &CharIndex<'_>) -> Vec<SpannedPiece> {
    for (_, _, (start, end)) in &mut pieces {
        (*start, *end) = (chars.chars_before(*start), chars.chars_before(*end));
    }
    pieces
}
