//! The columns of an `Encoding` beside its ids, as lists that are made when they are first read.

use std::sync::OnceLock;

use piecework_core::encoding::{Encoding as Fields, NONE};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

use super::missing::missing;
use super::{Encoding, Source};
use crate::core::Core;
use crate::errors::wrong_type;

/// A column of an encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    Tokens,
    Offsets,
    WordIds,
    SequenceIds,
    TypeIds,
    SpecialTokensMask,
    AttentionMask,
    Overflowing,
    ByteOffsets,
    Utf16Offsets,
}

impl Column {
    /// The columns that are compared and pickled; the others are computed from these and the text.
    pub(crate) const STORED: [Self; 8] = [
        Self::Tokens,
        Self::Offsets,
        Self::WordIds,
        Self::SequenceIds,
        Self::TypeIds,
        Self::SpecialTokensMask,
        Self::AttentionMask,
        Self::Overflowing,
    ];

    /// The name of the attribute.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Tokens => "tokens",
            Self::Offsets => "offsets",
            Self::WordIds => "word_ids",
            Self::SequenceIds => "sequence_ids",
            Self::TypeIds => "type_ids",
            Self::SpecialTokensMask => "special_tokens_mask",
            Self::AttentionMask => "attention_mask",
            Self::Overflowing => "overflowing",
            Self::ByteOffsets => "byte_offsets",
            Self::Utf16Offsets => "utf16_offsets",
        }
    }
}

/// Where a token comes from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    /// 0 for the text, 1 for its pair.
    pub(super) sequence: usize,
    /// The index of the pre-tokenized word that the offsets count in, 0 for a text.
    pub(super) word: usize,
    /// The characters that it covers, from the first to the one after the last.
    pub(super) chars: (usize, usize),
}

/// The lists that have been made, by column.
#[derive(Default)]
pub(super) struct Lists([OnceLock<Py<PyList>>; 10]);

impl Lists {
    /// The place of the list of a column.
    pub(super) fn slot(&self, column: Column) -> &OnceLock<Py<PyList>> {
        &self.0[column as usize]
    }
}

impl Encoding {
    /// A column, made when it is first read; `None` for one that a batch did not keep.
    pub(super) fn find<'py>(
        &self,
        py: Python<'py>,
        column: Column,
    ) -> PyResult<Option<&Bound<'py, PyList>>> {
        let slot = self.lists.get_or_init(Box::default).slot(column);
        if let Some(list) = slot.get() {
            return Ok(Some(list.bind(py)));
        }
        let Some(list) = self.made(py, column)? else { return Ok(None) };
        Ok(Some(slot.get_or_init(|| list.unbind()).bind(py)))
    }

    /// A column; an error for one that a batch did not keep.
    pub(super) fn column<'py>(&self, py: Python<'py>, column: Column) -> PyResult<&Bound<'py, PyList>> {
        self.find(py, column)?.ok_or_else(|| missing(column.name()))
    }

    fn made<'py>(&self, py: Python<'py>, column: Column) -> PyResult<Option<Bound<'py, PyList>>> {
        if let Column::ByteOffsets | Column::Utf16Offsets = column {
            return self.offsets_in(py, column);
        }
        match &self.source {
            Source::Text(source) => self
                .list_of_fields(
                    source.core.bind(py),
                    source.fields(py, &self.ids, self.text.as_ref())?,
                    column,
                )
                .map(Some),
            Source::Fields { core, fields } => self.list_of_fields(core.bind(py), fields, column).map(Some),
            Source::Row(row) => row.list(py, column),
            Source::Lists { .. } => Ok(None),
        }
    }

    fn list_of_fields<'py>(
        &self,
        core: &Bound<'py, Core>,
        fields: &Fields,
        column: Column,
    ) -> PyResult<Bound<'py, PyList>> {
        let (py, tokens) = (core.py(), &fields.tokens);
        let known = |value: u32| Some(value).filter(|&value| value != NONE);
        match column {
            Column::Tokens => PyList::new(py, tokens.iter().map(|token| core.get().token(token))),
            Column::WordIds => PyList::new(py, tokens.iter().map(|token| known(token.word))),
            Column::SequenceIds => PyList::new(py, tokens.iter().map(|token| known(token.sequence))),
            Column::TypeIds => PyList::new(py, tokens.iter().map(|token| token.type_id)),
            Column::SpecialTokensMask => {
                PyList::new(py, tokens.iter().map(|token| u32::from(token.special)))
            }
            Column::AttentionMask => PyList::new(py, tokens.iter().map(|token| u32::from(token.attention))),
            Column::Overflowing => {
                let window = |fields: &Fields| {
                    let copied = |text: &Option<Py<PyAny>>| text.as_ref().map(|text| text.clone_ref(py));
                    let (text, pair) = (copied(&self.text), copied(&self.pair));
                    Bound::new(py, Self::of_fields(core, fields.clone(), text, pair)?)
                };
                let windows = fields.overflowing.iter().map(window).collect::<PyResult<Vec<_>>>()?;
                PyList::new(py, windows)
            }
            Column::Offsets | Column::ByteOffsets | Column::Utf16Offsets => {
                PyList::new(py, tokens.iter().map(|token| (token.start, token.end)))
            }
        }
    }

    /// The offsets converted to another unit; `None` without a text.
    fn offsets_in<'py>(&self, py: Python<'py>, column: Column) -> PyResult<Option<Bound<'py, PyList>>> {
        if self.text.is_none() {
            return Ok(None);
        }
        let mut counts = Counts { units: column, last: None };
        let converted = |at: usize| {
            let Some(Origin { sequence, word, chars: (start, end) }) = self.origin(py, at)? else {
                return Ok((0, 0));
            };
            let units = counts.before_chars((sequence, word), || self.text_of(py, sequence, word))?;
            let count = |char: usize| units.get(char).copied().unwrap_or_default();
            Ok((count(start), count(end)))
        };
        let offsets = (0..self.ids.bind(py).len()).map(converted).collect::<PyResult<Vec<_>>>()?;
        PyList::new(py, offsets).map(Some)
    }

    /// Where a token comes from; `None` for template tokens.
    pub(super) fn origin(&self, py: Python<'_>, token: usize) -> PyResult<Option<Origin>> {
        let sequence: Option<usize> = item(self.column(py, Column::SequenceIds)?, token)?;
        let Some(sequence) = sequence else { return Ok(None) };
        let word = match self.given(py, sequence) {
            Some(given) if !given.is_instance_of::<PyString>() => {
                item::<Option<usize>>(self.column(py, Column::WordIds)?, token)?.unwrap_or(0)
            }
            _ => 0,
        };
        let chars = item(self.column(py, Column::Offsets)?, token)?;
        Ok(Some(Origin { sequence, word, chars }))
    }

    /// The text or the words of a sequence.
    fn given<'py>(&self, py: Python<'py>, sequence: usize) -> Option<&Bound<'py, PyAny>> {
        let given = if sequence == 0 { &self.text } else { &self.pair };
        given.as_ref().map(|given| given.bind(py))
    }

    /// The text that the offsets of a word count in.
    fn text_of(&self, py: Python<'_>, sequence: usize, word: usize) -> PyResult<String> {
        let Some(given) = self.given(py, sequence) else { return Ok(String::new()) };
        if given.is_instance_of::<PyString>() {
            return given.extract();
        }
        given.get_item(word)?.extract()
    }

    /// The texts of a sequence: the text, or its words.
    pub(super) fn texts_of(&self, py: Python<'_>, sequence: usize) -> PyResult<Vec<Vec<char>>> {
        let texts: Vec<String> = match self.given(py, sequence) {
            None => Vec::new(),
            Some(given) if given.is_instance_of::<PyString>() => vec![given.extract()?],
            Some(given) => given.extract()?,
        };
        Ok(texts.iter().map(|text| text.chars().collect()).collect())
    }

    pub(super) fn sequence_count(&self, py: Python<'_>) -> PyResult<Option<usize>> {
        match (&self.text, &self.pair, &self.source) {
            (Some(_), pair, _) => Ok(Some(1 + usize::from(pair.is_some()))),
            (None, _, Source::Row(row)) => row.n_sequences(py),
            (None, _, Source::Lists { n_sequences }) => Ok(*n_sequences),
            (None, ..) => Ok(None),
        }
    }

    /// Every column that there is, by name.
    pub(super) fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        columns.set_item("ids", self.ids.bind(py))?;
        for column in Column::STORED {
            match self.find(py, column)? {
                Some(list) => columns.set_item(column.name(), list)?,
                // A text that was not truncated has no windows, whether or not a batch kept them.
                None if column == Column::Overflowing => {
                    columns.set_item(column.name(), PyList::empty(py))?;
                }
                None => {}
            }
        }
        if let Some(n_sequences) = self.sequence_count(py)? {
            columns.set_item("n_sequences", n_sequences)?;
        }
        Ok(columns)
    }

    /// The first tokens of a sequence that satisfy a test on their word and their characters.
    pub(super) fn tokens_where(
        &self,
        py: Python<'_>,
        sequence_index: usize,
        limit: usize,
        is_wanted: impl Fn(Option<usize>, (usize, usize)) -> bool,
    ) -> PyResult<Vec<usize>> {
        let (offsets, words) = (self.column(py, Column::Offsets)?, self.column(py, Column::WordIds)?);
        let sequences = self.column(py, Column::SequenceIds)?;
        let mut found = Vec::new();
        for token in 0..sequences.len() {
            let is_of_sequence = item::<Option<usize>>(sequences, token)? == Some(sequence_index);
            if is_of_sequence && is_wanted(item(words, token)?, item(offsets, token)?) {
                found.push(token);
            }
            if found.len() == limit {
                break;
            }
        }
        Ok(found)
    }
}

/// Counts units before each character of one text after the other, and keeps the counts of the last text.
struct Counts {
    units: Column,
    last: Option<((usize, usize), Vec<usize>)>,
}

impl Counts {
    /// The units before each character of a text, and at its end.
    fn before_chars(
        &mut self,
        key: (usize, usize),
        text: impl FnOnce() -> PyResult<String>,
    ) -> PyResult<&[usize]> {
        if self.last.as_ref().is_none_or(|(last, _)| *last != key) {
            let is_utf16 = self.units == Column::Utf16Offsets;
            let size = |c: char| if is_utf16 { c.len_utf16() } else { c.len_utf8() };
            let text = text()?;
            let ends = text.chars().scan(0, |end, c| {
                *end += size(c);
                Some(*end)
            });
            self.last = Some((key, std::iter::once(0).chain(ends).collect()));
        }
        Ok(self.last.as_ref().map_or(&[], |(_, counts)| counts.as_slice()))
    }
}

pub(super) fn listed<'py>(value: Bound<'py, PyAny>, name: &str) -> PyResult<Bound<'py, PyList>> {
    value.cast_into::<PyList>().map_err(|error| wrong_type(name.into(), &error.into_inner(), "list"))
}

pub(super) fn item<'py, T: for<'a> FromPyObject<'a, 'py>>(
    list: &Bound<'py, PyList>,
    at: usize,
) -> PyResult<T> {
    list.get_item(at)?.extract().map_err(Into::into)
}

pub(super) fn optional_item(list: &Bound<'_, PyList>, at: isize) -> PyResult<Option<usize>> {
    match usize::try_from(at).ok().filter(|&at| at < list.len()) {
        Some(at) => item(list, at),
        None => Ok(None),
    }
}
