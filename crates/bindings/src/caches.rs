//! Compiled caches: files with the specification and the compiled tables of a tokenizer.

use std::fs::File;
use std::path::{Path, PathBuf};

use piecework_catch_panics::python;
use piecework_core::engine::Tokenizer;
use piecework_core::error::Error;
use piecework_core::table_sections::Array;
use piecework_formats::cache;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::core::Core;
use crate::errors::{raise, system_error};
use crate::options::StoredParseSpecial;
use crate::release::ReleaseGil;

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
