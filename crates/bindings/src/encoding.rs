//! `Encoding`: the ids of one text as a Python list, and its other columns as lists that are made at their first use.

// Python shows this documentation, whose brackets are lists.
#![allow(rustdoc::broken_intra_doc_links)]

mod columns;
mod source;

use piecework_catch_panics::python;
use piecework_core::encoding::{token_of_char, tokens_of_word, Token, NONE};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PySlice, PyTuple};

use crate::batch::RawBatch;
use crate::errors::{bad_argument, wrong_type};

pub(crate) use columns::Encoding;
pub(crate) use source::missing_column;
use source::{listed, missing, Column};
use source::{Row, Source};

/// The maximum number of tokens in a representation.
const MAX_TOKENS_IN_REPR: usize = 16;

/// Return a row of a batch as an `Encoding`; `token_of` maps an id to its token.
#[python]
pub(crate) fn encoding_of_row(
    batch: Bound<'_, RawBatch>,
    row: usize,
    token_of: Py<PyAny>,
    pad_token: String,
) -> PyResult<Encoding> {
    let ids = batch.get().row(batch.py(), row)?;
    let row = Row { batch: batch.unbind(), row, token_of, pad_token };
    Ok(Encoding::new(ids, Source::Row(row), None, None))
}

#[python]
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
        let lists = encoding.lists.get_or_init(Box::default);
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
        PyTuple::new(py, self.texts.iter().flatten().collect::<Vec<_>>())
    }

    /// 1, or 2 for a pair.
    #[getter]
    fn n_sequences(&self) -> PyResult<usize> {
        self.sequence_count().ok_or_else(|| missing("n_sequences"))
    }

    /// Return 0 or 1 for the text a token came from; None for template tokens and beyond the end.
    fn token_to_sequence(&self, py: Python<'_>, token_index: isize) -> PyResult<Option<u32>> {
        let token = self.token(py, token_index, &[Column::SequenceIds])?;
        Ok(token.map(|token| token.sequence).filter(|&sequence| sequence != NONE))
    }

    /// Return the character span of a token in its text; None for template tokens.
    ///
    /// >>> import piecework as pw
    /// >>> model = pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2})
    /// >>> tok = pw.Tokenizer(model, pre_tokenizer=pw.spec.WhitespaceSplit())
    /// >>> tok.encode("hugs hug").token_to_chars(2)
    /// (5, 8)
    fn token_to_chars(&self, py: Python<'_>, token_index: isize) -> PyResult<Option<(u32, u32)>> {
        let token = self.token(py, token_index, &[Column::SequenceIds, Column::Offsets])?;
        Ok(token.filter(|token| token.sequence != NONE).map(|token| (token.start, token.end)))
    }

    /// Return the index of the word that a token came from; None for template tokens.
    ///
    /// >>> import piecework as pw
    /// >>> model = pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2})
    /// >>> tok = pw.Tokenizer(model, pre_tokenizer=pw.spec.WhitespaceSplit())
    /// >>> tok.encode("hugs hug").token_to_word(2)
    /// 1
    fn token_to_word(&self, py: Python<'_>, token_index: isize) -> PyResult<Option<u32>> {
        let token = self.token(py, token_index, &[Column::WordIds])?;
        Ok(token.map(|token| token.word).filter(|&word| word != NONE))
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
        let tokens = self.tokens_with(py, &[Column::SequenceIds, Column::Offsets])?;
        let place = index(char_pos).zip(index(sequence_index));
        Ok(place.and_then(|(char, sequence)| token_of_char(tokens, sequence, char)))
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
    ) -> PyResult<Option<u32>> {
        match self.char_to_token(py, char_pos, sequence_index)? {
            Some(token) => self.token_to_word(py, token as isize),
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
        let tokens = self.tokens_with(py, &[Column::SequenceIds, Column::WordIds])?;
        let place = index(word_index).zip(index(sequence_index));
        Ok(place.and_then(|(word, sequence)| tokens_of_word(tokens, sequence, word)))
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
    ) -> PyResult<Option<(u32, u32)>> {
        let found = self.word_to_tokens(py, word_index, sequence_index)?;
        let tokens = self.tokens_with(py, &[Column::Offsets])?;
        Ok(found.map(|(first, end)| (tokens[first].start, tokens[end - 1].end)))
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
        slf.py().import("piecework.tokenizer.encoding_html")?.call_method1("encoding_html", (slf,))
    }
}

impl Encoding {
    /// Return a token, `None` beyond the end; a column that a batch does not have is an error.
    fn token(&self, py: Python<'_>, index: isize, needed: &[Column]) -> PyResult<Option<Token>> {
        let tokens = self.tokens_with(py, needed)?;
        Ok(usize::try_from(index).ok().and_then(|index| tokens.get(index).copied()))
    }
}

/// Return the index of a character, word or sequence; `None` for one that no encoding has.
fn index(index: isize) -> Option<u32> {
    u32::try_from(index).ok().filter(|&index| index != NONE)
}
