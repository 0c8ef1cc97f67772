//! The columns of an `Encoding` other than its ids, as lists that are made at their first use.

use std::sync::Arc;

use piecework_core::encoding::{Encoding as Fields, NONE};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

use super::lists::item;
use super::missing::missing;
use super::origin::Origin;
use super::source::Source;
use super::unit_counts::UnitCounts;
use super::{Column, Encoding};
use crate::shared_tokenizer::SharedTokenizer;

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
        if column == Column::Pieces {
            return self.unknown_as_text(py);
        }
        match &self.source {
            Source::Text(source) => {
                let fields = source.fields(py, &self.ids, self.text.as_ref())?;
                self.list_of_fields(py, &source.tokenizer, fields, column).map(Some)
            }
            Source::Fields { tokenizer, fields } => {
                self.list_of_fields(py, tokenizer, fields, column).map(Some)
            }
            Source::Row(row) => row.list(py, column),
            Source::Lists { .. } => Ok(None),
        }
    }

    /// Make the list of a column from the fields of an encoding.
    fn list_of_fields<'py>(
        &self,
        py: Python<'py>,
        tokenizer: &Arc<SharedTokenizer>,
        fields: &Fields,
        column: Column,
    ) -> PyResult<Bound<'py, PyList>> {
        let tokens = &fields.tokens;
        let unless_none = |value: u32| Some(value).filter(|&value| value != NONE);
        match column {
            Column::Tokens => PyList::new(py, tokens.iter().map(|token| tokenizer.token(token))),
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
                    Bound::new(py, Self::of_fields(py, tokenizer, fields.clone(), text, pair)?)
                };
                let windows = fields.overflowing.iter().map(window).collect::<PyResult<Vec<_>>>()?;
                PyList::new(py, windows)
            }
            Column::Offsets | Column::ByteOffsets | Column::Utf16Offsets | Column::Pieces => {
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
    pub(super) fn text_of(&self, py: Python<'_>, sequence: usize, word: usize) -> PyResult<String> {
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
    pub(super) fn sequence_count(&self) -> Option<usize> {
        match (&self.text, &self.pair, &self.source) {
            (Some(_), pair, _) => Some(1 + usize::from(pair.is_some())),
            (None, _, Source::Row(row)) => row.n_sequences(),
            (None, _, Source::Lists { n_sequences }) => *n_sequences,
            (None, ..) => None,
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
        if let Some(n_sequences) = self.sequence_count() {
            columns.set_item("n_sequences", n_sequences)?;
        }
        Ok(columns)
    }
}
