//! Borrowing Python strings as UTF-8, with errors that name the item.

use piecework_capsules::code_units;
use piecework_core::engine::batch::{Source, MAX_TEXT_BYTES};
use piecework_core::engine::Input;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::errors::{bad_argument, wrong_type};

/// Borrow one string in the form in which it can be read without a copy.
pub(crate) fn source<'a>(value: &'a Bound<'_, PyAny>, place: impl Fn() -> String) -> PyResult<Source<'a>> {
    let string = string(value, &place)?;
    match code_units(string) {
        Some(units) => Ok(Source::Units(units)),
        None => borrow(value, place).map(source_of_utf8),
    }
}

/// Return the source of a text in UTF-8.
pub(crate) fn source_of_utf8(text: &str) -> Source<'_> {
    Input::Text(text).into()
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

/// Reject a text of 4 GiB or more.
pub(crate) fn check_size(text: &str, place: impl Fn() -> String) -> PyResult<()> {
    if text.len() > MAX_TEXT_BYTES {
        return Err(bad_argument(place(), format!("{} bytes", text.len()), "less than 4 GiB in one text"));
    }
    Ok(())
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
