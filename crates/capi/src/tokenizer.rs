//! Load, change settings, look up.

use std::path::Path;

use piecework::Tokenizer;

use crate::error::{Error, FAILED};
use crate::options::{self, LoadSettings, PaddingSettings, TruncationSettings};
use crate::pointers::{In, Out, Owned};

pub(crate) fn version() -> *const u8 {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr()
}

fn owned(tokenizer: Tokenizer) -> *mut Tokenizer {
    Box::into_raw(Box::new(tokenizer))
}

pub(crate) fn load_file(
    path: In<u8>,
    path_len: usize,
    settings: In<LoadSettings>,
) -> Result<*mut Tokenizer, Error> {
    let path = path_of(path.slice(path_len, "path")?)?;
    Ok(owned(Tokenizer::from_file_with(path, &options::load(&settings)?)?))
}

#[cfg(unix)]
fn path_of(bytes: &[u8]) -> Result<&Path, Error> {
    use std::os::unix::ffi::OsStrExt;
    Ok(Path::new(std::ffi::OsStr::from_bytes(bytes)))
}

#[cfg(not(unix))]
fn path_of(bytes: &[u8]) -> Result<&Path, Error> {
    std::str::from_utf8(bytes).map(Path::new).map_err(|error| Error::utf8("path", error))
}

pub(crate) fn load_bytes(
    bytes: In<u8>,
    len: usize,
    settings: In<LoadSettings>,
) -> Result<*mut Tokenizer, Error> {
    let bytes = bytes.slice(len, "bytes")?;
    Ok(owned(Tokenizer::from_bytes_with(bytes, &options::load(&settings)?)?))
}

pub(crate) fn with_truncation(
    tokenizer: In<Tokenizer>,
    settings: In<TruncationSettings>,
) -> Result<*mut Tokenizer, Error> {
    let tokenizer = tokenizer.get("tokenizer")?;
    Ok(owned(match options::truncation(&settings)? {
        Some(truncation) => tokenizer.with_truncation(truncation)?,
        None => tokenizer.without_truncation()?,
    }))
}

pub(crate) fn with_padding(
    tokenizer: In<Tokenizer>,
    settings: In<PaddingSettings>,
) -> Result<*mut Tokenizer, Error> {
    let tokenizer = tokenizer.get("tokenizer")?;
    Ok(owned(match options::padding(&settings)? {
        Some(padding) => tokenizer.with_padding(padding)?,
        None => tokenizer.without_padding()?,
    }))
}

pub(crate) fn free(tokenizer: Owned<Tokenizer>) {
    tokenizer.free();
}

pub(crate) fn warm_up(tokenizer: In<Tokenizer>) {
    if let Some(tokenizer) = tokenizer.get_or_null() {
        tokenizer.warm_up();
    }
}

pub(crate) fn fingerprint(
    tokenizer: In<Tokenizer>,
    digits: Out<u8>,
    capacity: usize,
) -> Result<usize, Error> {
    let fingerprint = tokenizer.get("tokenizer")?.fingerprint();
    digits.fill(capacity, fingerprint.as_bytes(), "digits")
}

pub(crate) fn vocab_size(tokenizer: In<Tokenizer>) -> usize {
    tokenizer.get_or_null().map_or(0, Tokenizer::vocab_size)
}

pub(crate) fn token_to_id(tokenizer: In<Tokenizer>, token: In<u8>, len: usize, id: Out<u32>) -> bool {
    let token = token.slice(len, "token").ok().and_then(|bytes| std::str::from_utf8(bytes).ok());
    let found = tokenizer.get_or_null().zip(token).and_then(|(found, token)| found.token_to_id(token));
    if let Some(found) = found {
        id.set(found);
    }
    found.is_some()
}

pub(crate) fn id_to_token(tokenizer: In<Tokenizer>, id: u32, len: Out<usize>) -> *const u8 {
    let token = tokenizer.get_or_null().and_then(|tokenizer| tokenizer.id_to_token(id));
    len.set(token.map_or(0, str::len));
    token.map_or(std::ptr::null(), str::as_ptr)
}

pub(crate) fn token_bytes(tokenizer: In<Tokenizer>, id: u32, bytes: Out<u8>, capacity: usize) -> usize {
    let found = tokenizer.get_or_null().and_then(|tokenizer| tokenizer.token_bytes(id));
    found.and_then(|found| bytes.fill(capacity, &found, "bytes").ok()).unwrap_or(FAILED)
}
