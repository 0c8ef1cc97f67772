//! What Python passes: texts or lists of words, borrowed, whose errors name the item; the options of a call, numbers of
//! threads, and dicts with the fields of a structure.

use piecework_capsules::code_units;
use piecework_catch_panics::python;
use piecework_core::engine::batch::Source;
use piecework_core::engine::{Input, Selection};
use piecework_core::level::Level;
use piecework_core::model::Sampling;
use piecework_core::spec::ParseSpecial;
use piecework_core::stages::added_tokens::Selector;
use pyo3::prelude::*;
use pyo3::types::PyString;
use pythonize::{depythonize, PythonizeError};
use serde::de::DeserializeOwned;

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

/// The settings of random segmentation for the texts of one call: a Python object with these attributes.
#[derive(FromPyObject)]
pub(crate) struct SeededSampling {
    alpha: f64,
    nbest_size: Option<usize>,
    seed: u64,
    text_index: u64,
}

/// Convert the settings for the core; `None` selects the best segmentation.
pub(crate) fn drawn(sampling: Option<SeededSampling>) -> Option<Sampling> {
    let convert = |SeededSampling { alpha, nbest_size, seed, text_index }| Sampling {
        alpha,
        nbest: nbest_size,
        seed,
        row: text_index,
    };
    sampling.map(convert)
}

/// Convert the arguments into the selection of segmentations.
pub(crate) fn selection(
    sampling: Option<SeededSampling>,
    replacement: bool,
    include_best: bool,
) -> Selection {
    match drawn(sampling) {
        None => Selection::Best,
        Some(sampling) if replacement => Selection::Sampled(sampling),
        Some(sampling) => Selection::WithoutReplacement { sampling, include_best },
    }
}

/// Return the selector of the special tokens that are parsed in text: all, or those with these ids.
pub(crate) fn selector(parse_special: Option<Vec<u32>>) -> Selector {
    parse_special.map_or(Selector::All, Selector::only)
}

/// The `parse_special` setting of a tokenizer in Python: True, False or "refuse".
#[derive(FromPyObject, IntoPyObject)]
pub(crate) enum StoredParseSpecial {
    Flag(bool),
    Name(String),
}

impl StoredParseSpecial {
    /// Return the setting for the core.
    pub(crate) fn checked(self) -> PyResult<ParseSpecial> {
        match self {
            Self::Flag(true) => Ok(ParseSpecial::All),
            Self::Flag(false) => Ok(ParseSpecial::Nothing),
            Self::Name(name) if name == REFUSE => Ok(ParseSpecial::Refuse),
            Self::Name(name) => Err(bad_argument("parse_special", name, "True, False or \"refuse\"")),
        }
    }
}

impl From<ParseSpecial> for StoredParseSpecial {
    fn from(parse_special: ParseSpecial) -> Self {
        match parse_special {
            ParseSpecial::All => Self::Flag(true),
            ParseSpecial::Nothing => Self::Flag(false),
            ParseSpecial::Refuse => Self::Name(REFUSE.to_owned()),
        }
    }
}

const REFUSE: &str = "refuse";

/// Convert a dict or a list of settings; a field that is missing, unknown or of another type is an error.
pub(crate) fn settings_of<T: DeserializeOwned>(settings: &Bound<'_, PyAny>) -> PyResult<T> {
    depythonize(settings).map_err(|error: PythonizeError| {
        bad_argument("settings", error.to_string(), "a dict with the fields of the settings")
    })
}

/// Check a thread count. Python code resolves None and the environment variable before the call.
pub(crate) fn thread_count(num_threads: i64) -> PyResult<usize> {
    if (1..=4096).contains(&num_threads) {
        return Ok(num_threads as usize);
    }
    Err(bad_argument("num_threads", num_threads.to_string(), "1 to 4096, or None"))
}

/// Return the number of CPUs available to the process, by CPU affinity and control group.
#[python]
pub(crate) fn available_processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Return the names of the levels that this CPU supports, the fastest last.
#[python]
pub(crate) fn kernel_levels() -> Vec<&'static str> {
    names()
}

/// Select the level for every thread of the process.
#[python]
pub(crate) fn use_kernel_level(name: &str) -> PyResult<()> {
    match Level::supported().into_iter().find(|level| level.name() == name) {
        Some(level) => level.activate(),
        None => return Err(bad_argument("name", format!("{name:?}"), &names().join(", "))),
    }
    Ok(())
}

/// Return the names of the supported levels.
fn names() -> Vec<&'static str> {
    Level::supported().into_iter().map(Level::name).collect()
}
