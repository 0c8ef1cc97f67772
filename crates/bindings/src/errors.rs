//! The error mapping: each kind of core error is raised as one Python exception class.

use std::io;

use piecework_core::error::{Error, ErrorKind};
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError};
use pyo3::prelude::*;
use pyo3::types::PyType;
use pyo3::PyErrArguments;

/// Make the exception for a core error.
///
/// A Python exception behind the error becomes its `__cause__`; an interrupt is raised unchanged.
pub(crate) fn raise(error: Error) -> PyErr {
    let source = std::error::Error::source(&error);
    let errno = source.and_then(|source| source.downcast_ref::<io::Error>()?.raw_os_error());
    let cause = source.and_then(|source| source.downcast_ref::<PyErr>());
    let cause = cause.map(|cause| Python::attach(|py| cause.clone_ref(py)));
    match error.kind {
        ErrorKind::File => return file_error(error.place, &error.found, error.expected, errno),
        ErrorKind::Interrupted => return cause.unwrap_or_else(|| PyKeyboardInterrupt::new_err(())),
        _ => {}
    }
    let raised = exception(error.kind.class_name(), error.place, error.found, error.expected);
    if cause.is_some() {
        Python::attach(|py| raised.set_cause(py, cause));
    }
    raised
}

/// Make an `InputTypeError`.
pub(crate) fn wrong_type(place: String, found: &Bound<'_, PyAny>, expected: &str) -> PyErr {
    let found = found.get_type().name().map_or_else(|_| "an object".into(), |name| name.to_string());
    exception("InputTypeError", place, found, expected.into())
}

/// Make the `InputTypeError` for a null in place of a text.
pub(crate) fn null_text(place: String) -> PyErr {
    let expected =
        "str; drop nulls, or call encode_column of piecework.integrations.arrow, which keeps them";
    exception("InputTypeError", place, "null".into(), expected.into())
}

/// Make an `ArgumentError`.
pub(crate) fn bad_argument(place: impl Into<String>, found: impl Into<String>, expected: &str) -> PyErr {
    exception("ArgumentError", place.into(), found.into(), expected.into())
}

/// Make the `InternalError` for a panic.
pub(crate) fn internal(panic: &str) -> PyErr {
    let place = concat!("piecework ", env!("CARGO_PKG_VERSION"));
    let expected = concat!(
        "none: this is a bug, please report it with this message at ",
        env!("CARGO_PKG_REPOSITORY"),
        "/issues"
    );
    exception("InternalError", place.into(), format!("a panic: {panic}"), expected.into())
}

/// Make the built-in exception for an error of the operating system, with its `errno` and message.
pub(crate) fn system_error(error: io::Error) -> PyErr {
    let Some(errno) = error.raw_os_error() else { return error.into() };
    PyOSError::new_err((errno, message_of(&error.to_string(), errno)))
}

/// Make a `FileError`, which is also the built-in exception for its `errno`.
fn file_error(place: String, found: &str, expected: String, errno: Option<i32>) -> PyErr {
    let found = errno.map_or_else(|| found.to_owned(), |errno| message_of(found, errno).to_lowercase());
    exception_of("FileError", (place, found, expected, errno))
}

/// Return the message of the operating system without the number that Rust appends.
fn message_of(text: &str, errno: i32) -> String {
    text.strip_suffix(&format!(" (os error {errno})")).unwrap_or(text).to_owned()
}

/// Make an exception of `piecework.errors`.
fn exception(class: &str, place: String, found: String, expected: String) -> PyErr {
    exception_of(class, (place, found, expected))
}

fn exception_of(class: &str, arguments: impl PyErrArguments + 'static) -> PyErr {
    Python::attach(|py| {
        let class = py
            .import("piecework.errors")
            .and_then(|module| module.getattr(class))
            .and_then(|class| Ok(class.cast_into::<PyType>()?));
        match class {
            Ok(class) => PyErr::from_type(class, arguments),
            Err(error) => error,
        }
    })
}
