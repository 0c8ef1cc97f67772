//! `Encoding`: the ids of one text at once, its other columns when they are first read, as Python lists.

use std::sync::OnceLock;

use piecework_catch_panics::catch_panics;
use piecework_core::encoding::{Encoding as Fields, NONE};
use piecework_core::pipeline::{Input, Options};
use piecework_core::special::Selector;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PySlice, PyString, PyTuple};

use crate::batch::Row;
use crate::core::Core;
use crate::encoding_columns::{Column, Lists, Origin};
use crate::encoding_html::{html, HtmlToken};
use crate::errors::{bad_argument, raise, wrong_type};
use crate::text::borrow;

/// Shorter texts are encoded without releasing the GIL.
const SHORT_TEXT_BYTES: usize = 1024;

/// The most tokens that a representation shows.
const MAX_TOKENS_IN_REPR: usize = 16;

/// The most tokens that HTML shows.
const MAX_TOKENS_IN_HTML: usize = 2000;

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
    source: Source,
    text: Option<Py<PyAny>>,
    pair: Option<Py<PyAny>>,
    lists: OnceLock<Box<Lists>>,
}

/// What the columns beside the ids are made of.
enum Source {
    /// The text, which a second pass assigns the ids to.
    Text(PlainText),
    /// Every field.
    Fields { core: Py<Core>, fields: Fields },
    /// A row of a batch.
    Row(Row),
    /// The lists alone, with the number of sequences if it is known.
    Lists { n_sequences: Option<usize> },
}

/// How a text was encoded into ids.
struct PlainText {
    core: Py<Core>,
    add_special_tokens: bool,
    parse_special: bool,
    /// Tells whether the list of ids has been changed since.
    checksum: u64,
    /// Every field, once a second pass has made them.
    fields: OnceLock<Box<Fields>>,
}

impl Encoding {
    fn new(
        ids: Bound<'_, PyList>,
        source: Source,
        text: Option<Py<PyAny>>,
        pair: Option<Py<PyAny>>,
    ) -> Self {
        Self { ids: ids.unbind(), source, text, pair, lists: OnceLock::new() }
    }

    /// Encode one text into ids alone, without truncation and padding.
    #[inline]
    pub(crate) fn of_text(
        core: &Bound<'_, Core>,
        text: Bound<'_, PyAny>,
        add_special_tokens: bool,
        parse_special: bool,
    ) -> PyResult<Self> {
        let (ids, checksum) = ids_of(core, &text, add_special_tokens, parse_special)?;
        let (core, fields) = (core.clone().unbind(), OnceLock::new());
        let source = Source::Text(PlainText { core, add_special_tokens, parse_special, checksum, fields });
        Ok(Self::new(ids, source, Some(text.unbind()), None))
    }

    /// Wrap the fields that a tokenizer made of a text and its pair.
    pub(crate) fn of_fields(
        core: &Bound<'_, Core>,
        fields: Fields,
        text: Option<Py<PyAny>>,
        pair: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let ids = fields.tokens.iter().map(|token| token.id);
        let ids = core.get().numbers.list(core.py(), ids)?;
        Ok(Self::new(ids, Source::Fields { core: core.clone().unbind(), fields }, text, pair))
    }

    /// Wrap a row of a batch, which keeps no text.
    pub(crate) fn of_row(py: Python<'_>, row: Row) -> PyResult<Self> {
        Ok(Self::new(row.ids(py)?, Source::Row(row), None, None))
    }

    /// A column, made when it is first read; `None` for one that a batch did not keep.
    fn find<'py>(&self, py: Python<'py>, column: Column) -> PyResult<Option<&Bound<'py, PyList>>> {
        let slot = self.lists.get_or_init(Box::default).slot(column);
        if let Some(list) = slot.get() {
            return Ok(Some(list.bind(py)));
        }
        let Some(list) = self.made(py, column)? else { return Ok(None) };
        Ok(Some(slot.get_or_init(|| list.unbind()).bind(py)))
    }

    /// A column; an error for one that a batch did not keep.
    fn column<'py>(&self, py: Python<'py>, column: Column) -> PyResult<&Bound<'py, PyList>> {
        self.find(py, column)?.ok_or_else(|| missing(column.name()))
    }

    fn made<'py>(&self, py: Python<'py>, column: Column) -> PyResult<Option<Bound<'py, PyList>>> {
        if let Column::ByteOffsets | Column::Utf16Offsets = column {
            return self.offsets_in(py, column);
        }
        match &self.source {
            Source::Text(source) => {
                self.list_of_fields(source.core.bind(py), self.fields_of(py, source)?, column).map(Some)
            }
            Source::Fields { core, fields } => self.list_of_fields(core.bind(py), fields, column).map(Some),
            Source::Row(row) => row.list(py, column),
            Source::Lists { .. } => Ok(None),
        }
    }

    /// Every field of a text whose ids are known.
    fn fields_of<'s>(&self, py: Python<'_>, source: &'s PlainText) -> PyResult<&'s Fields> {
        if let Some(fields) = source.fields.get() {
            return Ok(fields);
        }
        let text = self.text.as_ref().map_or_else(|| py.None(), |text| text.clone_ref(py));
        let parse_special = &selector(source.parse_special);
        let options =
            Options { add_special_tokens: source.add_special_tokens, parse_special, sampling: None };
        let ids: Vec<u32> = self.ids.extract(py).unwrap_or_default();
        let is_unchanged = checksum(&ids) == source.checksum;
        let made = source.core.get().compute(py, text.bind(py), |pipeline, text, scratch| {
            if is_unchanged {
                pipeline.encode_known(text, &ids, options, scratch)
            } else {
                pipeline.encode(Input::Text(text), None, options, scratch)
            }
        })?;
        Ok(source.fields.get_or_init(|| Box::new(made)))
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
    fn origin(&self, py: Python<'_>, token: usize) -> PyResult<Option<Origin>> {
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
    fn texts_of(&self, py: Python<'_>, sequence: usize) -> PyResult<Vec<Vec<char>>> {
        let texts: Vec<String> = match self.given(py, sequence) {
            None => Vec::new(),
            Some(given) if given.is_instance_of::<PyString>() => vec![given.extract()?],
            Some(given) => given.extract()?,
        };
        Ok(texts.iter().map(|text| text.chars().collect()).collect())
    }

    fn sequence_count(&self, py: Python<'_>) -> PyResult<Option<usize>> {
        match (&self.text, &self.pair, &self.source) {
            (Some(_), pair, _) => Ok(Some(1 + usize::from(pair.is_some()))),
            (None, _, Source::Row(row)) => row.n_sequences(py),
            (None, _, Source::Lists { n_sequences }) => Ok(*n_sequences),
            (None, ..) => Ok(None),
        }
    }

    /// Every column that there is, by name.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
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
    fn tokens_where(
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
        let lists = encoding.lists.get_or_init(Box::default);
        for column in Column::STORED {
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
        PyTuple::new(py, self.text.iter().chain(&self.pair).collect::<Vec<_>>())
    }

    /// 1, or 2 for a pair.
    #[getter]
    fn n_sequences(&self, py: Python<'_>) -> PyResult<usize> {
        self.sequence_count(py)?.ok_or_else(|| missing("n_sequences"))
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
        match (self.token_to_sequence(py, token_index)?, usize::try_from(token_index)) {
            (Some(_), Ok(at)) => self.column(py, Column::Offsets)?.get_item(at).map(Some),
            _ => Ok(None),
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

    /// Return the first token that covers a character of a text; None where none does.
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
        let covers = |_: Option<usize>, (start, end): (usize, usize)| (start..end).contains(&char);
        Ok(self.tokens_where(py, sequence, 1, covers)?.first().copied())
    }

    /// Return the index of the word that covers a character of a text; None where none does.
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

    /// Return the tokens of a word as (first, one after the last); None for a word without any.
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
        let tokens = self.tokens_where(py, sequence, usize::MAX, |of, _| of == Some(word))?;
        Ok(tokens.first().zip(tokens.last()).map(|(&first, &last)| (first, last + 1)))
    }

    /// Return the characters of a word, from its first token to its last; None for a word without any.
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
        let (from, to): ((usize, usize), (usize, usize)) = (item(offsets, first)?, item(offsets, end - 1)?);
        Ok(Some((from.0, to.1)))
    }

    fn __getitem__(&self, py: Python<'_>, index: &Bound<'_, PyAny>) -> PyResult<Self> {
        if !index.is_instance_of::<PySlice>() {
            let expected =
                "a slice such as encoding[1:3]; read one token from encoding.ids or encoding.tokens";
            return Err(wrong_type("index".into(), index, expected));
        }
        let columns = self.columns(py)?;
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
        Ok(one.ids.bind(py).eq(two.ids.bind(py))? && one.columns(py)?.eq(two.columns(py)?)?)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let (py, encoding) = (slf.py(), slf.get());
        let arguments = (encoding.texts(py)?, encoding.columns(py)?);
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
    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let count = self.ids.bind(py).len();
        let shown = count.min(MAX_TOKENS_IN_HTML);
        let tokens = (0..shown).map(|at| self.html_token(py, at)).collect::<PyResult<Vec<_>>>()?;
        let texts = [self.texts_of(py, 0)?, self.texts_of(py, 1)?];
        Ok(html(&tokens, &texts, count - shown))
    }
}

impl Encoding {
    fn html_token(&self, py: Python<'_>, at: usize) -> PyResult<HtmlToken> {
        let is_set = |column: Column| -> PyResult<Option<bool>> {
            self.find(py, column)?.map(|mask| Ok(item::<u32>(mask, at)? != 0)).transpose()
        };
        let is_special = is_set(Column::SpecialTokensMask)?.unwrap_or(false)
            || !is_set(Column::AttentionMask)?.unwrap_or(true);
        Ok(HtmlToken {
            id: item(self.ids.bind(py), at)?,
            token: item(self.column(py, Column::Tokens)?, at)?,
            is_special,
            origin: if self.text.is_some() { self.origin(py, at)? } else { None },
        })
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

fn listed<'py>(value: Bound<'py, PyAny>, name: &str) -> PyResult<Bound<'py, PyList>> {
    value.cast_into::<PyList>().map_err(|error| wrong_type(name.into(), &error.into_inner(), "list"))
}

fn item<'py, T: for<'a> FromPyObject<'a, 'py>>(list: &Bound<'py, PyList>, at: usize) -> PyResult<T> {
    list.get_item(at)?.extract().map_err(Into::into)
}

fn optional_item(list: &Bound<'_, PyList>, at: isize) -> PyResult<Option<usize>> {
    match usize::try_from(at).ok().filter(|&at| at < list.len()) {
        Some(at) => item(list, at),
        None => Ok(None),
    }
}

/// Which special tokens are recognised in the text: all or none.
fn selector(parse_special: bool) -> Selector {
    if parse_special {
        Selector::All
    } else {
        Selector::only(Vec::new())
    }
}

/// A number that differs when ids differ, but for rare collisions.
fn checksum(ids: &[u32]) -> u64 {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    ids.iter().fold(ids.len() as u64, |sum, &id| (sum.rotate_left(5) ^ u64::from(id)).wrapping_mul(FACTOR))
}

/// The ids of one text, without padding, and their checksum.
#[inline]
fn ids_of<'py>(
    core: &Bound<'py, Core>,
    text: &Bound<'py, PyAny>,
    add_special_tokens: bool,
    parse_special: bool,
) -> PyResult<(Bound<'py, PyList>, u64)> {
    let (py, core) = (core.py(), core.get());
    let text = borrow(text, || "text".into())?;
    let parse_special = &selector(parse_special);
    let options = Options { add_special_tokens, parse_special, sampling: None };
    let input = Input::Text(text);
    // Releasing the GIL takes as long as encoding a short text does.
    if text.len() < SHORT_TEXT_BYTES {
        let list = |ids: &[u32]| Ok((core.numbers.list(py, ids.iter().copied())?, checksum(ids)));
        return core.encoder.ids(input, options, list).map_err(raise)?;
    }
    let ids = py.detach(|| core.encoder.ids(input, options, <[u32]>::to_vec)).map_err(raise)?;
    let checksum = checksum(&ids);
    Ok((core.numbers.list(py, ids.into_iter())?, checksum))
}

/// Return the error for a column that a batch did not keep.
#[catch_panics]
#[pyfunction]
pub(crate) fn missing_column(py: Python<'_>, name: &str) -> Py<PyAny> {
    missing(name).into_value(py).into_any()
}

fn missing(name: &str) -> PyErr {
    match name {
        "overflowing" => {
            let expected = "encode_batch(..., overflow=True), which makes a row of each window";
            bad_argument("overflow", "False", &format!("{expected}, to read {name}"))
        }
        "byte_offsets" | "utf16_offsets" => {
            let found = "a row of a batch, which keeps no text";
            bad_argument("texts", found, &format!("encode(text).{name}"))
        }
        _ => bad_argument(
            "offsets",
            "False",
            &format!("encode_batch(..., offsets=True), which keeps {name}"),
        ),
    }
}
