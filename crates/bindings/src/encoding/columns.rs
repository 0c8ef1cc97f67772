//! The columns of an `Encoding` other than its ids, as lists that are made at their first use.

use std::sync::OnceLock;

use piecework_core::encoding::{Encoding as Fields, NONE};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

use super::missing::missing;
use super::unit_counts::UnitCounts;
use super::{Column, Encoding, Source};
use crate::core::Core;
use crate::errors::wrong_type;

/// The word and the characters that a token covers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    /// 0 for the text, 1 for its pair.
    pub(super) sequence: usize,
    /// The index of the pre-tokenized word that the offsets refer to, 0 for a text.
    pub(super) word: usize,
    /// The first character, and the one after the last.
    pub(super) chars: (usize, usize),
}

/// The lists made so far, by column.
#[derive(Default)]
pub(super) struct Lists([OnceLock<Py<PyList>>; 10]);

impl Lists {
    /// Return the slot of the list of a column.
    pub(super) fn slot(&self, column: Column) -> &OnceLock<Py<PyList>> {
        &self.0[column as usize]
    }
}

impl Encoding {
    /// Return a column, which is made at its first use; `None` for a column that a batch does not have.
    pub(super) fn find<'py>(
        &self,
        py: Python<'py>,
        column: Column,
    ) -> PyResult<Option<&Bound<'py, PyList>>> {
        let slot = self.lists.get_or_init(Box::default).slot(column);
        if let Some(list) = slot.get() {
            return Ok(Some(list.bind(py)));
        }
        let Some(list) = self.make(py, column)? else { return Ok(None) };
        Ok(Some(slot.get_or_init(|| list.unbind()).bind(py)))
    }

    /// Return a column; a column that a batch does not have is an error.
    pub(super) fn column<'py>(&self, py: Python<'py>, column: Column) -> PyResult<&Bound<'py, PyList>> {
        self.find(py, column)?.ok_or_else(|| missing(column.name()))
    }

    /// Make the list of a column.
    fn make<'py>(&self, py: Python<'py>, column: Column) -> PyResult<Option<Bound<'py, PyList>>> {
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

    /// Make the list of a column from the fields of an encoding.
    fn list_of_fields<'py>(
        &self,
        core: &Bound<'py, Core>,
        fields: &Fields,
        column: Column,
    ) -> PyResult<Bound<'py, PyList>> {
        let (py, tokens) = (core.py(), &fields.tokens);
        let unless_none = |value: u32| Some(value).filter(|&value| value != NONE);
        match column {
            Column::Tokens => PyList::new(py, tokens.iter().map(|token| core.get().token(token))),
            Column::WordIds => PyList::new(py, tokens.iter().map(|token| unless_none(token.word))),
            Column::SequenceIds => PyList::new(py, tokens.iter().map(|token| unless_none(token.sequence))),
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

    /// Return the offsets in another unit; `None` without a text.
    fn offsets_in<'py>(&self, py: Python<'py>, column: Column) -> PyResult<Option<Bound<'py, PyList>>> {
        if self.text.is_none() {
            return Ok(None);
        }
        let mut counts = UnitCounts::of(column);
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

    /// Return the origin of a token; `None` for template tokens.
    pub(super) fn origin(&self, py: Python<'_>, token: usize) -> PyResult<Option<Origin>> {
        let sequence: Option<usize> = item(self.column(py, Column::SequenceIds)?, token)?;
        let Some(sequence) = sequence else { return Ok(None) };
        let word = match self.input(py, sequence) {
            Some(input) if !input.is_instance_of::<PyString>() => {
                item::<Option<usize>>(self.column(py, Column::WordIds)?, token)?.unwrap_or(0)
            }
            _ => 0,
        };
        let chars = item(self.column(py, Column::Offsets)?, token)?;
        Ok(Some(Origin { sequence, word, chars }))
    }

    /// Return the text or the words of a sequence.
    fn input<'py>(&self, py: Python<'py>, sequence: usize) -> Option<&Bound<'py, PyAny>> {
        let input = if sequence == 0 { &self.text } else { &self.pair };
        input.as_ref().map(|input| input.bind(py))
    }

    /// Return the text that the offsets of a word refer to.
    fn text_of(&self, py: Python<'_>, sequence: usize, word: usize) -> PyResult<String> {
        let Some(input) = self.input(py, sequence) else { return Ok(String::new()) };
        if input.is_instance_of::<PyString>() {
            return input.extract();
        }
        input.get_item(word)?.extract()
    }

    /// Return the texts of a sequence: the text, or its words.
    pub(super) fn texts_of(&self, py: Python<'_>, sequence: usize) -> PyResult<Vec<Vec<char>>> {
        let texts: Vec<String> = match self.input(py, sequence) {
            None => Vec::new(),
            Some(input) if input.is_instance_of::<PyString>() => vec![input.extract()?],
            Some(input) => input.extract()?,
        };
        Ok(texts.iter().map(|text| text.chars().collect()).collect())
    }

    /// Return the number of sequences, if it is known.
    pub(super) fn sequence_count(&self, py: Python<'_>) -> PyResult<Option<usize>> {
        match (&self.text, &self.pair, &self.source) {
            (Some(_), pair, _) => Ok(Some(1 + usize::from(pair.is_some()))),
            (None, _, Source::Row(row)) => row.n_sequences(py),
            (None, _, Source::Lists { n_sequences }) => Ok(*n_sequences),
            (None, ..) => Ok(None),
        }
    }

    /// Return every column that the encoding has, by name.
    pub(super) fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        columns.set_item("ids", self.ids.bind(py))?;
        for column in Column::STORED {
            match self.find(py, column)? {
                Some(list) => columns.set_item(column.name(), list)?,
                // A text that was not truncated has no windows, with or without `overflow`.
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

    /// Return the first `limit` tokens of a sequence whose word and characters satisfy a predicate.
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

/// Check that a value is a list.
pub(super) fn listed<'py>(value: Bound<'py, PyAny>, name: &str) -> PyResult<Bound<'py, PyList>> {
    value.cast_into::<PyList>().map_err(|error| wrong_type(name.into(), &error.into_inner(), "list"))
}

/// Return an item of a list.
pub(super) fn item<'py, T: for<'a> FromPyObject<'a, 'py>>(
    list: &Bound<'py, PyList>,
    at: usize,
) -> PyResult<T> {
    list.get_item(at)?.extract().map_err(Into::into)
}

/// Return an item of a list; `None` if the index is out of range.
pub(super) fn optional_item(list: &Bound<'_, PyList>, at: isize) -> PyResult<Option<usize>> {
    match usize::try_from(at).ok().filter(|&at| at < list.len()) {
        Some(at) => item(list, at),
        None => Ok(None),
    }
}
