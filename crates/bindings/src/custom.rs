//! Custom stages: Python functions that the core calls on texts.
//!
//! Threads attach to the interpreter for each call. An exception becomes the cause of a core error; one that is not
//! an `Exception` (KeyboardInterrupt, SystemExit) stops the call and is raised unchanged.

use std::sync::Arc;

use piecework_core::error::{Error, ErrorKind};
use piecework_core::spec::{CharSpan, CustomWords, Rewritten, TextFunction};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

const REWRITTEN: &str = "str, or (str, spans): the text and a (start, end) for each of its characters";
const WORDS: &str = "a sequence of str, or of (start, end)";
const SPAN: &str = "(start, end) in characters of the input text";

/// Wrap the Python functions of custom stages, in the order of the specification.
pub(crate) fn functions(functions: Vec<Py<PyAny>>) -> Vec<Arc<dyn TextFunction>> {
    functions.into_iter().map(|function| Arc::new(PythonFunction(function)) as Arc<_>).collect()
}

/// The Python function of a custom stage.
#[derive(Debug)]
struct PythonFunction(Py<PyAny>);

impl TextFunction for PythonFunction {
    fn rewrite(&self, text: &str) -> Result<Rewritten, Error> {
        self.call(text, |result| {
            if result.is_instance_of::<PyString>() {
                return Ok(Rewritten { text: text_of(result, "a text")?, spans: None });
            }
            let pair = result.cast::<PyTuple>().ok().filter(|pair| pair.len() == 2);
            let pair = pair.ok_or_else(|| wrong(result, "", REWRITTEN))?;
            let (text, spans) = (pair.get_item(0).map_err(raised)?, pair.get_item(1).map_err(raised)?);
            if !text.is_instance_of::<PyString>() {
                return Err(wrong(&text, " as the first item of a tuple", REWRITTEN));
            }
            let spans = items(&spans, " as the second item of a tuple", REWRITTEN)?;
            let spans = spans.iter().enumerate().map(span_of).collect::<Result<_, _>>()?;
            Ok(Rewritten { text: text_of(&text, "a text")?, spans: Some(spans) })
        })
    }

    fn split(&self, text: &str) -> Result<CustomWords, Error> {
        self.call(text, |result| {
            if result.is_instance_of::<PyString>() {
                return Err(wrong(result, "", WORDS));
            }
            let words = items(result, "", WORDS)?;
            if words.first().is_some_and(PyAnyMethods::is_instance_of::<PyString>) {
                return words
                    .iter()
                    .enumerate()
                    .map(word_of)
                    .collect::<Result<_, _>>()
                    .map(CustomWords::Texts);
            }
            words.iter().enumerate().map(span_of).collect::<Result<_, _>>().map(CustomWords::Spans)
        })
    }
}

impl PythonFunction {
    /// Call the function on a text and convert its result.
    fn call<R>(
        &self,
        text: &str,
        read: impl FnOnce(&Bound<'_, PyAny>) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let called = Python::try_attach(|py| read(&self.0.bind(py).call1((text,)).map_err(raised)?));
        called
            .unwrap_or_else(|| Err(fault("an interpreter that is shutting down", "a running interpreter")))
    }
}

/// Collect the items of a sequence.
fn items<'py>(
    values: &Bound<'py, PyAny>,
    role: &str,
    expected: &str,
) -> Result<Vec<Bound<'py, PyAny>>, Error> {
    let items = values.try_iter().map_err(|_| wrong(values, role, expected))?;
    items.collect::<PyResult<_>>().map_err(raised)
}

/// Convert one word of a result.
fn word_of((at, word): (usize, &Bound<'_, PyAny>)) -> Result<String, Error> {
    if !word.is_instance_of::<PyString>() {
        return Err(wrong(word, &format!(" as word {at}"), "str, like the first word"));
    }
    text_of(word, &format!("word {at}"))
}

/// Convert one span of a result.
fn span_of((at, span): (usize, &Bound<'_, PyAny>)) -> Result<CharSpan, Error> {
    let pair = span.extract::<[i64; 2]>();
    pair.map(|[start, end]| (start, end)).map_err(|_| wrong(span, &format!(" as span {at}"), SPAN))
}

/// Convert a string; a lone surrogate is an error.
fn text_of(text: &Bound<'_, PyAny>, what: &str) -> Result<String, Error> {
    let text = text.cast::<PyString>().ok().and_then(|text| text.to_str().ok());
    let text = text.map(str::to_owned);
    text.ok_or_else(|| fault(format!("{what} with a lone surrogate"), "text that UTF-8 can encode"))
}

/// Make the error for an exception that a function raised.
fn raised(error: PyErr) -> Error {
    Python::attach(|py| {
        if !error.is_instance_of::<PyException>(py) {
            return Error::new(ErrorKind::Interrupted, "", "", "").because(error);
        }
        let kind = error.get_type(py).name().map_or_else(|_| "error".into(), |name| name.to_string());
        let message = error.value(py).to_string();
        let found = if message.is_empty() { kind } else { format!("{kind}: {message}") };
        fault(found, "").because(error)
    })
}

/// Make the error for a value of the wrong type.
fn wrong(found: &Bound<'_, PyAny>, role: &str, expected: &str) -> Error {
    let kind = found.get_type().name().map_or_else(|_| "an object".into(), |name| name.to_string());
    fault(format!("{kind}{role}"), expected)
}

/// Make an error of a custom stage.
fn fault(found: impl Into<String>, expected: &str) -> Error {
    Error::new(ErrorKind::Stage, "", found, expected)
}
