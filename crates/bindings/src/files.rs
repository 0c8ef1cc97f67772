//! Readers and writers of tokenizer files, except `tokenizer.json`.

use piecework_catch_panics::catch_panics;
use piecework_core::error::{Error, ErrorKind};
use piecework_core::spec::{PreTokenizerSpec, TokenizerSpec};
use piecework_core::stages::pretokenize::refuse_empty_matches;
use piecework_formats::{clip, sentencepiece, tekken, tiktoken, tokenizer_json, vocab_merges};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::core::{compile, Core};
use crate::errors::raise;
use crate::release::ReleaseGil;

/// Read `.tiktoken` ranks; `pipeline` is an object with a `pre_tokenizer` as in `tokenizer.json`.
#[catch_panics]
#[pyfunction]
pub(crate) fn read_tiktoken(
    py: Python<'_>,
    data: &[u8],
    source: &str,
    pipeline: &[u8],
    special_tokens: Vec<(String, u32)>,
) -> PyResult<Core> {
    let pre_tokenizer = py.release(|| pre_tokenizer(pipeline)).map_err(raise)?;
    compile(py, source, || tiktoken::read(data, pre_tokenizer, &special_tokens))
}

/// Read a `tekken.json`.
#[catch_panics]
#[pyfunction]
pub(crate) fn read_tekken(py: Python<'_>, data: &[u8], source: &str) -> PyResult<Core> {
    compile(py, source, || tekken::read(data).and_then(checked))
}

/// Read CLIP's list of merges.
#[catch_panics]
#[pyfunction]
pub(crate) fn read_clip(py: Python<'_>, data: &[u8], source: &str) -> PyResult<Core> {
    compile(py, source, || clip::read(data))
}

/// Read `vocab.json` and `merges.txt`; `sources` name them in errors.
#[catch_panics]
#[pyfunction]
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
#[catch_panics]
#[pyfunction]
pub(crate) fn write_tiktoken(py: Python<'_>, core: &Core) -> PyResult<Vec<u8>> {
    py.release(|| tiktoken::write(&core.encoder.tokenizer().spec())).map_err(raise)
}

/// Write `vocab.json` and `merges.txt`.
#[catch_panics]
#[pyfunction]
pub(crate) fn write_vocab_merges(py: Python<'_>, core: &Core) -> PyResult<(Vec<u8>, Vec<u8>)> {
    py.release(|| vocab_merges::write(&core.encoder.tokenizer().spec())).map_err(raise)
}

/// Read the pre-tokenizer of a pipeline; a pattern that matches the empty string is an error.
fn pre_tokenizer(pipeline: &[u8]) -> Result<PreTokenizerSpec, Error> {
    let (_, pre_tokenizer) = tokenizer_json::read_pipeline(pipeline, &[])?;
    let pre_tokenizer = pre_tokenizer
        .ok_or_else(|| Error::new(ErrorKind::Argument, "pattern", "nothing", "a pre-tokenizer"))?;
    refuse_empty_matches(&pre_tokenizer)?;
    Ok(pre_tokenizer)
}

/// Check the pattern of a `tekken.json`.
fn checked(spec: TokenizerSpec) -> Result<TokenizerSpec, Error> {
    let checked = spec.pre_tokenizer.as_ref().map_or(Ok(()), refuse_empty_matches);
    checked.map_err(|error| Error { place: "config.pattern".into(), ..error })?;
    Ok(spec)
}

/// Whether a file begins like a SentencePiece `.model`.
#[catch_panics]
#[pyfunction]
pub(crate) fn is_sentencepiece(data: &[u8]) -> bool {
    sentencepiece::is_model(data)
}

/// Read a SentencePiece `.model`.
#[catch_panics]
#[pyfunction]
pub(crate) fn read_sentencepiece(py: Python<'_>, data: &[u8], source: &str) -> PyResult<Core> {
    compile(py, source, || sentencepiece::read(data))
}

/// Read the charsmap of a `.model`, and the normalizer flags: dummy prefix, extra whitespace, metaspace.
#[catch_panics]
#[pyfunction]
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
#[catch_panics]
#[pyfunction]
pub(crate) fn write_sentencepiece(py: Python<'_>, core: &Core) -> PyResult<Vec<u8>> {
    py.release(|| sentencepiece::write(&core.encoder.tokenizer().spec())).map_err(raise)
}

/// Write the pieces of a SentencePiece model with their scores.
#[catch_panics]
#[pyfunction]
pub(crate) fn write_sentencepiece_vocab(core: &Core) -> PyResult<Vec<u8>> {
    sentencepiece::write_vocab(&core.encoder.tokenizer().spec()).map_err(raise)
}

/// Read pieces with scores or counts.
#[catch_panics]
#[pyfunction]
pub(crate) fn read_sentencepiece_vocab(data: &[u8], source: &str) -> PyResult<Vec<(String, f64)>> {
    sentencepiece::read_vocab(data).map_err(|error| raise(error.within(source)))
}

/// A setting of SentencePiece's trainer or normalizer: a number, a string or a list of strings.
#[derive(FromPyObject)]
pub(crate) enum SettingArgument {
    Integer(i64),
    Float(f64),
    Text(String),
    Texts(Vec<String>),
}

impl From<SettingArgument> for sentencepiece::Setting {
    fn from(argument: SettingArgument) -> Self {
        match argument {
            SettingArgument::Integer(value) => Self::Integer(value),
            SettingArgument::Float(value) => Self::Float(value as f32),
            SettingArgument::Text(text) => Self::Text(text),
            SettingArgument::Texts(texts) => Self::Texts(texts),
        }
    }
}

/// Settings with their names.
type SettingArguments = Vec<(String, SettingArgument)>;

/// Serialize the training settings of a SentencePiece model.
#[catch_panics]
#[pyfunction]
pub(crate) fn sentencepiece_settings(
    trainer: SettingArguments,
    normalizer: SettingArguments,
    denormalizer: Option<SettingArguments>,
) -> PyResult<Vec<u8>> {
    let convert = |arguments: SettingArguments| {
        arguments.into_iter().map(|(name, setting)| (name, setting.into())).collect::<Vec<_>>()
    };
    let denormalizer = denormalizer.map(convert);
    sentencepiece::settings(&convert(trainer), &convert(normalizer), denormalizer.as_deref()).map_err(raise)
}
