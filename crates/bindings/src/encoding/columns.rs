//! The class `Encoding`, and how its columns are made.

// Python shows this documentation, whose brackets are lists.
#![allow(rustdoc::broken_intra_doc_links)]

use std::sync::{Arc, OnceLock};

use piecework_core::encoding::{Encoding as Fields, Token, NONE};
use piecework_core::engine::{offsets_in, Input, Scratch};
use piecework_core::interrupt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

use super::source::{missing, Column, Lists, Source, TextSource};
use crate::errors::raise;
use crate::input::{borrowed, Borrowed, InputObject};
use crate::release::ReleaseGil;
use crate::shared_tokenizer::SharedTokenizer;
use crate::strings::list_of;

/// One encoded text or pair: parallel lists, one item a token.
///
/// >>> import piecework as pw
/// >>> tok = pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2}))
/// >>> e = tok.encode("hugs")
/// >>> e.ids, e.tokens, e.offsets
/// ([1, 2], ['hug', '##s'], [(0, 3), (3, 4)])
///
/// A slice is an `Encoding` of these tokens of the same text.
///
/// >>> e[1:].tokens
/// ['##s']
///
/// Encodings are equal if all their lists are, `overflowing` included. They pickle and copy with their lists
/// and their text, without the tokenizer. They do not hash, as lists can change. A row of a `Batch` has the
/// columns of its batch; other attributes raise `ArgumentError`, which names the call that makes them.
///
/// `Tokenizer.encode` and `Batch` make encodings. The constructor restores one from its `texts` and a dict of
/// its lists by name.
#[pyclass(frozen, subclass, mapping, module = "piecework")]
pub struct Encoding {
    /// Vocabulary ids.
    #[pyo3(get)]
    pub(super) ids: Py<PyList>,
    pub(super) source: Source,
    /// The text, or its words, and those of its pair.
    pub(super) texts: [Option<Py<PyAny>>; 2],
    /// The other columns made so far.
    pub(super) lists: OnceLock<Box<Lists>>,
    /// The tokens of a row of a batch or of lists, after their first use.
    tokens: OnceLock<Vec<Token>>,
}

impl Encoding {
    /// Make an encoding whose columns are made from `source` and the texts.
    pub(super) fn new(
        ids: Bound<'_, PyList>,
        source: Source,
        text: Option<Py<PyAny>>,
        pair: Option<Py<PyAny>>,
    ) -> Self {
        Self {
            ids: ids.unbind(),
            source,
            texts: [text, pair],
            lists: OnceLock::new(),
            tokens: OnceLock::new(),
        }
    }

    /// Encode one text into ids alone, without padding.
    #[inline]
    pub(crate) fn of_text(
        tokenizer: &Arc<SharedTokenizer>,
        text: Bound<'_, PyAny>,
        add_special_tokens: bool,
        parse_special: bool,
    ) -> PyResult<Self> {
        let (ids, source) = TextSource::encode(tokenizer, &text, add_special_tokens, parse_special)?;
        Ok(Self::new(ids, Source::Text(source), Some(text.unbind()), None))
    }

    /// Wrap the fields of a text and its pair.
    pub(crate) fn of_fields(
        py: Python<'_>,
        tokenizer: &Arc<SharedTokenizer>,
        fields: Fields,
        text: Option<Py<PyAny>>,
        pair: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let ids = fields.tokens.iter().map(|token| token.id);
        let ids = tokenizer.numbers.list(py, ids)?;
        Ok(Self::new(ids, Source::Fields { tokenizer: Arc::clone(tokenizer), fields }, text, pair))
    }

    /// Return a column; a column that a batch does not have is an error.
    pub(super) fn column<'py>(&self, py: Python<'py>, column: Column) -> PyResult<&Bound<'py, PyList>> {
        self.find(py, column)?.ok_or_else(|| missing(column.name()))
    }

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
        let made = match column {
            Column::Overflowing => self.windows(py),
            Column::Pieces => self.pieces_of_tokens(py),
            Column::ByteOffsets => self.offsets_in(py, char::len_utf8),
            Column::Utf16Offsets => self.offsets_in(py, char::len_utf16),
            _ => self.column_of_tokens(py, column),
        };
        let Some(list) = made? else { return Ok(None) };
        Ok(Some(slot.get_or_init(|| list.unbind()).bind(py)))
    }

    /// Return whether there is what a column is made from.
    fn has(&self, column: Column) -> bool {
        match &self.source {
            Source::Text(_) | Source::Fields { .. } => true,
            Source::Row(row) => row.has(column),
            Source::Lists { .. } => {
                self.lists.get().is_some_and(|lists| lists.slot(column).get().is_some())
            }
        }
    }

    /// Return the tokens; a column of `needed` that a batch does not have is an error.
    pub(super) fn tokens_with(&self, py: Python<'_>, needed: &[Column]) -> PyResult<&[Token]> {
        if let Some(column) = needed.iter().find(|&&column| !self.has(column)) {
            return Err(missing(column.name()));
        }
        if let Some((_, fields)) = self.fields(py)? {
            return Ok(&fields.tokens);
        }
        if let Some(tokens) = self.tokens.get() {
            return Ok(tokens);
        }
        let made = match &self.source {
            Source::Row(row) => row.tokens(py)?,
            _ => self.tokens_of_lists(py)?,
        };
        Ok(self.tokens.get_or_init(|| made))
    }

    /// Return the tokens of lists alone: their offsets, words and sequences.
    fn tokens_of_lists(&self, py: Python<'_>) -> PyResult<Vec<Token>> {
        let numbers = |column| self.find(py, column)?.map_or(Ok(Vec::new()), |list| list.extract());
        let words: Vec<Option<u32>> = numbers(Column::WordIds)?;
        let sequences: Vec<Option<u32>> = numbers(Column::SequenceIds)?;
        let offsets = self.find(py, Column::Offsets)?;
        let offsets: Vec<[u32; 2]> = offsets.map_or(Ok(Vec::new()), |list| {
            list.iter().map(|span| span.extract::<(u32, u32)>().map(<[u32; 2]>::from)).collect()
        })?;
        let or_none = |numbers: &[Option<u32>], at| numbers.get(at).copied().flatten().unwrap_or(NONE);
        let token = |at: usize| {
            let span = offsets.get(at).copied().unwrap_or_default();
            Token::of_word(0, span, or_none(&words, at), or_none(&sequences, at))
        };
        Ok((0..self.ids.bind(py).len()).map(token).collect())
    }

    /// Make a column with a property of each token.
    fn column_of_tokens<'py>(
        &self,
        py: Python<'py>,
        column: Column,
    ) -> PyResult<Option<Bound<'py, PyList>>> {
        if !self.has(column) {
            return Ok(None);
        }
        let tokens = self.tokens_with(py, &[])?;
        let tokens = tokens.iter();
        let unless_none = |value: u32| Some(value).filter(|&value| value != NONE);
        let list = match column {
            Column::Tokens => {
                let texts = tokens.map(|token| {
                    interrupt::check(1);
                    self.source.text_of(py, token)
                });
                PyList::new(py, texts.collect::<PyResult<Vec<_>>>()?)
            }
            Column::Offsets => list_of(py, tokens.map(|token| (token.start, token.end))),
            Column::WordIds => list_of(py, tokens.map(|token| unless_none(token.word))),
            Column::SequenceIds => list_of(py, tokens.map(|token| unless_none(token.sequence))),
            Column::TypeIds => list_of(py, tokens.map(|token| token.type_id)),
            Column::SpecialTokensMask => list_of(py, tokens.map(|token| u32::from(token.special))),
            Column::AttentionMask => list_of(py, tokens.map(|token| u32::from(token.attention))),
            _ => return Ok(None),
        };
        list.map(Some)
    }

    /// Make the list of the further windows of the text.
    fn windows<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyList>>> {
        let (tokenizer, windows) = match &self.source {
            Source::Text(source) => (&source.tokenizer, source.windows(py, self.texts[0].as_ref())?),
            Source::Fields { tokenizer, fields } => (tokenizer, fields.overflowing.clone()),
            Source::Row(_) | Source::Lists { .. } => {
                return Ok(self.has(Column::Overflowing).then(|| PyList::empty(py)));
            }
        };
        let window = |fields: Fields| {
            let [text, pair] =
                self.texts.each_ref().map(|text| text.as_ref().map(|text| text.clone_ref(py)));
            Bound::new(py, Self::of_fields(py, tokenizer, fields, text, pair)?)
        };
        let windows = windows.into_iter().map(window).collect::<PyResult<Vec<_>>>()?;
        PyList::new(py, windows).map(Some)
    }

    /// Return the fields of the encoding with its tokenizer; `None` for a row of a batch and for lists.
    fn fields(&self, py: Python<'_>) -> PyResult<Option<(&Arc<SharedTokenizer>, &Fields)>> {
        Ok(match &self.source {
            Source::Text(source) => {
                let fields = source.fields(py, &self.ids, self.texts[0].as_ref())?;
                Some((&source.tokenizer, fields))
            }
            Source::Fields { tokenizer, fields } => Some((tokenizer, fields)),
            Source::Row(_) | Source::Lists { .. } => None,
        })
    }

    /// Make the list of the tokens, unknown ones as their normalized text; `None` without a text.
    fn pieces_of_tokens<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyList>>> {
        if self.texts[0].is_none() {
            return Ok(None);
        }
        let names = self.column(py, Column::Tokens)?;
        // Stored encodings have this column if it differs from the tokens.
        let Some((tokenizer, fields)) = self.fields(py)? else { return Ok(Some(names.clone())) };
        let texts = self.with_texts(py, |texts| {
            let of_unknown = |scratch: &mut Scratch| {
                tokenizer.tokenizer().texts_of_unknown(&fields.tokens, texts, scratch)
            };
            py.release(|| tokenizer.encoder.with_scratch(of_unknown)).map_err(raise)
        })?;
        let shown = |(name, text): (Bound<'py, PyAny>, Option<String>)| match text {
            Some(text) => PyString::new(py, &text).into_any(),
            None => name,
        };
        PyList::new(py, names.iter().zip(texts).map(shown).collect::<Vec<_>>()).map(Some)
    }

    /// Make the list of the offsets in units, given the number of units of a character; `None` without a text.
    fn offsets_in<'py>(
        &self,
        py: Python<'py>,
        units: impl Fn(char) -> usize,
    ) -> PyResult<Option<Bound<'py, PyList>>> {
        if self.texts[0].is_none() {
            return Ok(None);
        }
        let tokens = self.tokens_with(py, &[Column::SequenceIds, Column::Offsets])?;
        let offsets = self.with_texts(py, |texts| Ok(offsets_in(tokens, texts, units)))?;
        list_of(py, offsets.into_iter()).map(Some)
    }

    /// Borrow the texts for `work`, each whole or as words.
    fn with_texts<R>(&self, py: Python<'_>, work: impl FnOnce(&[Input<'_>]) -> PyResult<R>) -> PyResult<R> {
        let take = |text: &Py<PyAny>| {
            let text = text.bind(py);
            InputObject::take(text, !text.is_instance_of::<PyString>(), || "texts".into())
        };
        let objects = self.texts.iter().flatten().map(take).collect::<PyResult<Vec<_>>>()?;
        let texts = objects.iter().map(|object| borrowed(object, "texts")).collect::<PyResult<Vec<_>>>()?;
        work(&texts.iter().map(Borrowed::input).collect::<Vec<_>>())
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

    /// Return the columns that are compared, by name.
    pub(super) fn stored<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
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

    /// Return the columns that are compared, and the pieces if they are not the tokens.
    pub(super) fn stored_with_pieces<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = self.stored(py)?;
        if let Some(pieces) = self.find(py, Column::Pieces)? {
            if !pieces.eq(self.column(py, Column::Tokens)?)? {
                columns.set_item(Column::Pieces.name(), pieces)?;
            }
        }
        Ok(columns)
    }
}
