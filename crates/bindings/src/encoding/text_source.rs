//! A text that is encoded into ids first, and into the other fields at their first use.

use std::sync::{Arc, OnceLock};

use piecework_core::encoding::Encoding as Fields;
use piecework_core::engine::{Input, Options, Scratch, Tokenizer};
use piecework_core::error::Error;
use piecework_core::stages::added_tokens::Selector;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::errors::raise;
use crate::input::source;
use crate::release::ReleaseGil;
use crate::shared_tokenizer::SharedTokenizer;

/// The size below which texts are encoded without releasing the GIL.
const SHORT_TEXT_BYTES: usize = 1024;

/// The settings with which a text was encoded into ids.
pub(super) struct TextSource {
    pub(super) tokenizer: Arc<SharedTokenizer>,
    add_special_tokens: bool,
    parse_special: bool,
    /// The checksum of the ids, which reveals later changes of the list.
    checksum: u64,
    /// Every field, after the second pass.
    fields: OnceLock<Box<Fields>>,
}

impl TextSource {
    /// Encode a text into its list of ids, without padding.
    #[inline]
    pub(super) fn encode<'py>(
        tokenizer: &Arc<SharedTokenizer>,
        text: &Bound<'py, PyAny>,
        add_special_tokens: bool,
        parse_special: bool,
    ) -> PyResult<(Bound<'py, PyList>, Self)> {
        let (ids, checksum) = ids_of(tokenizer, text, add_special_tokens, parse_special)?;
        let (tokenizer, fields) = (Arc::clone(tokenizer), OnceLock::new());
        Ok((ids, Self { tokenizer, add_special_tokens, parse_special, checksum, fields }))
    }

    /// Return every field of the text, given its list of ids; a second pass assigns the ids to the text.
    pub(super) fn fields(
        &self,
        py: Python<'_>,
        ids: &Py<PyList>,
        text: Option<&Py<PyAny>>,
    ) -> PyResult<&Fields> {
        if let Some(fields) = self.fields.get() {
            return Ok(fields);
        }
        let ids: Vec<u32> = ids.extract(py).unwrap_or_default();
        let is_unchanged = checksum(&ids) == self.checksum;
        let fields = self.compute(py, text, |tokenizer, text, options, scratch| {
            if is_unchanged && !tokenizer.truncates() {
                tokenizer.encode_from_ids(text, &ids, options, scratch)
            } else {
                tokenizer.encode_kept(Input::Text(text), options, scratch)
            }
        })?;
        Ok(self.fields.get_or_init(|| Box::new(fields)))
    }

    /// Return the fields of the windows that truncation cuts off: the whole text is encoded.
    pub(super) fn windows(&self, py: Python<'_>, text: Option<&Py<PyAny>>) -> PyResult<Vec<Fields>> {
        if !self.tokenizer.tokenizer().truncates() {
            return Ok(Vec::new());
        }
        let whole = self.compute(py, text, |tokenizer, text, options, scratch| {
            tokenizer.encode(Input::Text(text), None, options, scratch)
        })?;
        Ok(whole.overflowing)
    }

    /// Call `work` with the text and the settings.
    fn compute(
        &self,
        py: Python<'_>,
        text: Option<&Py<PyAny>>,
        work: impl Fn(&Tokenizer, &str, Options<'_>, &mut Scratch) -> Result<Fields, Error> + Sync,
    ) -> PyResult<Fields> {
        let text = text.map_or_else(|| py.None(), |text| text.clone_ref(py));
        let parse_special = &selector(self.parse_special);
        let options =
            Options { add_special_tokens: self.add_special_tokens, parse_special, sampling: None };
        self.tokenizer
            .compute(py, text.bind(py), |tokenizer, text, scratch| work(tokenizer, text, options, scratch))
    }
}

/// Return the selector of all special tokens or of none.
fn selector(parse_special: bool) -> Selector {
    if parse_special {
        Selector::All
    } else {
        Selector::only(Vec::new())
    }
}

/// Return a checksum of ids; different ids rarely have the same one.
fn checksum(ids: &[u32]) -> u64 {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    ids.iter().fold(ids.len() as u64, |sum, &id| (sum.rotate_left(5) ^ u64::from(id)).wrapping_mul(FACTOR))
}

/// Encode a text into a list of ids without padding; also return their checksum.
#[inline]
fn ids_of<'py>(
    tokenizer: &SharedTokenizer,
    text: &Bound<'py, PyAny>,
    add_special_tokens: bool,
    parse_special: bool,
) -> PyResult<(Bound<'py, PyList>, u64)> {
    let py = text.py();
    let source = source(text, || "text".into())?;
    let parse_special = &selector(parse_special);
    let options = Options { add_special_tokens, parse_special, sampling: None };
    // Releasing the GIL takes as long as encoding a short text does.
    if source.bytes() < SHORT_TEXT_BYTES {
        let list = |ids: &[u32]| Ok((tokenizer.numbers.list(py, ids.iter().copied())?, checksum(ids)));
        return tokenizer.encoder.ids(source, options, list).map_err(raise)?;
    }
    let ids = py.release(|| tokenizer.encoder.ids(source, options, <[u32]>::to_vec)).map_err(raise)?;
    let checksum = checksum(&ids);
    Ok((tokenizer.numbers.list(py, ids.into_iter())?, checksum))
}
