//! What an `Encoding` makes its columns from.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use numpy::Element;
use piecework_catch_panics::python;
use piecework_core::encoding::{Encoding as Fields, Token, NONE};
use piecework_core::engine::{Input, Options, Scratch, Tokenizer};
use piecework_core::error::Error;
use piecework_core::stages::added_tokens::Selector;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::batch::{LazyArray, RawBatch};
use crate::errors::{bad_argument, raise, wrong_type};
use crate::input::source;
use crate::release::ReleaseGil;
use crate::shared_tokenizer::SharedTokenizer;

/// What an `Encoding` makes its columns from.
pub(super) enum Source {
    /// The text; a second pass aligns the ids with it.
    Text(TextSource),
    /// Every field.
    Fields { tokenizer: Arc<SharedTokenizer>, fields: Fields },
    /// A row of a batch.
    Row(Row),
    /// The lists alone, with the number of sequences if it is known.
    Lists { n_sequences: Option<usize> },
}

impl Source {
    /// Return the string of a token.
    pub(super) fn text_of(&self, py: Python<'_>, token: &Token) -> PyResult<Cow<'_, str>> {
        match self {
            Self::Text(source) => Ok(source.tokenizer.token(token).into()),
            Self::Fields { tokenizer, .. } => Ok(tokenizer.token(token).into()),
            Self::Row(row) if token.attention => {
                let text: Option<String> = row.token_of.call1(py, (token.id,))?.extract(py)?;
                Ok(text.unwrap_or_default().into())
            }
            Self::Row(row) => Ok((&*row.pad_token).into()),
            Self::Lists { .. } => Ok(Cow::default()),
        }
    }
}

/// A row of a batch.
pub(super) struct Row {
    pub(super) batch: Py<RawBatch>,
    pub(super) row: usize,
    /// Maps an id to its token.
    pub(super) token_of: Py<PyAny>,
    pub(super) pad_token: String,
}

impl Row {
    /// Return 1, or 2 if the batch has pairs; `None` for a batch without spans.
    pub(super) fn n_sequences(&self) -> Option<usize> {
        let batch = self.batch.get();
        batch.word_ids.as_ref().map(|_| 1 + usize::from(batch.sequence_ids.is_some()))
    }

    /// Return whether the batch has what a column is made from.
    pub(super) fn has(&self, column: Column) -> bool {
        let batch = self.batch.get();
        match column {
            Column::Tokens | Column::TypeIds | Column::AttentionMask => true,
            Column::Offsets | Column::WordIds | Column::SequenceIds | Column::SpecialTokensMask => {
                batch.offsets.is_some() && batch.word_ids.is_some()
            }
            Column::Overflowing => batch.samples.is_some(),
            Column::Pieces | Column::ByteOffsets | Column::Utf16Offsets => false,
        }
    }

    /// Return the tokens of the row, with defaults for columns that the batch does not have.
    pub(super) fn tokens(&self, py: Python<'_>) -> PyResult<Vec<Token>> {
        let (batch, row) = (self.batch.get(), self.range(py)?);
        let ids = values(py, Some(&batch.ids), &row, 1, 0)?;
        let types = values(py, batch.type_ids.as_ref(), &row, 1, 0)?;
        let mask = values(py, batch.attention_mask.as_ref(), &row, 1, 1)?;
        let offsets = values(py, batch.offsets.as_ref(), &row, 2, 0)?;
        let words = values(py, batch.word_ids.as_ref(), &row, 1, -1)?;
        // Without pairs, every token of a word belongs to sequence 0.
        let sequences = match &batch.sequence_ids {
            Some(sequences) => values(py, Some(sequences), &row, 1, -1)?,
            None => words.iter().map(|&word| if word < 0 { -1 } else { 0 }).collect(),
        };
        let token = |at: usize| Token {
            id: ids[at],
            type_id: types[at].into(),
            start: offsets[2 * at],
            end: offsets[2 * at + 1],
            word: u32::try_from(words[at]).unwrap_or(NONE),
            sequence: u32::try_from(sequences[at]).unwrap_or(NONE),
            spaces: NONE,
            special: sequences[at] < 0,
            attention: mask[at] != 0,
        };
        Ok((0..ids.len()).map(token).collect())
    }

    /// Return the indices of the tokens of the row.
    fn range(&self, py: Python<'_>) -> PyResult<Range<usize>> {
        let bounds = |offsets: &[i64]| Some((*offsets.get(self.row)?, *offsets.get(self.row + 1)?));
        let found = self.batch.get().row_offsets.read(py, bounds)?;
        let range =
            found.and_then(|(start, end)| Some(usize::try_from(start).ok()?..usize::try_from(end).ok()?));
        range.ok_or_else(|| PyIndexError::new_err(self.row))
    }
}

/// Copy the values of a row from a column with `width` values for each token; `default` without a column.
fn values<T: Element + Copy>(
    py: Python<'_>,
    column: Option<&LazyArray<T>>,
    row: &Range<usize>,
    width: usize,
    default: T,
) -> PyResult<Vec<T>> {
    let Some(column) = column else { return Ok(vec![default; row.len() * width]) };
    let of_row = |values: &[T]| Some(values.get(row.start * width..row.end * width)?.to_vec());
    column.read(py, of_row)?.ok_or_else(|| {
        let expected = "ascending offsets up to the number of tokens";
        bad_argument("row_offsets", "an offset beyond the tokens", expected)
    })
}

// A text that is encoded into ids first, and into the other fields at their first use.

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

/// A column of an encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    Tokens,
    Offsets,
    WordIds,
    SequenceIds,
    TypeIds,
    SpecialTokensMask,
    AttentionMask,
    Overflowing,
    Pieces,
    ByteOffsets,
    Utf16Offsets,
}

/// The names of the attributes, in the order of [`Column`].
const NAMES: [&str; 11] = [
    "tokens",
    "offsets",
    "word_ids",
    "sequence_ids",
    "type_ids",
    "special_tokens_mask",
    "attention_mask",
    "overflowing",
    "pieces",
    "byte_offsets",
    "utf16_offsets",
];

impl Column {
    /// The columns that are compared and pickled; the others are computed from these and the text.
    pub(super) const STORED: [Self; 8] = [
        Self::Tokens,
        Self::Offsets,
        Self::WordIds,
        Self::SequenceIds,
        Self::TypeIds,
        Self::SpecialTokensMask,
        Self::AttentionMask,
        Self::Overflowing,
    ];

    /// Return the name of the attribute.
    pub(super) fn name(self) -> &'static str {
        NAMES[self as usize]
    }
}

/// The lists made so far, by column.
#[derive(Default)]
pub(super) struct Lists([OnceLock<Py<PyList>>; NAMES.len()]);

impl Lists {
    /// Return the slot of the list of a column.
    pub(super) fn slot(&self, column: Column) -> &OnceLock<Py<PyList>> {
        &self.0[column as usize]
    }
}

/// Check that a value is a list.
pub(super) fn listed<'py>(value: Bound<'py, PyAny>, name: &str) -> PyResult<Bound<'py, PyList>> {
    value.cast_into::<PyList>().map_err(|error| wrong_type(name.into(), &error.into_inner(), "list"))
}

/// Return the error for a column that a batch does not have.
#[python]
pub(crate) fn missing_column(py: Python<'_>, name: &str) -> Py<PyAny> {
    missing(name).into_value(py).into_any()
}

/// Make the error; it names the call that computes the column.
pub(super) fn missing(name: &str) -> PyErr {
    match name {
        "overflowing" => {
            bad_argument("overflow", "False", "True in encode_batch, which makes a row of each window")
        }
        "byte_offsets" | "utf16_offsets" | "pieces" => {
            let expected = format!("read from encode(text).{name}, as rows of a batch keep no text");
            bad_argument(name, "from a row of a batch", &expected)
        }
        _ => {
            let expected = format!("True in encode_batch, which then keeps {name}");
            bad_argument("offsets", "False", &expected)
        }
    }
}
