//! Word counts: the counter of a corpus, and the counts as columns.

use std::sync::{Mutex, MutexGuard};

use numpy::{PyArray1, PyReadonlyArray1};
use piecework_catch_panics::catch_panics;
use piecework_core::count;
use piecework_core::count::Counts;
use piecework_core::normalize::Normalizer;
use piecework_core::pretokenize::PreTokenizer;
use piecework_core::split::Splitter;
use piecework_formats::tokenizer_json;
use pyo3::prelude::*;

use crate::arrays::array;
use crate::custom::functions as custom_functions;
use crate::errors::raise;
use crate::panics::lock;
use crate::text::{borrow_all, items};
use crate::threads::thread_count;

/// Counts the pre-tokens of a corpus.
#[pyclass(frozen, module = "piecework._core")]
pub struct WordCounter {
    counter: Mutex<count::WordCounter>,
    splitter: Splitter,
    lines: count::LineEnds,
    filter: count::TextFilter,
    num_threads: usize,
}

impl WordCounter {
    /// Lock the counter.
    fn counter(&self) -> PyResult<MutexGuard<'_, count::WordCounter>> {
        lock(&self.counter)
    }
}

#[catch_panics]
#[pymethods]
impl WordCounter {
    /// Make a counter with the normalizer and the pre-tokenizer of a `tokenizer.json`.
    #[new]
    #[pyo3(signature = (
        pipeline_json, num_threads, functions=Vec::new(), *, keep_line_ends, max_bytes=None, reserved=String::new(),
        with_counts=false
    ))]
    fn new(
        pipeline_json: &str,
        num_threads: i64,
        functions: Vec<Py<PyAny>>,
        keep_line_ends: bool,
        max_bytes: Option<usize>,
        reserved: String,
        with_counts: bool,
    ) -> PyResult<Self> {
        let num_threads = thread_count(num_threads)?;
        let (normalizer, pre_tokenizer) =
            tokenizer_json::read_pipeline(pipeline_json.as_bytes(), &custom_functions(functions))
                .map_err(raise)?;
        let splitter = Splitter::new(
            Normalizer::compile(normalizer.as_ref()).map_err(raise)?,
            PreTokenizer::compile(pre_tokenizer.as_ref()).map_err(raise)?,
        );
        let lines = if keep_line_ends { count::LineEnds::Keep } else { count::LineEnds::Strip };
        let filter = count::TextFilter { max_bytes, reserved, with_counts };
        let counter = count::WordCounter::new(splitter.clone(), lines, num_threads);
        let counter = Mutex::new(counter.with_filter(filter.clone()));
        Ok(Self { counter, splitter, lines, filter, num_threads })
    }

    /// Count the next texts of `source`.
    fn add_texts(&self, py: Python<'_>, texts: &Bound<'_, PyAny>, source: u32) -> PyResult<()> {
        let items = items(texts, "texts")?;
        let texts = borrow_all(&items, "texts")?;
        py.detach(|| self.counter()?.add_texts(&texts, source).map_err(raise))
    }

    /// Count a block of UTF-8 at byte `offset` of `source`; return the number of U+FFFD replacements.
    fn add_block(
        &self,
        py: Python<'_>,
        block: &[u8],
        source: u32,
        offset: u64,
        strict: bool,
        name: &str,
    ) -> PyResult<u64> {
        py.detach(|| {
            let added = self.counter()?.add_block(block, source, offset, strict);
            added.map_err(|error| raise(error.within(name)))
        })
    }

    /// Return the number of texts that were skipped because of their length.
    fn too_long(&self, py: Python<'_>) -> PyResult<u64> {
        py.detach(|| Ok(self.counter()?.too_long()))
    }

    /// Merge the counts of all threads; the counter is empty afterwards.
    fn finish(&self, py: Python<'_>) -> PyResult<RawCounts> {
        let empty = count::WordCounter::new(self.splitter.clone(), self.lines, self.num_threads);
        let empty = empty.with_filter(self.filter.clone());
        let counts = py.detach(|| std::mem::replace(&mut *self.counter()?, empty).finish().map_err(raise));
        Ok(RawCounts { counts: counts? })
    }
}

/// Distinct words with their counts and, optionally, their first positions.
#[pyclass(frozen, module = "piecework._core")]
pub struct RawCounts {
    pub(crate) counts: Counts,
}

#[catch_panics]
#[pymethods]
impl RawCounts {
    /// Make counts from columns of equal length.
    #[new]
    #[pyo3(signature = (words, counts, first))]
    fn new(
        words: &Bound<'_, PyAny>,
        counts: PyReadonlyArray1<'_, u64>,
        first: Option<PyReadonlyArray1<'_, u64>>,
    ) -> PyResult<Self> {
        let items = items(words, "words")?;
        let words = borrow_all(&items, "words")?;
        let first = first.as_ref().map(|first| first.as_slice()).transpose()?;
        let counts = Counts::from_parts(&words, counts.as_slice()?, first).map_err(raise)?;
        Ok(Self { counts })
    }

    fn __len__(&self) -> usize {
        self.counts.len()
    }

    /// Return the words.
    fn words(&self) -> Vec<&str> {
        self.counts.iter().map(|(word, _)| word).collect()
    }

    /// Return the count of each word.
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u64>>> {
        array(py, self.counts.counts().to_vec())
    }

    /// Return the first position of each word; None if the counts have no positions.
    fn first<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray1<u64>>>> {
        self.counts.first().map(|first| array(py, first.to_vec())).transpose()
    }

    /// Return the length of each word in bytes and in characters.
    #[expect(clippy::type_complexity, reason = "a pair of arrays")]
    fn lengths<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u32>>)> {
        let length = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        let bytes = self.counts.iter().map(|(word, _)| length(word.len())).collect();
        let chars = self.counts.iter().map(|(word, _)| length(word.chars().count())).collect();
        Ok((array(py, bytes)?, array(py, chars)?))
    }

    /// Return the words that occur at least `least` times.
    fn at_least(&self, py: Python<'_>, least: u64) -> PyResult<Self> {
        let counts = py.detach(|| self.counts.at_least(least));
        Ok(Self { counts: counts.map_err(raise)? })
    }

    /// Return a hash of words, counts and first positions.
    fn digest(&self, py: Python<'_>) -> u64 {
        py.detach(|| self.counts.digest())
    }

    /// Sum both; first positions are dropped if a source occurs in both.
    fn merge(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        let merged = py.detach(|| self.counts.clone().merge(other.counts.clone()));
        Ok(Self { counts: merged.map_err(raise)? })
    }
}
