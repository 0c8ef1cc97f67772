//! Segmentations of a text: the n best and random samples, as encodings or as pieces, their scores and entropy.

use piecework_catch_panics::python;
use piecework_core::engine::{Input, Options, ScoredSegmentation, SpannedPiece};
use pyo3::prelude::*;

use crate::core::Core;
use crate::encoding::Encoding;
use crate::input::{drawn, selection, selector, SeededSampling};

/// An encoding, its score, its log probability, and the log probability that it is sampled.
type ScoredEncoding = (Encoding, f64, f64, Option<f64>);

/// Pieces, their score, their log probability, and the log probability that they are sampled.
type ScoredPieces = (Vec<SpannedPiece>, f64, f64, Option<f64>);

/// List the n best segmentations of a text or, with `sampling`, n sampled ones.
#[python]
#[pyo3(signature = (
    core, text, n, *, sampling, replacement, include_best, add_special_tokens, parse_special
))]
#[expect(clippy::too_many_arguments, reason = "the keyword arguments of the Python function")]
pub(crate) fn segmentations(
    py: Python<'_>,
    core: &Core,
    text: &Bound<'_, PyAny>,
    n: usize,
    sampling: Option<SeededSampling>,
    replacement: bool,
    include_best: bool,
    add_special_tokens: bool,
    parse_special: Option<Vec<u32>>,
) -> PyResult<Vec<ScoredEncoding>> {
    let selection = selection(sampling, replacement, include_best);
    let parse_special = &selector(parse_special);
    let options = Options { add_special_tokens, parse_special, sampling: None };
    let found = core.compute(py, text, |tokenizer, text, scratch| {
        tokenizer.segmentations(Input::Text(text), n, selection, options, scratch)
    })?;
    let scored = |ScoredSegmentation { tokens, score, log_probability, log_inclusion }| {
        let encoding = Encoding::of_fields(py, &core.shared, tokens, Some(text.clone().unbind()), None)?;
        Ok((encoding, score, log_probability, log_inclusion))
    };
    found.into_iter().map(scored).collect()
}

/// Compute the entropy of the segmentations of a text, in nats.
#[python]
#[pyo3(signature = (core, text, *, alpha, parse_special))]
pub(crate) fn entropy(
    py: Python<'_>,
    core: &Core,
    text: &Bound<'_, PyAny>,
    alpha: f64,
    parse_special: Option<Vec<u32>>,
) -> PyResult<f64> {
    let parse_special = &selector(parse_special);
    let options = Options { add_special_tokens: false, parse_special, sampling: None };
    core.compute(py, text, |tokenizer, text, scratch| {
        tokenizer.entropy(Input::Text(text), alpha, options, scratch)
    })
}

/// Return the score of each id; `None` for an id without one.
#[python]
pub(crate) fn scores(core: &Core, ids: Vec<u32>) -> Vec<Option<f64>> {
    let model = core.tokenizer().model();
    ids.into_iter().map(|id| model.score_of(id)).collect()
}

/// Segment a text into pieces: id, normalized text, character offsets.
#[python]
#[pyo3(signature = (core, text, *, sampling))]
pub(crate) fn pieces(
    py: Python<'_>,
    core: &Core,
    text: &Bound<'_, PyAny>,
    sampling: Option<SeededSampling>,
) -> PyResult<Vec<SpannedPiece>> {
    let sampling = drawn(sampling);
    core.compute(py, text, |tokenizer, text, scratch| tokenizer.pieces(text, sampling, scratch))
}

/// List segmentations of a text, each as its pieces.
#[python]
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
    let found = core.compute(py, text, |tokenizer, text, scratch| {
        tokenizer.piece_segmentations(text, n, selection, scratch)
    })?;
    let scored = |ScoredSegmentation { tokens, score, log_probability, log_inclusion }| {
        (tokens, score, log_probability, log_inclusion)
    };
    Ok(found.into_iter().map(scored).collect())
}
