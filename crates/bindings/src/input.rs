//! The input of the encoder, borrowed from Python: texts or lists of words.

use piecework_core::added_tokens::Selector;
use piecework_core::encode::Input;
use pyo3::prelude::*;

use crate::columns::{BorrowedColumn, TextColumn};
use crate::text::{borrow, borrow_all, items};

/// Python objects kept alive while their text is borrowed: one string, or the words of one input.
pub(crate) enum InputObject<'py> {
    Text(Bound<'py, PyAny>),
    Words(Vec<Bound<'py, PyAny>>),
}

impl<'py> InputObject<'py> {
    /// Take a reference to one input; with `is_pretokenized` it is a sequence of words.
    pub(crate) fn take(
        value: &Bound<'py, PyAny>,
        is_pretokenized: bool,
        place: impl Fn() -> String,
    ) -> PyResult<Self> {
        if is_pretokenized {
            items(value, &place()).map(Self::Words)
        } else {
            Ok(Self::Text(value.clone()))
        }
    }

    /// Borrow the text or the words.
    fn borrow(&self, place: impl Fn() -> String) -> PyResult<Borrowed<'_>> {
        Ok(match self {
            Self::Text(value) => Borrowed::Text(borrow(value, place)?),
            Self::Words(words) => Borrowed::Words(borrow_all(words, &place())?),
        })
    }
}

/// Inputs kept alive while their text is borrowed: Python objects, or a column of another library.
pub(crate) enum InputRows<'a, 'py> {
    Objects(Vec<InputObject<'py>>),
    Column(BorrowedColumn<'a>),
}

impl<'a, 'py> InputRows<'a, 'py> {
    /// Take references to many inputs.
    pub(crate) fn take(
        values: &'a Bound<'py, PyAny>,
        is_pretokenized: bool,
        place: &str,
    ) -> PyResult<Self> {
        if let Ok(column) = values.cast::<TextColumn>() {
            return Ok(Self::Column(TextColumn::borrow(column)));
        }
        let rows = items(values, place)?;
        let take = |(row, value)| InputObject::take(value, is_pretokenized, || format!("{place}[{row}]"));
        rows.iter().enumerate().map(take).collect::<PyResult<_>>().map(Self::Objects)
    }

    /// Borrow the text of every input.
    pub(crate) fn borrow(&self, place: &str) -> PyResult<Vec<Borrowed<'_>>> {
        match self {
            Self::Objects(objects) => {
                let rows = objects.iter().enumerate();
                rows.map(|(row, object)| object.borrow(|| format!("{place}[{row}]"))).collect()
            }
            Self::Column(column) => Ok(column.texts(place)?.into_iter().map(Borrowed::Text).collect()),
        }
    }
}

/// Text borrowed from Python.
pub(crate) enum Borrowed<'a> {
    Text(&'a str),
    Words(Vec<&'a str>),
}

impl Borrowed<'_> {
    /// Return the input of the encoder.
    pub(crate) fn input(&self) -> Input<'_> {
        match self {
            Self::Text(text) => Input::Text(text),
            Self::Words(words) => Input::Words(words),
        }
    }
}

/// Borrow the text of one input.
pub(crate) fn borrowed<'a>(object: &'a InputObject<'_>, place: &str) -> PyResult<Borrowed<'a>> {
    object.borrow(|| place.to_owned())
}

/// Return the selector of the special tokens that are parsed in text: all, or those with these ids.
pub(crate) fn selector(parse_special: Option<Vec<u32>>) -> Selector {
    parse_special.map_or(Selector::All, Selector::only)
}
