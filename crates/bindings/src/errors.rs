//! The error mapping: each kind of core error is raised as one Python exception class.

use std::io;

use piecework_core::error::{Error, ErrorKind};
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Make the exception for a core error.
///
/// A Python exception behind the error becomes its `__cause__`; an interrupt is raised unchanged.
pub(crate) fn raise(error: Error) -> PyErr {
    let source = std::error::Error::source(&error);
    let errno = source.and_then(|source| source.downcast_ref::<io::Error>()?.raw_os_error());
    let cause = source.and_then(|source| source.downcast_ref::<PyErr>());
    let cause = cause.map(|cause| Python::attach(|py| cause.clone_ref(py)));
    let Some(class) = class_of(error.kind) else {
        return cause.unwrap_or_else(|| PyKeyboardInterrupt::new_err(()));
    };
    let message = match errno {
        Some(errno) => format!("cannot be used: {}", message_of(&error.found, errno).to_lowercase()),
        None => error.message(),
    };
    let raised = exception(class, &error.place, &message, |fields| {
        fields.set_item("found", &error.found)?;
        fields.set_item("expected", &error.expected)?;
        fields.set_item("hint", error.hint())?;
        fields.set_item("limit", error.limit())?;
        fields.set_item("kind", error.fault())?;
        errno.map_or(Ok(()), |errno| fields.set_item("errno", errno))
    });
    if cause.is_some() {
        Python::attach(|py| raised.set_cause(py, cause));
    }
    raised
}

/// Return the name of the class in `piecework.errors` for a kind of error; an interrupt has none.
fn class_of(kind: ErrorKind) -> Option<&'static str> {
    Some(match kind {
        ErrorKind::Argument => "ArgumentError",
        ErrorKind::Format => "FormatError",
        ErrorKind::SpecialToken => "SpecialTokenError",
        ErrorKind::Vocabulary => "VocabularyError",
        ErrorKind::Corpus => "CorpusError",
        ErrorKind::Utf8 => "InvalidUtf8Error",
        ErrorKind::Training => "TrainingError",
        ErrorKind::Memory => "MemoryLimitError",
        ErrorKind::File => "FileError",
        ErrorKind::Stage => "StageError",
        ErrorKind::Interrupted => return None,
    })
}

/// Make an `InputTypeError`.
pub(crate) fn wrong_type(place: String, found: &Bound<'_, PyAny>, expected: &str) -> PyErr {
    let found = found.get_type().name().map_or_else(|_| "an object".into(), |name| name.to_string());
    exception("InputTypeError", &place, &format!("must be {expected}, not {found}"), |_| Ok(()))
}

/// Make the `InputTypeError` for a null in place of a text.
pub(crate) fn null_text(place: String) -> PyErr {
    let message = "must be str, not null; drop nulls, or call encode_column of \
        piecework.integrations.arrow, which keeps them";
    exception("InputTypeError", &place, message, |_| Ok(()))
}

/// Make an `ArgumentError`.
pub(crate) fn bad_argument(place: impl Into<String>, found: impl Into<String>, expected: &str) -> PyErr {
    raise(Error::new(ErrorKind::Argument, place, found, expected))
}

/// Make the `InternalError` for a panic.
pub(crate) fn internal(panic: &str) -> PyErr {
    let place = concat!("piecework ", env!("CARGO_PKG_VERSION"));
    let report = concat!(
        "this is a bug, please report it with this message at ",
        env!("CARGO_PKG_REPOSITORY"),
        "/issues"
    );
    exception("InternalError", place, &format!("a panic: {panic}; {report}"), |_| Ok(()))
}

/// Make the built-in exception for an error of the operating system, with its `errno` and message.
pub(crate) fn system_error(error: io::Error) -> PyErr {
    let Some(errno) = error.raw_os_error() else { return error.into() };
    PyOSError::new_err((errno, message_of(&error.to_string(), errno)))
}

/// Return the message of the operating system without the number that Rust appends.
fn message_of(text: &str, errno: i32) -> String {
    text.strip_suffix(&format!(" (os error {errno})")).unwrap_or(text).to_owned()
}

/// Make an exception of `piecework.errors`; `fill` sets its fields.
fn exception(
    class: &str,
    place: &str,
    message: &str,
    fill: impl FnOnce(&Bound<'_, PyDict>) -> PyResult<()>,
) -> PyErr {
    Python::attach(|py| {
        let fields = PyDict::new(py);
        let made = fill(&fields).and_then(|()| {
            py.import("piecework.errors")?.getattr(class)?.call((place, message), Some(&fields))
        });
        made.map_or_else(|error| error, PyErr::from_value)
    })
}
