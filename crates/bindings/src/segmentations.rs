//! Segmentations of a text: the n best, random samples, scores and entropy.

use piecework_catch_panics::catch_panics;
use piecework_core::engine::{Input, Options, ScoredSegmentation, Selection};
use pyo3::prelude::*;

use crate::core::Core;
use crate::encoding::Encoding;
use crate::input::selector;
use crate::sampling::{drawn, SeededSampling};

/// An encoding, its score, its log probability, and the log probability that it is sampled.
type ScoredEncoding = (Encoding, f64, f64, Option<f64>);

/// List the n best segmentations of a text or, with `sampling`, n sampled ones.
#[catch_panics]
#[pyfunction]
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

/// Convert the arguments into the selection of segmentations.
pub(crate) fn selection(
    sampling: Option<SeededSampling>,
    replacement: bool,
    include_best: bool,
) -> Selection {
    match drawn(sampling) {
        None => Selection::Best,
        Some(sampling) if replacement => Selection::Sampled(sampling),
        Some(sampling) => Selection::WithoutReplacement { sampling, include_best },
    }
}

/// Compute the entropy of the segmentations of a text, in nats.
#[catch_panics]
#[pyfunction]
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
#[catch_panics]
#[pyfunction]
pub(crate) fn scores(core: &Core, ids: Vec<u32>) -> Vec<Option<f64>> {
    let model = core.encoder.tokenizer().model();
    ids.into_iter().map(|id| model.score_of(id)).collect()
}
