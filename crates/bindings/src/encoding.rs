//! `Encoding`: the ids of one text as a Python list, and its other columns as lists that are made at their first use.

// Python shows this documentation, whose brackets are lists.
#![allow(rustdoc::broken_intra_doc_links)]

mod column;
mod columns;
mod pieces;
mod row;
mod text_source;

use std::sync::{Arc, OnceLock};

use piecework_catch_panics::catch_panics;
use piecework_core::encoding::{token_of_char, tokens_of_word, Encoding as Fields};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PySlice, PyTuple};

use crate::errors::{bad_argument, wrong_type};
use crate::shared_tokenizer::SharedTokenizer;

pub(crate) use column::missing_column;
use column::{item, listed, missing, optional_item, zipped, Column};
use columns::{Columns, Source};
use pieces::pieces_of_tokens;
pub(crate) use row::Row;
use text_source::TextSource;

/// The maximum number of tokens in a representation.
const MAX_TOKENS_IN_REPR: usize = 16;

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
    ids: Py<PyList>,
    columns: Columns,
}

impl Encoding {
    fn new(
        ids: Bound<'_, PyList>,
        source: Source,
        text: Option<Py<PyAny>>,
        pair: Option<Py<PyAny>>,
    ) -> Self {
        let columns =
            Columns { ids: ids.clone().unbind(), source, texts: [text, pair], lists: OnceLock::new() };
        Self { ids: ids.unbind(), columns }
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

    /// Wrap a row of a batch, without its text.
    pub(crate) fn of_row(py: Python<'_>, row: Row) -> PyResult<Self> {
        Ok(Self::new(row.ids(py)?, Source::Row(row), None, None))
    }

    /// Return a column; a column that a batch does not have is an error.
    fn column<'py>(&self, py: Python<'py>, column: Column) -> PyResult<&Bound<'py, PyList>> {
        self.find(py, column)?.ok_or_else(|| missing(column.name()))
    }

    /// Return a column, which is made at its first use; `None` for a column that a batch does not have.
    fn find<'py>(&self, py: Python<'py>, column: Column) -> PyResult<Option<&Bound<'py, PyList>>> {
        let columns = &self.columns;
        columns.find(py, column, || match column {
            Column::Overflowing => self.windows(py),
            Column::Pieces => pieces_of_tokens(py, columns),
            Column::ByteOffsets => columns.offsets_in(py, char::len_utf8),
            Column::Utf16Offsets => columns.offsets_in(py, char::len_utf16),
            _ => columns.make_of_tokens(py, column),
        })
    }

    /// Wrap the further windows of the text.
    fn windows<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyList>>> {
        let Some((tokenizer, windows)) = self.columns.windows(py)? else {
            return self.columns.make_of_tokens(py, Column::Overflowing);
        };
        let window = |fields: Fields| {
            let [text, pair] = &self.columns.texts;
            let copied = |text: &Option<Py<PyAny>>| text.as_ref().map(|text| text.clone_ref(py));
            Bound::new(py, Self::of_fields(py, tokenizer, fields, copied(text), copied(pair))?)
        };
        let windows = windows.into_iter().map(window).collect::<PyResult<Vec<_>>>()?;
        PyList::new(py, windows).map(Some)
    }

    /// Return the columns that are compared, by name.
    fn stored<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
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
        if let Some(n_sequences) = self.columns.sequence_count() {
            columns.set_item("n_sequences", n_sequences)?;
        }
        Ok(columns)
    }

    /// Return the columns that are compared, and the pieces if they are not the tokens.
    fn stored_with_pieces<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = self.stored(py)?;
        if let Some(pieces) = self.find(py, Column::Pieces)? {
            if !pieces.eq(self.column(py, Column::Tokens)?)? {
                columns.set_item(Column::Pieces.name(), pieces)?;
            }
        }
        Ok(columns)
    }
}

#[catch_panics]
#[pymethods]
impl Encoding {
    #[new]
    #[pyo3(signature = (texts, columns))]
    fn restore(texts: &Bound<'_, PyTuple>, columns: &Bound<'_, PyDict>) -> PyResult<Self> {
        let n_sequences = columns.get_item("n_sequences")?.map(|count| count.extract()).transpose()?;
        let text_at = |at: usize| texts.get_item(at).ok().map(Bound::unbind);
        let ids = columns.get_item("ids")?;
        let ids = ids.ok_or_else(|| bad_argument("columns", "no ids", "a list of ids"))?;
        let source = Source::Lists { n_sequences };
        let encoding = Self::new(listed(ids, "ids")?, source, text_at(0), text_at(1));
        let lists = encoding.columns.lists.get_or_init(Box::default);
        for column in Column::STORED.into_iter().chain([Column::Pieces]) {
            if let Some(value) = columns.get_item(column.name())? {
                let _ = lists.slot(column).set(listed(value, column.name())?.unbind());
            }
        }
        Ok(encoding)
    }

    /// Vocabulary entries as strings.
    #[getter]
    fn tokens<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.column(py, Column::Tokens).cloned()
    }

    /// Tokens as SentencePiece shows pieces: an unknown token is its normalized text.
    ///
    /// >>> import piecework as pw
    /// >>> model = pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2})
    /// >>> tok = pw.Tokenizer(model, pre_tokenizer=pw.spec.WhitespaceSplit())
    /// >>> e = tok.encode("hugs 🤗")
    /// >>> e.tokens, e.pieces
    /// (['hug', '##s', '[UNK]'], ['hug', '##s', '🤗'])
    ///
    /// Rows of a batch keep no text, and raise `ArgumentError`.
    #[getter]
    fn pieces<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.column(py, Column::Pieces).cloned()
    }

    /// Spans (start, end) in characters of the original text; (0, 0) for template tokens.
    #[getter]
    fn offsets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.column(py, Column::Offsets).cloned()
    }

    /// Index of the pre-tokenized word each token came from; None for template tokens.
    #[getter]
    fn word_ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.column(py, Column::WordIds).cloned()
    }

    /// 0 for the first text, 1 for its pair, None for template tokens.
    #[getter]
    fn sequence_ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.column(py, Column::SequenceIds).cloned()
    }

    /// Segment ids that the template assigns.
    #[getter]
    fn type_ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.column(py, Column::TypeIds).cloned()
    }

    /// 1 for tokens that the template or the padding added, 0 for tokens of the text.
    #[getter]
    fn special_tokens_mask<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.column(py, Column::SpecialTokensMask).cloned()
    }

    /// 0 for padding, 1 for everything else.
    #[getter]
    fn attention_mask<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.column(py, Column::AttentionMask).cloned()
    }

    /// The further windows of a truncated text, in order.
    #[getter]
    fn overflowing<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.column(py, Column::Overflowing).cloned()
    }

    /// Spans in bytes of the text as UTF-8; (0, 0) for template tokens.
    ///
    /// >>> import piecework as pw
    /// >>> tok = pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "é": 1, "##t": 2}))
    /// >>> e = tok.encode("ét")
    /// >>> e.offsets, e.byte_offsets
    /// ([(0, 1), (1, 2)], [(0, 2), (2, 3)])
    #[getter]
    fn byte_offsets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.column(py, Column::ByteOffsets).cloned()
    }

    /// Spans in UTF-16 code units, as JavaScript and Java count; (0, 0) for template tokens.
    ///
    /// >>> import piecework as pw
    /// >>> tok = pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "🤗": 1, "##s": 2}))
    /// >>> e = tok.encode("🤗s")
    /// >>> e.offsets, e.utf16_offsets
    /// ([(0, 1), (1, 2)], [(0, 2), (2, 3)])
    #[getter]
    fn utf16_offsets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.column(py, Column::Utf16Offsets).cloned()
    }

    /// The text, or the text and its pair; empty for a row of a batch, which keeps no text.
    #[getter]
    fn texts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.columns.texts.iter().flatten().collect::<Vec<_>>())
    }

    /// 1, or 2 for a pair.
    #[getter]
    fn n_sequences(&self) -> PyResult<usize> {
        self.columns.sequence_count().ok_or_else(|| missing("n_sequences"))
    }

    /// Return 0 or 1 for the text a token came from; None for template tokens and beyond the end.
    fn token_to_sequence(&self, py: Python<'_>, token_index: isize) -> PyResult<Option<usize>> {
        optional_item(self.column(py, Column::SequenceIds)?, token_index)
    }

    /// Return the character span of a token in its text; None for template tokens.
    ///
    /// >>> import piecework as pw
    /// >>> model = pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2})
    /// >>> tok = pw.Tokenizer(model, pre_tokenizer=pw.spec.WhitespaceSplit())
    /// >>> tok.encode("hugs hug").token_to_chars(2)
    /// (5, 8)
    fn token_to_chars<'py>(
        &self,
        py: Python<'py>,
        token_index: isize,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        match self.token_to_sequence(py, token_index)? {
            Some(_) => self.column(py, Column::Offsets)?.get_item(token_index as usize).map(Some),
            None => Ok(None),
        }
    }

    /// Return the index of the word that a token came from; None for template tokens.
    ///
    /// >>> import piecework as pw
    /// >>> model = pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2})
    /// >>> tok = pw.Tokenizer(model, pre_tokenizer=pw.spec.WhitespaceSplit())
    /// >>> tok.encode("hugs hug").token_to_word(2)
    /// 1
    fn token_to_word(&self, py: Python<'_>, token_index: isize) -> PyResult<Option<usize>> {
        optional_item(self.column(py, Column::WordIds)?, token_index)
    }

    /// Return the first token that covers a character of a text; None if no token covers it.
    ///
    /// >>> import piecework as pw
    /// >>> model = pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2})
    /// >>> tok = pw.Tokenizer(model, pre_tokenizer=pw.spec.WhitespaceSplit())
    /// >>> e = tok.encode("hugs hug")
    /// >>> e.char_to_token(3), e.char_to_token(4)
    /// (1, None)
    #[pyo3(signature = (char_pos, sequence_index=0))]
    fn char_to_token(
        &self,
        py: Python<'_>,
        char_pos: isize,
        sequence_index: isize,
    ) -> PyResult<Option<usize>> {
        let (Ok(char), Ok(sequence)) = (usize::try_from(char_pos), usize::try_from(sequence_index)) else {
            return Ok(None);
        };
        let (sequences, offsets) =
            (self.column(py, Column::SequenceIds)?, self.column(py, Column::Offsets)?);
        token_of_char(zipped(sequences, offsets), sequence, char)
    }

    /// Return the index of the word that covers a character of a text; None if no token covers it.
    ///
    /// >>> import piecework as pw
    /// >>> model = pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2})
    /// >>> tok = pw.Tokenizer(model, pre_tokenizer=pw.spec.WhitespaceSplit())
    /// >>> tok.encode("hugs hug").char_to_word(6)
    /// 1
    #[pyo3(signature = (char_pos, sequence_index=0))]
    fn char_to_word(
        &self,
        py: Python<'_>,
        char_pos: isize,
        sequence_index: isize,
    ) -> PyResult<Option<usize>> {
        match self.char_to_token(py, char_pos, sequence_index)? {
            Some(token) => item(self.column(py, Column::WordIds)?, token),
            None => Ok(None),
        }
    }

    /// Return the tokens of a word as (first, one after the last); None for a word without tokens.
    ///
    /// >>> import piecework as pw
    /// >>> model = pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2})
    /// >>> tok = pw.Tokenizer(model, pre_tokenizer=pw.spec.WhitespaceSplit())
    /// >>> tok.encode("hug hugs").word_to_tokens(1)
    /// (1, 3)
    #[pyo3(signature = (word_index, sequence_index=0))]
    fn word_to_tokens(
        &self,
        py: Python<'_>,
        word_index: isize,
        sequence_index: isize,
    ) -> PyResult<Option<(usize, usize)>> {
        let (Ok(word), Ok(sequence)) = (usize::try_from(word_index), usize::try_from(sequence_index))
        else {
            return Ok(None);
        };
        let (sequences, words) = (self.column(py, Column::SequenceIds)?, self.column(py, Column::WordIds)?);
        tokens_of_word(zipped(sequences, words), sequence, word)
    }

    /// Return the characters of a word, from its first token to its last; None for a word without tokens.
    ///
    /// >>> import piecework as pw
    /// >>> model = pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2})
    /// >>> tok = pw.Tokenizer(model, pre_tokenizer=pw.spec.WhitespaceSplit())
    /// >>> tok.encode("hug hugs").word_to_chars(1)
    /// (4, 8)
    #[pyo3(signature = (word_index, sequence_index=0))]
    fn word_to_chars(
        &self,
        py: Python<'_>,
        word_index: isize,
        sequence_index: isize,
    ) -> PyResult<Option<(usize, usize)>> {
        let Some((first, end)) = self.word_to_tokens(py, word_index, sequence_index)? else {
            return Ok(None);
        };
        let offsets = self.column(py, Column::Offsets)?;
        let (start, _): (usize, usize) = item(offsets, first)?;
        let (_, end): (usize, usize) = item(offsets, end - 1)?;
        Ok(Some((start, end)))
    }

    fn __getitem__(&self, py: Python<'_>, index: &Bound<'_, PyAny>) -> PyResult<Self> {
        if !index.is_instance_of::<PySlice>() {
            let expected =
                "a slice such as encoding[1:3]; read one token from encoding.ids or encoding.tokens";
            return Err(wrong_type("index".into(), index, expected));
        }
        let columns = self.stored_with_pieces(py)?;
        for (name, values) in columns.clone() {
            if let Ok(list) = values.cast::<PyList>() {
                columns.set_item(name, list.as_any().get_item(index)?)?;
            }
        }
        columns.set_item(Column::Overflowing.name(), PyList::empty(py))?;
        Self::restore(&self.texts(py)?, &columns)
    }

    fn __eq__(slf: &Bound<'_, Self>, other: &Bound<'_, Self>) -> PyResult<bool> {
        if slf.is(other) {
            return Ok(true);
        }
        let (py, one, two) = (slf.py(), slf.get(), other.get());
        Ok(one.ids.bind(py).eq(two.ids.bind(py))? && one.stored(py)?.eq(two.stored(py)?)?)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let (py, encoding) = (slf.py(), slf.get());
        let arguments = (encoding.texts(py)?, encoding.stored_with_pieces(py)?);
        (slf.get_type(), arguments).into_pyobject(py)
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        self.ids.bind(py).len()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let tokens: Vec<String> = self.column(py, Column::Tokens)?.extract()?;
        let shown = tokens[..tokens.len().min(MAX_TOKENS_IN_REPR)].join(" ");
        let rest = if tokens.len() > MAX_TOKENS_IN_REPR { " ..." } else { "" };
        Ok(format!("Encoding({} tokens: {shown}{rest})", tokens.len()))
    }

    /// Return the tokens as HTML: spans over the original text, with ids on hover.
    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("piecework.rows.encoding_html")?.call_method1("encoding_html", (slf,))
    }
}
