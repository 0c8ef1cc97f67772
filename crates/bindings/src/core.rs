//! The compiled tokenizer.

use std::ops::Deref;
use std::sync::Arc;

use numpy::PyReadonlyArray1;
use piecework_catch_panics::python;
use piecework_core::engine::batch::{ChunkOptions, ChunkUnit, ExtraColumns, Source};
use piecework_core::engine::{decoding_chunks, DecodeStreams, Filling, Input, Options, Origin, Tokenizer};
use piecework_core::error::Error;
use piecework_core::spec::{Padding, TokenizerSpec, Truncation};
use piecework_core::stages::decode::StreamState;
use piecework_formats::{tokenizer_json, vocab_txt};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict, PyList};

use crate::batch::{rows, RawBatch};
use crate::custom::functions as custom_functions;
use crate::encoding::Encoding;
use crate::errors::{bad_argument, raise};
use crate::input::{borrow, borrowed, Borrowed, InputObject, InputRows};
use crate::input::{drawn, selector, settings_of, thread_count, SeededSampling};
use crate::release::ReleaseGil;
use crate::shared_tokenizer::SharedTokenizer;
use crate::stream::RawDecodeStream;
use crate::strings::list_of;
use crate::strings::string;

/// A compiled tokenizer in Python: a handle that dereferences to it.
#[pyclass(frozen, module = "piecework._internal._core")]
pub struct Core {
    pub(crate) shared: Arc<SharedTokenizer>,
}

impl Core {
    /// Wrap a compiled tokenizer.
    pub(crate) fn of(tokenizer: Tokenizer) -> Self {
        Self { shared: Arc::new(SharedTokenizer::of(tokenizer)) }
    }

    /// Wrap a tokenizer that has the same vocabulary.
    pub(crate) fn sharing(&self, tokenizer: Tokenizer) -> Self {
        Self { shared: Arc::new(self.shared.sharing(tokenizer)) }
    }
}

impl Core {
    /// Encode one text or pair with every field.
    fn encode_fields(
        &self,
        text: Bound<'_, PyAny>,
        pair: Option<Bound<'_, PyAny>>,
        is_pretokenized: bool,
        options: Options<'_>,
    ) -> PyResult<Encoding> {
        let py = text.py();
        let text_object = InputObject::take(&text, is_pretokenized, || "text".into())?;
        let take_pair = |pair| InputObject::take(pair, is_pretokenized, || "pair".into());
        let pair_object = pair.as_ref().map(take_pair).transpose()?;
        let input = borrowed(&text_object, "text")?;
        let second = pair_object.as_ref().map(|object| borrowed(object, "pair")).transpose()?;
        let encode = || {
            self.encoder.with_scratch(|scratch| {
                let second = second.as_ref().map(Borrowed::input);
                self.tokenizer().encode(input.input(), second, options, scratch)
            })
        };
        let fields = py.release(encode).map_err(raise)?;
        let pair = pair.map(Bound::unbind);
        Encoding::of_fields(py, &self.shared, fields, Some(text.clone().unbind()), pair)
    }

    /// Return a core that truncates and pads by other settings and shares the tables.
    fn with_lengths(&self, truncation: Option<Truncation>, padding: Option<Padding>) -> PyResult<Self> {
        Ok(self.sharing(self.tokenizer().with_lengths(truncation, padding).map_err(raise)?))
    }
}

impl Deref for Core {
    type Target = SharedTokenizer;

    fn deref(&self) -> &SharedTokenizer {
        &self.shared
    }
}

/// Read a specification and compile it without the GIL; errors name the source.
pub(crate) fn compile(
    py: Python<'_>,
    source: &str,
    read: impl FnOnce() -> Result<TokenizerSpec, Error> + Send,
) -> PyResult<Core> {
    make(py, source, || Tokenizer::compile(read()?))
}

/// Make a tokenizer without the GIL; errors name the source.
pub(crate) fn make(
    py: Python<'_>,
    source: &str,
    make: impl FnOnce() -> Result<Tokenizer, Error> + Send,
) -> PyResult<Core> {
    let tokenizer = py.release(make).map_err(|error| match source {
        "" => raise(error),
        source => raise(error.within(source)),
    })?;
    Ok(Core::of(tokenizer))
}

#[python]
impl Core {
    /// Read and compile a `tokenizer.json`; `source` names the file in errors.
    #[staticmethod]
    #[pyo3(signature = (data, source, functions=Vec::new()))]
    fn from_json(py: Python<'_>, data: &[u8], source: &str, functions: Vec<Py<PyAny>>) -> PyResult<Self> {
        let functions = custom_functions(functions);
        compile(py, source, || tokenizer_json::read_with(data, &functions))
    }

    /// Read a BERT `vocab.txt`; `lowercase=None` infers it from the letter case of the entries.
    #[staticmethod]
    fn from_vocab_txt(
        py: Python<'_>,
        data: &[u8],
        source: &str,
        lowercase: Option<bool>,
    ) -> PyResult<Self> {
        compile(py, source, || vocab_txt::read(data, lowercase))
    }

    /// Return warnings about probable mistakes in a file; `origin` is "document", "lines" or "ranks".
    fn warnings(&self, py: Python<'_>, origin: &str, data: &[u8]) -> PyResult<Vec<String>> {
        let origin = match origin {
            "document" => Origin::Document,
            "lines" => Origin::Lines { has_blank: vocab_txt::has_blank_line(data) },
            "ranks" => Origin::Ranks,
            other => return Err(bad_argument("origin", other, "document, lines or ranks")),
        };
        let warnings = py.release(|| self.tokenizer().warnings(origin));
        Ok(warnings.iter().map(ToString::to_string).collect())
    }

    /// Write the specification as `tokenizer.json` text.
    fn to_json(&self, py: Python<'_>, pretty: bool) -> String {
        py.release(|| tokenizer_json::write(&self.tokenizer().spec(), pretty))
    }

    /// Write the stages as a `tokenizer.json` whose model has no entries.
    fn stages_to_json(&self) -> String {
        tokenizer_json::write(&self.tokenizer().stages_spec(), false)
    }

    /// Return a core with the stages of a `tokenizer.json` that shares the tables of the model; the model of `data` is
    /// ignored.
    fn with_stages(&self, py: Python<'_>, data: &[u8], functions: Vec<Py<PyAny>>) -> PyResult<Self> {
        let functions = custom_functions(functions);
        let compiled =
            py.release(|| self.tokenizer().with_stages(tokenizer_json::read_with(data, &functions)?));
        Ok(Self::of(compiled.map_err(raise)?))
    }

    /// Write one token a line in id order. Raises `VocabularyError` when the ids have gaps.
    fn to_vocab_txt(&self) -> PyResult<Vec<u8>> {
        vocab_txt::write(&self.tokenizer().spec().model.vocab()).map_err(raise)
    }

    /// Encode one text or pair with every field.
    #[pyo3(signature = (text, pair, *, add_special_tokens, is_pretokenized, parse_special, sampling))]
    fn encode(
        &self,
        text: Bound<'_, PyAny>,
        pair: Option<Bound<'_, PyAny>>,
        add_special_tokens: bool,
        is_pretokenized: bool,
        parse_special: Option<Vec<u32>>,
        sampling: Option<SeededSampling>,
    ) -> PyResult<Encoding> {
        let parse_special = &selector(parse_special);
        let options = Options { add_special_tokens, parse_special, sampling: drawn(sampling) };
        self.encode_fields(text, pair, is_pretokenized, options)
    }

    /// Encode one text into ids; the other fields of the encoding are computed at their first use.
    ///
    /// The core must be one that `has_late_fields`: nothing is padded or sampled.
    fn encode_text(
        slf: &Bound<'_, Self>,
        text: Bound<'_, PyAny>,
        add_special_tokens: bool,
        parse_special: bool,
    ) -> PyResult<Encoding> {
        Encoding::of_text(&slf.get().shared, text, add_special_tokens, parse_special)
    }

    /// Encode many texts; with `offsets`, also store offsets, word ids and sequence ids.
    #[pyo3(signature = (texts, pairs, *, add_special_tokens, is_pretokenized, parse_special, sampling, offsets, overflow, num_threads))]
    #[expect(clippy::too_many_arguments, reason = "the keyword arguments of the Python method")]
    fn encode_batch(
        &self,
        py: Python<'_>,
        texts: &Bound<'_, PyAny>,
        pairs: Option<&Bound<'_, PyAny>>,
        add_special_tokens: bool,
        is_pretokenized: bool,
        parse_special: Option<Vec<u32>>,
        sampling: Option<SeededSampling>,
        offsets: bool,
        overflow: bool,
        num_threads: i64,
    ) -> PyResult<RawBatch> {
        let num_threads = thread_count(num_threads)?;
        let text_rows = InputRows::take(texts, is_pretokenized, "texts")?;
        let pair_rows = pairs.map(|pairs| InputRows::take(pairs, is_pretokenized, "pairs")).transpose()?;
        let texts = text_rows.borrow_sources("texts")?;
        let pairs = pair_rows.as_ref().map(|rows| rows.borrow("pairs")).transpose()?;
        if let Some(pairs) = pairs.as_ref().filter(|pairs| pairs.len() != texts.len()) {
            let expected = format!("{}, one for each text", texts.len());
            return Err(bad_argument("pairs", format!("{} items", pairs.len()), &expected));
        }
        let sources: Vec<Source<'_>> = texts.iter().map(Borrowed::source).collect();
        let pairs: Option<Vec<Input<'_>>> =
            pairs.as_ref().map(|pairs| pairs.iter().map(Borrowed::input).collect());
        let parse_special = &selector(parse_special);
        let options = Options { add_special_tokens, parse_special, sampling: drawn(sampling) };
        let extra = ExtraColumns { spans: offsets, overflow };
        let mut batch = py
            .release(|| self.encoder.encode(&sources, pairs.as_deref(), options, extra, num_threads))
            .map_err(raise)?;
        if overflow && batch.samples.is_none() {
            batch.samples = Some((0..sources.len() as i64).collect());
        }
        Ok(RawBatch::new(batch, Arc::clone(&self.numbers)))
    }

    /// Count the tokens of each text.
    #[pyo3(signature = (texts, *, add_special_tokens, parse_special, sampling, num_threads))]
    fn count_batch(
        &self,
        py: Python<'_>,
        texts: &Bound<'_, PyAny>,
        add_special_tokens: bool,
        parse_special: Option<Vec<u32>>,
        sampling: Option<SeededSampling>,
        num_threads: i64,
    ) -> PyResult<Vec<i64>> {
        let num_threads = thread_count(num_threads)?;
        let text_rows = InputRows::take(texts, false, "texts")?;
        let texts = text_rows.borrow_sources("texts")?;
        let sources: Vec<Source<'_>> = texts.iter().map(Borrowed::source).collect();
        let parse_special = &selector(parse_special);
        let options = Options { add_special_tokens, parse_special, sampling: drawn(sampling) };
        py.release(|| self.encoder.count(&sources, options, num_threads)).map_err(raise)
    }

    /// Encode a text that may grow; return the ids that no text after it can change, the others, and the character from
    /// which on a longer text is encoded. The core must not truncate.
    fn growing_ids(
        &self,
        py: Python<'_>,
        text: &Bound<'_, PyAny>,
        parse_special: Option<Vec<u32>>,
    ) -> PyResult<(Vec<u32>, Vec<u32>, usize)> {
        let text = borrow(text, || "text".into())?;
        let parse_special = &selector(parse_special);
        let encode = || self.encoder.growing_ids(text, parse_special);
        let mut found = py.release(encode).map_err(raise)?;
        let changing = found.ids.split_off(found.num_stable);
        Ok((found.ids, changing, text[..found.rest].chars().count()))
    }

    /// Divide a text into parts of at least `least` bytes, except the last. Their ids without special tokens, one after the
    /// other, are the ids of the text. None if texts cannot be divided.
    fn text_parts<'t>(&self, text: &'t Bound<'_, PyAny>, least: usize) -> PyResult<Option<Vec<&'t str>>> {
        Ok(self.tokenizer().parts(borrow(text, || "text".into())?, least))
    }

    /// Divide a text into chunks within a budget; return the first character of each, the one after the last, and the number
    /// of tokens. The core must neither truncate nor pad.
    #[pyo3(signature = (text, max_tokens, *, overlap, at, add_special_tokens, parse_special))]
    #[expect(clippy::too_many_arguments, reason = "the keyword arguments of the Python method")]
    fn chunk_text(
        &self,
        py: Python<'_>,
        text: &Bound<'_, PyAny>,
        max_tokens: usize,
        overlap: usize,
        at: &str,
        add_special_tokens: bool,
        parse_special: Option<Vec<u32>>,
    ) -> PyResult<Vec<(usize, usize, usize)>> {
        let text = borrow(text, || "text".into())?;
        let Some(unit) = ChunkUnit::named(at) else {
            return Err(bad_argument("at", at, "paragraph, sentence, word or character"));
        };
        let settings = ChunkOptions { max_tokens, overlap, unit };
        let parse_special = &selector(parse_special);
        let options = Options { add_special_tokens, parse_special, sampling: None };
        let chunks = py.release(|| self.encoder.chunks(text, settings, options)).map_err(raise)?;
        Ok(chunks.into_iter().map(|it| (it.start.chars, it.end.chars, it.num_tokens)).collect())
    }

    /// Decode ids into text; `clean_up=None` follows the setting of the decoder.
    fn decode(
        &self,
        py: Python<'_>,
        ids: Vec<u32>,
        skip_special_tokens: bool,
        clean_up: Option<bool>,
    ) -> PyResult<String> {
        py.release(|| self.tokenizer().decode(&ids, skip_special_tokens, clean_up)).map_err(raise)
    }

    /// Decode the rows of a flat batch.
    fn decode_batch<'py>(
        &self,
        py: Python<'py>,
        ids: PyReadonlyArray1<'py, u32>,
        row_offsets: PyReadonlyArray1<'py, i64>,
        skip_special_tokens: bool,
        clean_up: Option<bool>,
    ) -> PyResult<Bound<'py, PyList>> {
        // A copy: other threads may write to the array while the GIL is released.
        let ids = ids.as_slice()?.to_vec();
        let rows = rows(&ids, row_offsets.as_slice()?)?;
        let (mut strings, mut units) = (Vec::with_capacity(rows.len()), Vec::new());
        for chunk in decoding_chunks(&rows) {
            let decoded = py.release(|| self.tokenizer().decode_rows(chunk, skip_special_tokens, clean_up));
            for bytes in decoded.map_err(raise)?.iter() {
                strings.push(string(py, bytes, &mut units)?);
            }
        }
        PyList::new(py, strings)
    }

    /// Return a decoding stream for each list of `prefill`, positioned after its ids.
    fn decode_stream(
        &self,
        prefill: Vec<Vec<u32>>,
        skip_special_tokens: bool,
        clean_up: Option<bool>,
    ) -> PyResult<RawDecodeStream> {
        let streams = DecodeStreams::begin(self.tokenizer(), &prefill, skip_special_tokens, clean_up);
        Ok(RawDecodeStream::of(streams.map_err(raise)?, &self.shared))
    }

    /// Return decoding streams that continue from what `RawDecodeStream.state` returned.
    fn continue_decode_stream(
        &self,
        states: Vec<StreamState>,
        skip_special_tokens: bool,
        clean_up: Option<bool>,
        pending: Vec<String>,
    ) -> PyResult<RawDecodeStream> {
        let streams = DecodeStreams::continued(states, pending, skip_special_tokens, clean_up);
        let wrong = || bad_argument("states", "a state that no stream has", "one of RawDecodeStream.state");
        Ok(RawDecodeStream::of(streams.ok_or_else(wrong)?, &self.shared))
    }

    /// Return the settings that pad a rectangle: the id, its token, its type id and the side.
    fn filling(&self, pad_tokens: Vec<String>) -> (Option<u32>, &str, u32, &'static str) {
        let Filling { id, token, type_id, direction } = self.tokenizer().filling(&pad_tokens);
        (id, token, type_id, direction.name())
    }

    /// The dropout of a BPE model: the probability that a merge is skipped.
    #[getter]
    fn dropout(&self) -> Option<f64> {
        self.tokenizer().dropout()
    }

    /// Whether the model is BPE of a `tokenizer.json`.
    #[getter]
    fn is_bpe(&self) -> bool {
        self.tokenizer().is_bpe()
    }

    /// Whether the tokenizer neither truncates, nor pads, nor applies dropout.
    #[getter]
    fn is_plain(&self) -> bool {
        self.tokenizer().keeps_rows()
    }

    /// Whether the model scores segmentations (Unigram); samples then follow the scores.
    #[getter]
    fn scores_segmentations(&self) -> bool {
        self.tokenizer().model().scores_segmentations()
    }

    /// Whether the fields of an encoding can be computed after its ids: the tokenizer neither pads, nor applies dropout.
    #[getter]
    fn has_late_fields(&self) -> bool {
        self.tokenizer().has_late_fields()
    }

    /// Return a core with the same tables that encodes by the definition: stage by stage, without a cache.
    fn by_definition(&self) -> Self {
        self.sharing(self.tokenizer().plain())
    }

    /// Return a core whose word caches take at most `bytes` bytes in each thread.
    fn with_word_cache_budget(&self, bytes: usize) -> Self {
        if bytes == self.tokenizer().cache_budget() {
            return Self { shared: Arc::clone(&self.shared) };
        }
        self.sharing(self.tokenizer().clone().with_cache_budget(bytes))
    }

    /// Return a core that truncates encodings by the fields of `Truncation`; None truncates nothing.
    fn with_truncation(&self, settings: Option<Bound<'_, PyAny>>) -> PyResult<Self> {
        let truncation = settings.as_ref().map(settings_of).transpose()?;
        self.with_lengths(truncation, self.tokenizer().padding().cloned())
    }

    /// Return a core that pads encodings by the fields of `Padding`; None pads nothing.
    fn with_padding(&self, settings: Option<Bound<'_, PyAny>>) -> PyResult<Self> {
        let padding = settings.as_ref().map(settings_of).transpose()?;
        self.with_lengths(self.tokenizer().truncation().cloned(), padding)
    }

    /// Whether both cores use the same compiled tables in memory.
    fn shares_tables_with(&self, other: &Self) -> bool {
        self.tokenizer().shares_tables_with(other.tokenizer())
    }

    /// The limit of the word cache of each thread, in bytes.
    #[getter]
    fn cache_budget(&self) -> usize {
        self.tokenizer().cache_budget()
    }

    /// Build every table that calls build late.
    fn warm_up(&self, py: Python<'_>) {
        py.release(|| self.tokenizer().warm_up());
    }

    /// Return the bytes of the shared tables and of the caches of a thread, and the limit of these caches.
    fn memory(&self) -> (usize, usize, usize) {
        let memory = self.tokenizer().memory();
        (memory.tables, memory.caches, memory.budget)
    }

    /// Return the id of a token; None for an unknown one.
    fn token_to_id(&self, token: &str) -> Option<u32> {
        self.tokenizer().id_of(token)
    }

    /// Return the token of an id; None for an unknown one.
    fn id_to_token(&self, id: u32) -> Option<&str> {
        self.tokenizer().token_of(id)
    }

    /// Return the vocabulary as a dict of tokens to ids.
    fn vocab<'py>(&self, py: Python<'py>, with_added_tokens: bool) -> PyResult<Bound<'py, PyDict>> {
        self.tokenizer().entries(with_added_tokens).into_py_dict(py)
    }

    /// Return the special tokens with their ids.
    fn special_tokens<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.tokenizer().special_tokens().into_py_dict(py)
    }

    /// Return the number of vocabulary entries.
    fn vocab_size(&self, with_added_tokens: bool) -> usize {
        self.tokenizer().entry_count(with_added_tokens)
    }

    /// Return the smallest number above all ids.
    #[getter]
    fn id_bound(&self) -> u32 {
        self.tokenizer().id_bound()
    }

    /// Apply the normalizer alone.
    fn normalize(&self, text: &Bound<'_, PyAny>) -> PyResult<String> {
        self.tokenizer().normalize(borrow(text, || "text".into())?).map_err(raise)
    }

    /// Normalize a text; return the index of the original character for each character, and for the end.
    fn normalize_with_offsets(
        &self,
        py: Python<'_>,
        text: &Bound<'_, PyAny>,
    ) -> PyResult<(String, Vec<u32>)> {
        self.compute(py, text, Tokenizer::normalize_with_offsets)
    }

    /// Normalize and split a text; return words with their character offsets in the original text.
    fn pre_tokenize<'py>(&self, text: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let words = self.tokenizer().pre_tokenize(borrow(text, || "text".into())?).map_err(raise)?;
        list_of(text.py(), words.into_iter())
    }
}
