//! Readers and writers of tokenizer files, except `tokenizer.json`.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use piecework_catch_panics::python;
use piecework_core::engine::Tokenizer;
use piecework_core::error::{Error, ErrorKind};
use piecework_core::spec::{ParseSpecial, PreTokenizerSpec};
use piecework_core::stages::pretokenize::{refuse_empty_matches, without_empty_matches};
use piecework_core::table_sections::Array;
use piecework_formats::{
    cache, clip, detect, gguf, piecework_file, sentencepiece, tekken, tiktoken, tokenizer_json,
    vocab_merges,
};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::core::{compile, make, Core};
use crate::errors::{raise, system_error};
use crate::input::{settings_of, StoredParseSpecial};
use crate::release::ReleaseGil;

/// How ranks split text: a JSON object with a `pre_tokenizer` as in `tokenizer.json`, or regular expressions that split
/// it in turn.
#[derive(FromPyObject)]
pub(crate) enum PipelineArgument {
    Json(PyBackedBytes),
    Patterns(Vec<String>),
}

impl PipelineArgument {
    fn pre_tokenizer(self) -> Result<PreTokenizerSpec, Error> {
        match self {
            Self::Json(json) => pre_tokenizer(&json),
            Self::Patterns(patterns) => {
                let pre_tokenizer = tiktoken::pre_tokenizer(patterns);
                refuse_empty_matches(&pre_tokenizer)?;
                Ok(pre_tokenizer)
            }
        }
    }
}

/// Read `.tiktoken` ranks.
#[python]
pub(crate) fn read_tiktoken(
    py: Python<'_>,
    data: &[u8],
    source: &str,
    pipeline: PipelineArgument,
    special_tokens: Vec<(String, u32)>,
) -> PyResult<Core> {
    let pre_tokenizer = py.release(|| pipeline.pre_tokenizer()).map_err(raise)?;
    make(py, source, || Tokenizer::compile_ranks(tiktoken::read(data, pre_tokenizer, &special_tokens)?))
}

/// Read a `tekken.json`.
#[python]
pub(crate) fn read_tekken(py: Python<'_>, data: &[u8], source: &str) -> PyResult<Core> {
    make(py, source, || {
        let spec = without_empty_matches(tekken::read(data)?, tekken::PATTERN_FIELD)?;
        Tokenizer::compile_ranks(spec)
    })
}

/// Read CLIP's list of merges.
#[python]
pub(crate) fn read_clip(py: Python<'_>, data: &[u8], source: &str) -> PyResult<Core> {
    compile(py, source, || clip::read(data))
}

/// Read `vocab.json` and `merges.txt`; `sources` name them in errors.
#[python]
pub(crate) fn read_vocab_merges(
    py: Python<'_>,
    vocab: &[u8],
    merges: &[u8],
    sources: (String, String),
    pipeline: Option<&[u8]>,
    special_tokens: Option<Vec<String>>,
) -> PyResult<Core> {
    let pre_tokenizer = py.release(|| pipeline.map(pre_tokenizer).transpose()).map_err(raise)?;
    let settings = vocab_merges::Settings { pre_tokenizer, special_tokens };
    let read = || vocab_merges::read(vocab, merges, (&sources.0, &sources.1), settings);
    let spec = py.release(read).map_err(raise)?;
    compile(py, &sources.0, || Ok(spec))
}

/// Write `.tiktoken` ranks.
#[python]
pub(crate) fn write_tiktoken(py: Python<'_>, core: &Core) -> PyResult<Vec<u8>> {
    py.release(|| tiktoken::write(&core.tokenizer().spec())).map_err(raise)
}

/// Write `vocab.json` and `merges.txt`.
#[python]
pub(crate) fn write_vocab_merges(py: Python<'_>, core: &Core) -> PyResult<(Vec<u8>, Vec<u8>)> {
    py.release(|| vocab_merges::write(&core.tokenizer().spec())).map_err(raise)
}

/// Read the pre-tokenizer of a pipeline; a pattern that matches the empty string is an error.
fn pre_tokenizer(pipeline: &[u8]) -> Result<PreTokenizerSpec, Error> {
    let (_, pre_tokenizer) = tokenizer_json::read_splitting_pipeline(pipeline)?;
    refuse_empty_matches(&pre_tokenizer)?;
    Ok(pre_tokenizer)
}

/// Return the name of the format of a file that is not compressed.
#[python]
pub(crate) fn detect_format(py: Python<'_>, data: &[u8]) -> &'static str {
    py.release(|| detect(data)).name()
}

/// Read a `.piecework` file and its `parse_special` setting.
#[python]
pub(crate) fn read_piecework_file(
    py: Python<'_>,
    data: &[u8],
    source: &str,
) -> PyResult<(Core, StoredParseSpecial)> {
    let mut parse_special = ParseSpecial::default();
    let core = compile(py, source, || {
        let (spec, setting) = piecework_file::read(data)?;
        parse_special = setting;
        Ok(spec)
    })?;
    Ok((core, parse_special.into()))
}

/// Write a `.piecework` file.
#[python]
pub(crate) fn write_piecework_file(
    py: Python<'_>,
    core: &Core,
    parse_special: StoredParseSpecial,
) -> PyResult<Vec<u8>> {
    let parse_special = parse_special.checked()?;
    Ok(py.release(|| piecework_file::write(&core.tokenizer().spec(), parse_special)))
}

/// Read a SentencePiece `.model`.
#[python]
pub(crate) fn read_sentencepiece(py: Python<'_>, data: &[u8], source: &str) -> PyResult<Core> {
    compile(py, source, || sentencepiece::read(data))
}

/// Read the charsmap of a `.model`, and the normalizer flags: dummy prefix, extra whitespace, metaspace.
#[python]
pub(crate) fn read_sentencepiece_normalizer<'py>(
    py: Python<'py>,
    data: &[u8],
    source: &str,
) -> PyResult<(Bound<'py, PyBytes>, bool, bool, bool)> {
    let read = sentencepiece::read_rules(data).map_err(|error| raise(error.within(source)))?;
    let charsmap = PyBytes::new(py, &read.charsmap);
    Ok((charsmap, read.add_dummy_prefix, read.remove_extra_whitespaces, read.escape_whitespaces))
}

/// Write a SentencePiece `.model`.
#[python]
pub(crate) fn write_sentencepiece(py: Python<'_>, core: &Core) -> PyResult<Vec<u8>> {
    py.release(|| sentencepiece::write(&core.tokenizer().spec())).map_err(raise)
}

/// Write the pieces of a SentencePiece model with their scores.
#[python]
pub(crate) fn write_sentencepiece_vocab(core: &Core) -> PyResult<Vec<u8>> {
    sentencepiece::write_vocab(&core.tokenizer().spec()).map_err(raise)
}

/// Read pieces with scores or counts.
#[python]
pub(crate) fn read_sentencepiece_vocab(data: &[u8], source: &str) -> PyResult<Vec<(String, f64)>> {
    sentencepiece::read_vocab(data).map_err(|error| raise(error.within(source)))
}

/// Serialize the training settings of a SentencePiece model: lists of names and values.
#[python]
pub(crate) fn sentencepiece_settings(
    trainer: &Bound<'_, PyAny>,
    normalizer: &Bound<'_, PyAny>,
    denormalizer: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<u8>> {
    let (trainer, normalizer): (Vec<_>, Vec<_>) = (settings_of(trainer)?, settings_of(normalizer)?);
    let denormalizer: Option<Vec<_>> = denormalizer.map(settings_of).transpose()?;
    sentencepiece::settings(&trainer, &normalizer, denormalizer.as_deref()).map_err(raise)
}

/// Whether a file begins like a compiled cache.
#[python]
pub(crate) fn is_cache(head: &[u8]) -> bool {
    cache::is_cache(head)
}

/// Return a fingerprint of the source files.
#[python]
pub(crate) fn fingerprint<'py>(py: Python<'py>, sources: Vec<Vec<u8>>) -> Bound<'py, PyBytes> {
    let sources: Vec<&[u8]> = sources.iter().map(Vec::as_slice).collect();
    PyBytes::new(py, &cache::fingerprint(&sources))
}

/// Write a compiled cache.
#[python]
pub(crate) fn write_cache(
    py: Python<'_>,
    core: &Core,
    parse_special: StoredParseSpecial,
    key: &[u8],
) -> PyResult<Vec<u8>> {
    let (tokenizer, parse_special) = (core.tokenizer(), parse_special.checked()?);
    let write = || cache::write(&tokenizer.spec(), &tokenizer.store(), parse_special, key);
    py.release(write).map_err(raise)
}

/// Read a compiled cache and its `parse_special` setting; `None` if it has another key.
#[python]
pub(crate) fn read_cache(
    py: Python<'_>,
    path: PathBuf,
    source: &str,
    key: Option<&[u8]>,
) -> PyResult<Option<(Core, StoredParseSpecial)>> {
    let bytes = py.release(|| read_whole(&path)).map_err(system_error)?;
    let read = || -> Result<_, Error> {
        let cached = cache::read(&bytes)?;
        if key.is_some_and(|key| key != cached.key) {
            return Ok(None);
        }
        let cache::CompiledCache { spec, vocab, parts, read_entries, parse_special, .. } = cached;
        Ok(Some((Tokenizer::restore(spec, vocab, &parts, read_entries)?, parse_special)))
    };
    let found = py.release(read).map_err(|error| raise(error.within(source)))?;
    Ok(found.map(|(tokenizer, parse_special)| (Core::of(tokenizer), parse_special.into())))
}

/// Read a file into memory; a mapped file could change or shrink while it is in use.
fn read_whole(path: &Path) -> std::io::Result<Array<u8>> {
    let mut file = File::open(path)?;
    let len = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
    Array::read(&mut file, len)
}

/// What the name of a pre-tokenizer stands for: a Python object with these attributes. `stages` is JSON with the
/// normalizer and the pre-tokenizer, as in `tokenizer.json`.
#[derive(FromPyObject)]
pub(crate) struct GgufPipeline {
    stages: Vec<u8>,
    ignore_merges: bool,
    add_bos: bool,
    add_sep: bool,
    strips_mask: bool,
}

impl GgufPipeline {
    fn named(self) -> Result<gguf::NamedPipeline, Error> {
        let (normalizer, pre_tokenizer) = tokenizer_json::read_splitting_pipeline(&self.stages)?;
        Ok(gguf::NamedPipeline {
            normalizer,
            pre_tokenizer,
            ignore_merges: self.ignore_merges,
            add_bos: self.add_bos,
            add_sep: self.add_sep,
            strips_mask: self.strips_mask,
        })
    }
}

/// Whether a file begins like a GGUF file.
#[python]
pub(crate) fn is_gguf(head: &[u8]) -> bool {
    gguf::is_gguf(head)
}

/// Return the length of the key-value section of a file, without reading the values.
#[python]
pub(crate) fn gguf_section_length(py: Python<'_>, path: PathBuf, source: &str) -> PyResult<u64> {
    let open = || File::open(&path).and_then(|file| Ok((file.metadata()?.len(), BufReader::new(file))));
    let (len, reader) = py.release(open).map_err(system_error)?;
    py.release(|| gguf::section_len(reader, len)).map_err(|error| match error.kind {
        ErrorKind::File => raise(error.at(source)),
        _ => raise(error.within(source)),
    })
}

/// Return the names of the model and of the pre-tokenizer.
#[python]
pub(crate) fn gguf_names(
    py: Python<'_>,
    data: &[u8],
    source: &str,
) -> PyResult<(&'static str, Option<String>)> {
    let found = py.release(|| gguf::names(data)).map_err(|error| raise(error.within(source)))?;
    Ok((found.model, found.pre))
}

/// Return the names of roles with their tokens.
#[python]
pub(crate) fn gguf_roles(
    py: Python<'_>,
    data: &[u8],
    source: &str,
) -> PyResult<Vec<(&'static str, String)>> {
    py.release(|| gguf::roles(data)).map_err(|error| raise(error.within(source)))
}

/// Return the names of chat templates with their texts.
#[python]
pub(crate) fn gguf_chat_templates(
    py: Python<'_>,
    data: &[u8],
    source: &str,
) -> PyResult<Vec<(String, String)>> {
    py.release(|| gguf::chat_templates(data)).map_err(|error| raise(error.within(source)))
}

/// Read a GGUF file.
#[python]
pub(crate) fn read_gguf(
    py: Python<'_>,
    data: &[u8],
    source: &str,
    pipeline: Option<GgufPipeline>,
    lowercase: Option<bool>,
) -> PyResult<Core> {
    compile(py, source, || {
        let pipeline = pipeline.map(GgufPipeline::named).transpose()?;
        gguf::read(data, pipeline, lowercase)
    })
}

/// Panic, for tests: the panic continues in the Rust code that called the Python function.
///
/// This function alone has no `#[python]`.
#[pyfunction]
pub(crate) fn panic_for_tests() {
    panic!("a panic on purpose");
}

/// Panic while a tokenizer file is read, for tests.
#[python]
pub(crate) fn panic_in_loading_for_tests(py: Python<'_>) -> PyResult<Core> {
    compile(py, "tokenizer.json", || panic!("a panic on purpose"))
}
