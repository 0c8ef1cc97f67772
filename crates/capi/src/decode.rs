//! Decode ids, at once or one by one.

use piecework::{DecodeStream, Tokenizer};

use crate::error::Error;
use crate::options::{self, DecodeSettings};
use crate::pointers::{In, InOut, Out, Owned};

pub(crate) fn text(
    tokenizer: In<Tokenizer>,
    ids: In<u32>,
    count: usize,
    settings: In<DecodeSettings>,
    text: Out<u8>,
    capacity: usize,
) -> Result<usize, Error> {
    let (tokenizer, options) = (tokenizer.get("tokenizer")?, options::decoding(&settings)?);
    let found = tokenizer.decode_with(ids.slice(count, "ids")?, &options)?;
    text.fill(capacity, found.as_bytes(), "text")
}

pub(crate) fn bytes(
    tokenizer: In<Tokenizer>,
    ids: In<u32>,
    count: usize,
    bytes: Out<u8>,
    capacity: usize,
) -> Result<usize, Error> {
    let found = tokenizer.get("tokenizer")?.decode_bytes(ids.slice(count, "ids")?)?;
    bytes.fill(capacity, &found, "bytes")
}

/// `piecework_stream`.
pub(crate) struct Stream {
    stream: DecodeStream,
    /// What the last call returned, which the caller reads in place.
    text: String,
}

pub(crate) fn stream(
    tokenizer: In<Tokenizer>,
    prefill: In<u32>,
    count: usize,
    settings: In<DecodeSettings>,
) -> Result<*mut Stream, Error> {
    let (tokenizer, options) = (tokenizer.get("tokenizer")?, options::decoding(&settings)?);
    let stream = tokenizer.decode_stream_with(prefill.slice(count, "prefill")?, &options)?;
    Ok(Box::into_raw(Box::new(Stream { stream, text: String::new() })))
}

pub(crate) fn step(mut stream: InOut<Stream>, id: u32, len: Out<usize>) -> Result<*const u8, Error> {
    let stream = stream.get("stream")?;
    stream.text = stream.stream.step(id)?.unwrap_or_default();
    len.set(stream.text.len());
    Ok(stream.text.as_ptr())
}

pub(crate) fn finish(mut stream: InOut<Stream>, len: Out<usize>) -> Result<*const u8, Error> {
    let stream = stream.get("stream")?;
    stream.text = stream.stream.finish()?.unwrap_or_default();
    len.set(stream.text.len());
    Ok(stream.text.as_ptr())
}

pub(crate) fn stream_free(stream: Owned<Stream>) {
    stream.free();
}
