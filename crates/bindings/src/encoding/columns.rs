//! The columns of an `Encoding` other than its ids, as lists that are made at their first use.

use std::sync::{Arc, OnceLock};

use piecework_core::encoding::{Encoding as Fields, NONE};
use piecework_core::text::units_before_chars;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use super::column::{item, missing, Column, Lists};
use super::row::Row;
use super::text_source::TextSource;
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

/// The ids of an `Encoding`, its texts, and the other columns made so far.
pub(super) struct Columns {
    pub(super) ids: Py<PyList>,
    pub(super) source: Source,
    /// The text, or its words, and those of its pair.
    pub(super) texts: [Option<Py<PyAny>>; 2],
    pub(super) lists: OnceLock<Box<Lists>>,
}

impl Columns {
    /// Return a column, which is made at its first use; `None` for a column that a batch does not have.
    pub(super) fn find<'py>(
        &self,
        py: Python<'py>,
        column: Column,
        make: impl FnOnce() -> PyResult<Option<Bound<'py, PyList>>>,
    ) -> PyResult<Option<&Bound<'py, PyList>>> {
        let slot = self.lists.get_or_init(Box::default).slot(column);
        if let Some(list) = slot.get() {
            return Ok(Some(list.bind(py)));
        }
        let Some(list) = make()? else { return Ok(None) };
        Ok(Some(slot.get_or_init(|| list.unbind()).bind(py)))
    }

    /// Return a column of tokens; a column that a batch does not have is an error.
    pub(super) fn of_tokens<'py>(&self, py: Python<'py>, column: Column) -> PyResult<&Bound<'py, PyList>> {
        let found = self.find(py, column, || self.make_of_tokens(py, column))?;
        found.ok_or_else(|| missing(column.name()))
    }

    /// Make a column of tokens, which is not computed from another one.
    pub(super) fn make_of_tokens<'py>(
        &self,
        py: Python<'py>,
        column: Column,
    ) -> PyResult<Option<Bound<'py, PyList>>> {
        if let Source::Row(row) = &self.source {
            return row.list(py, column);
        }
        let Some((tokenizer, fields)) = self.fields(py)? else { return Ok(None) };
        let tokens = fields.tokens.iter();
        let unless_none = |value: u32| Some(value).filter(|&value| value != NONE);
        let list = match column {
            Column::Tokens => PyList::new(py, tokens.map(|token| tokenizer.token(token))),
            Column::Offsets => PyList::new(py, tokens.map(|token| (token.start, token.end))),
            Column::WordIds => PyList::new(py, tokens.map(|token| unless_none(token.word))),
            Column::SequenceIds => PyList::new(py, tokens.map(|token| unless_none(token.sequence))),
            Column::TypeIds => PyList::new(py, tokens.map(|token| token.type_id)),
            Column::SpecialTokensMask => PyList::new(py, tokens.map(|token| u32::from(token.special))),
            Column::AttentionMask => PyList::new(py, tokens.map(|token| u32::from(token.attention))),
            _ => return Ok(None),
        };
        list.map(Some)
    }

    /// Return the fields of the encoding with its tokenizer; `None` for a row of a batch and for lists.
    pub(super) fn fields(&self, py: Python<'_>) -> PyResult<Option<(&Arc<SharedTokenizer>, &Fields)>> {
        Ok(match &self.source {
            Source::Text(source) => {
                let fields = source.fields(py, &self.ids, self.texts[0].as_ref())?;
                Some((&source.tokenizer, fields))
            }
            Source::Fields { tokenizer, fields } => Some((tokenizer, fields)),
            Source::Row(_) | Source::Lists { .. } => None,
        })
    }

    /// Return the fields of the further windows with their tokenizer; `None` for a row of a batch and for lists.
    pub(super) fn windows(&self, py: Python<'_>) -> PyResult<Option<(&Arc<SharedTokenizer>, Vec<Fields>)>> {
        Ok(match &self.source {
            Source::Text(source) => Some((&source.tokenizer, source.windows(py, self.texts[0].as_ref())?)),
            Source::Fields { tokenizer, fields } => Some((tokenizer, fields.overflowing.clone())),
            Source::Row(_) | Source::Lists { .. } => None,
        })
    }

    /// Return the offsets in units, given the number of units of a character.
    pub(super) fn offsets_in<'py>(
        &self,
        py: Python<'py>,
        units: impl Fn(char) -> usize,
    ) -> PyResult<Option<Bound<'py, PyList>>> {
        if self.texts[0].is_none() {
            return Ok(None);
        }
        let counts = |text: String| Ok(units_before_chars(&text, &units));
        let offsets = self.with_texts(py, counts, |_, origin| {
            let Some((counts, (start, end))) = origin else { return Ok((0, 0)) };
            let count = |char: usize| counts.get(char).copied().unwrap_or_default();
            Ok((count(start), count(end)))
        })?;
        PyList::new(py, offsets).map(Some)
    }

    /// Convert each token, given what `of_text` made of its text and its characters; `None` for template tokens.
    ///
    /// Tokens of the same text in a row share what was made of it.
    pub(super) fn with_texts<T, R>(
        &self,
        py: Python<'_>,
        of_text: impl Fn(String) -> PyResult<T>,
        convert: impl Fn(usize, Option<(&T, (usize, usize))>) -> PyResult<R>,
    ) -> PyResult<Vec<R>> {
        let (sequences, offsets) =
            (self.of_tokens(py, Column::SequenceIds)?, self.of_tokens(py, Column::Offsets)?);
        let mut last: Option<((usize, usize), T)> = None;
        let token = |at: usize| {
            let Some(sequence) = item::<Option<usize>>(sequences, at)? else { return convert(at, None) };
            let key = (sequence, self.word_of(py, sequence, at)?);
            let made = match last.take().filter(|(of, _)| *of == key) {
                Some((_, made)) => made,
                None => of_text(self.text_of(py, key)?)?,
            };
            let (_, made) = last.insert((key, made));
            convert(at, Some((made, item(offsets, at)?)))
        };
        (0..sequences.len()).map(token).collect()
    }

    /// Return the word of a token whose text is given as words; 0 otherwise.
    fn word_of(&self, py: Python<'_>, sequence: usize, token: usize) -> PyResult<usize> {
        match self.input(py, sequence) {
            Some(input) if !input.is_instance_of::<PyString>() => {
                Ok(item::<Option<usize>>(self.of_tokens(py, Column::WordIds)?, token)?.unwrap_or(0))
            }
            _ => Ok(0),
        }
    }

    /// Return the text that the offsets of a word of a sequence refer to.
    fn text_of(&self, py: Python<'_>, (sequence, word): (usize, usize)) -> PyResult<String> {
        match self.input(py, sequence) {
            None => Ok(String::new()),
            Some(input) if input.is_instance_of::<PyString>() => input.extract(),
            Some(input) => input.get_item(word)?.extract(),
        }
    }

    /// Return the text or the words of a sequence.
    fn input<'py>(&self, py: Python<'py>, sequence: usize) -> Option<&Bound<'py, PyAny>> {
        Some(self.texts.get(sequence)?.as_ref()?.bind(py))
    }

    /// Return the number of sequences, if it is known.
    pub(super) fn sequence_count(&self) -> Option<usize> {
        match (self.texts.iter().flatten().count(), &self.source) {
            (0, Source::Row(row)) => row.n_sequences(),
            (0, Source::Lists { n_sequences }) => *n_sequences,
            (0, _) => None,
            (count, _) => Some(count),
        }
    }
}
