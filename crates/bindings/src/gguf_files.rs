//! Readers of GGUF files.

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;

use piecework_catch_panics::python;
use piecework_core::error::{Error, ErrorKind};
use piecework_formats::{gguf, tokenizer_json};
use pyo3::prelude::*;

use crate::core::{compile, Core};
use crate::errors::{raise, system_error};
use crate::release::ReleaseGil;

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
