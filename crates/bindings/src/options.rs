//! Settings that Python passes: the options of a call, numbers of threads, and dicts with the fields of a structure.

use piecework_catch_panics::python;
use piecework_core::engine::Selection;
use piecework_core::level::Level;
use piecework_core::model::Sampling;
use piecework_core::spec::ParseSpecial;
use piecework_core::stages::added_tokens::Selector;
use pyo3::prelude::*;
use pythonize::{depythonize, PythonizeError};
use serde::de::DeserializeOwned;

use crate::errors::bad_argument;

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
