//! Settings of random segmentation, every one resolved.

use piecework_catch_panics::catch_panics;
use piecework_core::model::Sampling;
use pyo3::prelude::*;

/// The settings of random segmentation for the texts of one call.
#[pyclass(frozen, eq, module = "piecework._core")]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeededSampling {
    /// The probability that a merge is skipped (BPE), or the exponent of the scores (Unigram).
    #[pyo3(get)]
    alpha: f64,
    /// The number of best segmentations to sample from; None for all.
    #[pyo3(get)]
    nbest_size: Option<usize>,
    #[pyo3(get)]
    seed: u64,
    /// The index of the first text; seed and index determine how a text is segmented.
    #[pyo3(get)]
    text_index: u64,
}

#[catch_panics]
#[pymethods]
impl SeededSampling {
    /// Make settings with every value resolved.
    #[new]
    #[pyo3(signature = (alpha, *, seed, nbest_size=None, text_index=0))]
    fn new(alpha: f64, seed: u64, nbest_size: Option<usize>, text_index: u64) -> Self {
        Self { alpha, nbest_size, seed, text_index }
    }

    /// Return the same settings for the text with another index.
    fn at(&self, text_index: u64) -> Self {
        Self { text_index, ..*self }
    }

    fn __repr__(&self) -> String {
        let Self { alpha, nbest_size, seed, text_index } = self;
        let nbest_size = nbest_size.map_or("None".into(), |size| size.to_string());
        format!("SeededSampling({alpha}, seed={seed}, nbest_size={nbest_size}, text_index={text_index})")
    }
}

/// Convert the settings for the core; `None` selects the best segmentation.
pub(crate) fn drawn(sampling: Option<SeededSampling>) -> Option<Sampling> {
    let convert = |SeededSampling { alpha, nbest_size, seed, text_index }| Sampling {
        alpha,
        nbest: nbest_size,
        seed,
        row: text_index,
    };
    sampling.map(convert)
}
