//! The input of the encoder, borrowed from Python: texts or lists of words; errors name the item.

use piecework_capsules::code_units;
use piecework_core::engine::batch::Source;
use piecework_core::engine::Input;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::columns::{check_size, BorrowedColumn, TextColumn};
use crate::errors::{bad_argument, wrong_type};

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

    /// Borrow the words, or the text by `read`.
    fn borrow<'s, T>(
        &'s self,
        place: impl Fn() -> String,
        read: impl Fn(&'s Bound<'py, PyAny>, &dyn Fn() -> String) -> PyResult<T>,
    ) -> PyResult<Borrowed<'s, T>> {
        Ok(match self {
            Self::Text(value) => Borrowed::Text(read(value, &place)?),
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

    /// Borrow every input as UTF-8.
    pub(crate) fn borrow(&self, place: &str) -> PyResult<Vec<Borrowed<'_, &str>>> {
        self.borrow_by(place, |value, place| borrow(value, place), |text| text)
    }

    /// Borrow every input, each text in the form in which it can be read without a copy.
    pub(crate) fn borrow_sources(&self, place: &str) -> PyResult<Vec<Borrowed<'_, Source<'_>>>> {
        self.borrow_by(place, |value, place| source(value, place), |text| Input::Text(text).into())
    }

    /// Borrow every input: objects by `read`, the texts of a column by `of_utf8`.
    fn borrow_by<'s, T>(
        &'s self,
        place: &str,
        read: impl Fn(&'s Bound<'py, PyAny>, &dyn Fn() -> String) -> PyResult<T>,
        of_utf8: impl Fn(&'s str) -> T,
    ) -> PyResult<Vec<Borrowed<'s, T>>> {
        match self {
            Self::Objects(objects) => {
                let rows = objects.iter().enumerate();
                rows.map(|(row, object)| object.borrow(|| format!("{place}[{row}]"), &read)).collect()
            }
            Self::Column(column) => {
                Ok(column.texts(place)?.into_iter().map(|text| Borrowed::Text(of_utf8(text))).collect())
            }
        }
    }
}

/// A text borrowed from Python in the form `T`, or words.
pub(crate) enum Borrowed<'a, T> {
    Text(T),
    Words(Vec<&'a str>),
}

impl Borrowed<'_, &str> {
    /// Return the input of the encoder.
    pub(crate) fn input(&self) -> Input<'_> {
        match self {
            Self::Text(text) => Input::Text(text),
            Self::Words(words) => Input::Words(words),
        }
    }
}

impl Borrowed<'_, Source<'_>> {
    /// Return the source for a batch.
    pub(crate) fn source(&self) -> Source<'_> {
        match self {
            Self::Text(source) => *source,
            Self::Words(words) => Input::Words(words).into(),
        }
    }
}

/// Borrow one input as UTF-8.
pub(crate) fn borrowed<'a>(object: &'a InputObject<'_>, place: &str) -> PyResult<Borrowed<'a, &'a str>> {
    object.borrow(|| place.to_owned(), |value, place| borrow(value, place))
}

/// Borrow one string in the form in which it can be read without a copy.
pub(crate) fn source<'a>(value: &'a Bound<'_, PyAny>, place: impl Fn() -> String) -> PyResult<Source<'a>> {
    let string = string(value, &place)?;
    match code_units(string) {
        Some(units) => Ok(Source::Units(units)),
        None => borrow(value, place).map(|text| Input::Text(text).into()),
    }
}

fn string<'a, 'py>(
    value: &'a Bound<'py, PyAny>,
    place: impl Fn() -> String,
) -> PyResult<&'a Bound<'py, PyString>> {
    value.cast::<PyString>().map_err(|_| wrong_type(place(), value, "str"))
}

/// Borrow one string.
pub(crate) fn borrow<'a>(value: &'a Bound<'_, PyAny>, place: impl Fn() -> String) -> PyResult<&'a str> {
    let string = string(value, &place)?;
    let text = string
        .to_str()
        .map_err(|_| bad_argument(place(), "a lone surrogate", "text that UTF-8 can encode"))?;
    check_size(text, place)?;
    Ok(text)
}

/// Collect the items of a sequence.
pub(crate) fn items<'py>(values: &Bound<'py, PyAny>, name: &str) -> PyResult<Vec<Bound<'py, PyAny>>> {
    if values.is_instance_of::<PyString>() {
        return Err(wrong_type(name.into(), values, "a sequence of str"));
    }
    let items = values.try_iter().map_err(|_| wrong_type(name.into(), values, "a sequence of str"))?;
    items.collect()
}

/// Borrow every item of a list as text.
pub(crate) fn borrow_all<'a>(items: &'a [Bound<'_, PyAny>], name: &str) -> PyResult<Vec<&'a str>> {
    let text = |(i, item): (usize, &'a Bound<'_, PyAny>)| borrow(item, || format!("{name}[{i}]"));
    items.iter().enumerate().map(text).collect()
}
