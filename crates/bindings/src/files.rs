//! Readers and writers of tokenizer files, except `tokenizer.json`.

use piecework_catch_panics::python;
use piecework_core::engine::Tokenizer;
use piecework_core::error::Error;
use piecework_core::spec::{ParseSpecial, PreTokenizerSpec};
use piecework_core::stages::pretokenize::{refuse_empty_matches, without_empty_matches};
use piecework_formats::{
    clip, detect, piecework_file, sentencepiece, tekken, tiktoken, tokenizer_json, vocab_merges,
};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::core::{compile, make, Core};
use crate::errors::raise;
use crate::options::{settings_of, StoredParseSpecial};
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
