//! Encode and count.

use std::borrow::Cow;

use piecework::{EncodeInput, Tokenizer};

use crate::error::Error;
use crate::options::{self, EncodeSettings, Texts};
use crate::pointers::{In, Out, Str};
use crate::results::{Batch, Encoding};

/// `piecework_segment`.
#[repr(C)]
pub(crate) struct Segment {
    text: Str,
    allow_special: u32,
}

pub(crate) fn ids(
    tokenizer: In<Tokenizer>,
    text: In<u8>,
    text_len: usize,
    settings: In<EncodeSettings>,
    ids: Out<u32>,
    capacity: usize,
) -> Result<usize, Error> {
    let (tokenizer, encoding) = (tokenizer.get("tokenizer")?, options::encoding(&settings)?);
    let text = encoding.texts.read(text.slice(text_len, "text")?, "text")?;
    let write = |found: &[u32]| ids.fill(capacity, found, "ids");
    encoding.cancel.run(|| tokenizer.with_ids(&text, &encoding.options, write))?
}

pub(crate) fn count(
    tokenizer: In<Tokenizer>,
    text: In<u8>,
    text_len: usize,
    settings: In<EncodeSettings>,
) -> Result<usize, Error> {
    let (tokenizer, encoding) = (tokenizer.get("tokenizer")?, options::encoding(&settings)?);
    let text = encoding.texts.read(text.slice(text_len, "text")?, "text")?;
    encoding.cancel.run(|| tokenizer.count_with(&text, &encoding.options))
}

pub(crate) fn text(
    tokenizer: In<Tokenizer>,
    text: In<u8>,
    text_len: usize,
    pair: In<u8>,
    pair_len: usize,
    settings: In<EncodeSettings>,
) -> Result<*mut Encoding, Error> {
    let (tokenizer, encoding) = (tokenizer.get("tokenizer")?, options::encoding(&settings)?);
    let text = encoding.texts.read(text.slice(text_len, "text")?, "text")?;
    let mut input = EncodeInput::from(text);
    if !pair.is_null() || pair_len != 0 {
        input = input.with_pair(encoding.texts.read(pair.slice(pair_len, "pair")?, "pair")?);
    }
    let found = encoding.cancel.run(|| tokenizer.encode_with(input.clone(), &encoding.options))?;
    Ok(Box::into_raw(Box::new(Encoding::new(found, encoding.unit, &input))))
}

pub(crate) fn segments(
    tokenizer: In<Tokenizer>,
    segments: In<Segment>,
    count: usize,
    markers: In<Str>,
    marker_count: usize,
    settings: In<EncodeSettings>,
) -> Result<*mut Encoding, Error> {
    let (tokenizer, encoding) = (tokenizer.get("tokenizer")?, options::of_segments(&settings)?);
    let mut parts = Vec::new();
    for (at, segment) in segments.slice(count, "segments")?.iter().enumerate() {
        let name = format!("segments[{at}]");
        let allow_special = match segment.allow_special {
            0 => false,
            1 => true,
            other => {
                return Err(Error::argument(&name, &format!("{other} in allow_special, expected 0 or 1")));
            }
        };
        parts.push((encoding.texts.read(segment.text.bytes(&name)?, &name)?, allow_special));
    }
    let prompt: String = parts.iter().map(|(text, _)| &**text).collect();
    let found = if markers.is_null() {
        encoding.cancel.run(|| tokenizer.encode_segments(parts))?
    } else {
        let markers = markers.slice(marker_count, "markers")?.iter();
        let markers: Vec<&str> =
            markers.map(|marker| options::string(marker, "markers")).collect::<Result<_, _>>()?;
        encoding.cancel.run(|| tokenizer.encode_segments_with_markers(parts, markers))?
    };
    let mut result = Encoding::new(found.encoding().clone(), encoding.unit, &EncodeInput::from(prompt));
    result.add_segments(found.token_spans());
    Ok(Box::into_raw(Box::new(result)))
}

pub(crate) fn batch(
    tokenizer: In<Tokenizer>,
    texts: In<Str>,
    pairs: In<Str>,
    count: usize,
    settings: In<EncodeSettings>,
) -> Result<*mut Batch, Error> {
    let (tokenizer, encoding) = (tokenizer.get("tokenizer")?, options::encoding(&settings)?);
    let mut inputs: Vec<EncodeInput<'_>> =
        read(&texts, count, encoding.texts, "texts")?.into_iter().map(Into::into).collect();
    if !pairs.is_null() {
        let pairs = read(&pairs, count, encoding.texts, "pairs")?;
        inputs = inputs.into_iter().zip(pairs).map(|(input, pair)| input.with_pair(pair)).collect();
    }
    let found =
        encoding.cancel.run(|| tokenizer.encode_batch_with(inputs.iter().cloned(), &encoding.options))?;
    Ok(Box::into_raw(Box::new(Batch::new(found, encoding.unit, inputs))))
}

pub(crate) fn count_batch(
    tokenizer: In<Tokenizer>,
    texts: In<Str>,
    count: usize,
    settings: In<EncodeSettings>,
    counts: Out<usize>,
) -> Result<bool, Error> {
    let (tokenizer, encoding) = (tokenizer.get("tokenizer")?, options::encoding(&settings)?);
    let texts = read(&texts, count, encoding.texts, "texts")?;
    let found = encoding.cancel.run(|| tokenizer.count_batch_with(texts, &encoding.options))?;
    counts.fill(count, &found, "counts")?;
    Ok(true)
}

/// Return the texts of an array.
fn read<'t>(
    texts: &'t In<Str>,
    count: usize,
    invalid: Texts,
    name: &str,
) -> Result<Vec<Cow<'t, str>>, Error> {
    let read_one = |(at, text): (usize, &'t Str)| {
        text.bytes(name).and_then(|bytes| invalid.read(bytes, name)).map_err(|error| error.of_item(at))
    };
    texts.slice(count, name)?.iter().enumerate().map(read_one).collect()
}
