//! Word counts: the counter of a corpus, and the counts as columns.

use std::borrow::Cow;
use std::sync::Mutex;

use numpy::{PyArray1, PyReadonlyArray1};
use piecework_catch_panics::python;
use piecework_core::error::Error;
use piecework_core::interrupt;
use piecework_core::stages::normalize::Normalizer;
use piecework_core::stages::pretokenize::PreTokenizer;
use piecework_core::stages::split::Splitter;
use piecework_formats::tokenizer_json;
use piecework_train::count;
use piecework_train::count::Counts;
use pyo3::prelude::*;
use pythonize::pythonize;

use crate::batch::array;
use crate::columns::TextColumn;
use crate::custom::functions as custom_functions;
use crate::errors::{bad_argument, raise};
use crate::input::{borrow_all, items};
use crate::input::{settings_of, thread_count};
use crate::panics::lock;
use crate::release::ReleaseGil;

/// Counts the pre-tokens of a corpus.
#[pyclass(frozen, module = "piecework._internal._core")]
pub struct WordCounter {
    /// None after `finish`.
    counter: Mutex<Option<count::WordCounter>>,
}

impl WordCounter {
    /// Run `work` on the counter, to its end: blocks are short, and signals are checked after each.
    fn with<R>(&self, work: impl FnOnce(&mut count::WordCounter) -> Result<R, Error>) -> PyResult<R> {
        let mut counter = lock(&self.counter)?;
        interrupt::defer(|| work(counter.as_mut().ok_or_else(finished)?).map_err(raise))
    }
}

#[python]
impl WordCounter {
    /// Make a counter with the normalizer and the pre-tokenizer of a `tokenizer.json`, and the fields of
    /// `CounterSettings`.
    #[new]
    fn new(
        pipeline_json: &str,
        num_threads: i64,
        functions: Vec<Py<PyAny>>,
        settings: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let num_threads = thread_count(num_threads)?;
        let splitter = splitter_of(pipeline_json, functions)?;
        let counter = count::WordCounter::new(splitter, num_threads, settings_of(settings)?);
        Ok(Self { counter: Mutex::new(Some(counter)) })
    }

    /// Count the next texts of `source`, in which `replacements` invalid sequences became U+FFFD.
    #[pyo3(signature = (texts, source, replacements=0))]
    fn add_texts(
        &self,
        py: Python<'_>,
        texts: &Bound<'_, PyAny>,
        source: u32,
        replacements: u64,
    ) -> PyResult<()> {
        let column = texts.cast::<TextColumn>().ok().map(TextColumn::borrow);
        let items = if column.is_some() { Vec::new() } else { items(texts, "texts")? };
        let texts = match &column {
            Some(column) => column.texts("texts")?,
            None => borrow_all(&items, "texts")?,
        };
        py.release(|| {
            self.with(|counter| {
                counter.add_texts(&texts, source)?;
                counter.add_replacements(replacements);
                Ok(())
            })
        })
    }

    /// Count the texts `start` to `end` of a column as the next texts of `source`.
    fn add_column(
        &self,
        py: Python<'_>,
        column: &Bound<'_, TextColumn>,
        source: u32,
        start: usize,
        end: usize,
    ) -> PyResult<()> {
        let end = end.min(column.len()?);
        let column = TextColumn::borrow(column);
        let texts = column.texts_of_rows(start.min(end)..end, "texts")?;
        py.release(|| self.with(|counter| counter.add_texts(&texts, source)))
    }

    /// Count a block of UTF-8 at byte `offset` of `source`; invalid sequences become U+FFFD or, if `strict`, raise.
    fn add_block(
        &self,
        py: Python<'_>,
        block: &[u8],
        source: u32,
        offset: u64,
        strict: bool,
        name: &str,
    ) -> PyResult<()> {
        py.release(|| {
            self.with(|counter| {
                counter.add_block(block, source, offset, strict).map_err(|error| error.within(name))
            })
        })
    }

    /// Return the number of invalid sequences that became U+FFFD.
    fn replacements(&self, py: Python<'_>) -> PyResult<u64> {
        py.release(|| self.with(|counter| Ok(counter.progress().replacements)))
    }

    /// Count the following sources as another group, whose words `finish` multiplies by another weight.
    fn start_group(&self, py: Python<'_>, group: u32) -> PyResult<()> {
        py.release(|| self.with(|counter| counter.start_group(group)))
    }

    /// Return what was left out: texts that are too long, words that are too long, texts outside the sample.
    fn left_out(&self, py: Python<'_>) -> PyResult<(u64, u64, u64)> {
        let left_out = py.release(|| self.with(|counter| Ok(counter.left_out())))?;
        Ok((left_out.long_texts, left_out.long_words, left_out.unsampled_texts))
    }

    /// Return whether the last block or list failed, so that a part of it is counted.
    fn is_partial(&self, py: Python<'_>) -> PyResult<bool> {
        py.release(|| self.with(|counter| Ok(counter.is_partial())))
    }

    /// Write all word counts as runs and return the state of the counter, a dict.
    fn checkpoint<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let state = py.release(|| self.with(count::WordCounter::state))?;
        Ok(pythonize(py, &state)?)
    }

    /// Continue from the state of another counter with the same folder.
    fn restore(&self, py: Python<'_>, state: &Bound<'_, PyAny>) -> PyResult<()> {
        let state = settings_of(state)?;
        py.release(|| self.with(|counter| counter.restore(state)))
    }

    /// Return the words in order; the counter cannot be used afterwards.
    ///
    /// `numerators[group] / denominator` is the weight of each group; groups without a numerator weigh 1.
    #[pyo3(signature = (numerators=Vec::new(), denominator=1))]
    fn finish(&self, py: Python<'_>, numerators: Vec<u64>, denominator: u64) -> PyResult<OrderedWords> {
        let weights = count::GroupWeights::new(numerators, denominator);
        py.release(|| {
            let counter = lock(&self.counter)?.take().ok_or_else(finished)?;
            let words = counter.finish(&weights).map_err(raise)?;
            Ok(OrderedWords { words: Mutex::new(Some(words)) })
        })
    }
}

/// Compile the normalizer and the pre-tokenizer of a `tokenizer.json`.
fn splitter_of(pipeline_json: &str, functions: Vec<Py<PyAny>>) -> PyResult<Splitter> {
    let (normalizer, pre_tokenizer) =
        tokenizer_json::read_pipeline(pipeline_json.as_bytes(), &custom_functions(functions))
            .map_err(raise)?;
    Ok(Splitter::new(
        Normalizer::compile(normalizer.as_ref()).map_err(raise)?,
        PreTokenizer::compile(pre_tokenizer.as_ref()).map_err(raise)?,
    ))
}

fn finished() -> PyErr {
    bad_argument("counter", "a finished counter", "a counter before `finish`")
}

/// The words of a finished counter, in the order of `RawCounts`.
#[pyclass(frozen, module = "piecework._internal._core")]
pub struct OrderedWords {
    /// None after `into_counts`.
    words: Mutex<Option<count::OrderedWords>>,
}

#[python]
impl OrderedWords {
    /// Return the next words, at most `max`; none at the end.
    fn next_words(&self, py: Python<'_>, max: usize) -> PyResult<RawCounts> {
        py.release(|| {
            let counts =
                lock(&self.words)?.as_mut().ok_or_else(finished)?.next_words(max).map_err(raise)?;
            Ok(RawCounts { counts })
        })
    }

    /// Return all remaining words.
    fn into_counts(&self, py: Python<'_>) -> PyResult<RawCounts> {
        py.release(|| {
            let counts = lock(&self.words)?.take().ok_or_else(finished)?.into_counts().map_err(raise)?;
            Ok(RawCounts { counts })
        })
    }
}

/// Distinct words with their counts and, optionally, their first positions.
#[pyclass(frozen, module = "piecework._internal._core")]
pub struct RawCounts {
    pub(crate) counts: Counts,
}

#[python]
impl RawCounts {
    /// Make counts from columns of equal length; `boundaries` has the positions inside each word, in characters.
    #[new]
    #[pyo3(signature = (words, counts, first, boundaries=None))]
    fn new(
        words: &Bound<'_, PyAny>,
        counts: PyReadonlyArray1<'_, u64>,
        first: Option<PyReadonlyArray1<'_, u64>>,
        boundaries: Option<Vec<Vec<u32>>>,
    ) -> PyResult<Self> {
        let items = items(words, "words")?;
        let words = borrow_all(&items, "words")?;
        let first = first.as_ref().map(|first| first.as_slice()).transpose()?;
        let counts = match boundaries {
            Some(boundaries) => Counts::bounded(&words, &boundaries, counts.as_slice()?, first),
            None => Counts::from_parts(&words, counts.as_slice()?, first),
        };
        Ok(Self { counts: counts.map_err(raise)? })
    }

    fn __len__(&self) -> usize {
        self.counts.len()
    }

    /// Return the words, without their boundaries.
    fn words(&self) -> Vec<Cow<'_, str>> {
        self.counts.words().collect()
    }

    /// Return whether the words have boundaries.
    fn has_boundaries(&self) -> bool {
        self.counts.has_boundaries()
    }

    /// Return the boundaries inside each word, in characters; None for counts without boundaries.
    fn boundaries(&self) -> Option<Vec<Vec<u32>>> {
        self.counts.boundaries()
    }

    /// Return the counts of the parts between boundaries.
    fn parts(&self, py: Python<'_>) -> PyResult<Self> {
        let counts = py.release(|| self.counts.unmarked_parts());
        Ok(Self { counts: counts.map_err(raise)? })
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
        let bytes = self.counts.words().map(|word| length(word.len())).collect();
        let chars = self.counts.words().map(|word| length(word.chars().count())).collect();
        Ok((array(py, bytes)?, array(py, chars)?))
    }

    /// Return the words that occur at least `least` times.
    fn at_least(&self, py: Python<'_>, least: u64) -> PyResult<Self> {
        let counts = py.release(|| self.counts.at_least(least));
        Ok(Self { counts: counts.map_err(raise)? })
    }

    /// Return the counts of the words that a pre-tokenizer without a normalizer finds in these words.
    fn split(&self, py: Python<'_>, pipeline_json: &str) -> PyResult<Self> {
        let splitter = splitter_of(pipeline_json, Vec::new())?;
        let counts = py.release(|| self.counts.split(&splitter));
        Ok(Self { counts: counts.map_err(raise)? })
    }

    /// Return the characters of the words and of `characters` that a pipeline makes words of their own.
    fn isolated_characters(
        &self,
        py: Python<'_>,
        pipeline_json: &str,
        functions: Vec<Py<PyAny>>,
        characters: &str,
    ) -> PyResult<String> {
        let splitter = splitter_of(pipeline_json, functions)?;
        let characters: Vec<char> = characters.chars().collect();
        let isolated = py.release(|| self.counts.isolated_characters(&splitter, &characters));
        Ok(isolated.map_err(raise)?.into_iter().collect())
    }

    /// Return a hash of words, counts and first positions.
    fn digest(&self, py: Python<'_>) -> u64 {
        py.release(|| self.counts.digest())
    }

    /// Sum both; first positions are dropped if a source occurs in both.
    fn merge(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        let merged = py.release(|| self.counts.clone().merge(other.counts.clone()));
        Ok(Self { counts: merged.map_err(raise)? })
    }
}
