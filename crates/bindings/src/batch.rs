//! Encoded batches: flat columns that are converted into numpy arrays at their first use, or into lists without numpy.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use numpy::{Element, IntoPyArray, PyArray1, PyArrayMethods};
use piecework_catch_panics::python;
use piecework_core::engine::batch::{BatchIds, Spans};
use pyo3::exceptions::PyIndexError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyInt, PyList};

use crate::errors::bad_argument;

/// The columns of an encoded batch.
#[pyclass(frozen, module = "piecework._internal._core")]
pub struct RawBatch {
    /// The ids of all rows.
    #[pyo3(get)]
    pub(crate) ids: LazyArray<u32>,
    /// The index of the first token of each row, and the number of tokens.
    #[pyo3(get)]
    pub(crate) row_offsets: LazyArray<i64>,
    /// Type ids; None when all are 0.
    #[pyo3(get)]
    pub(crate) type_ids: Option<LazyArray<u8>>,
    /// 1 for tokens and 0 for padding; None without padding.
    #[pyo3(get)]
    pub(crate) attention_mask: Option<LazyArray<u8>>,
    /// Start and end of each token; None unless encoded with `offsets`.
    #[pyo3(get)]
    pub(crate) offsets: Option<LazyArray<u32>>,
    /// The word of each token or -1; None unless encoded with `offsets`.
    #[pyo3(get)]
    pub(crate) word_ids: Option<LazyArray<i32>>,
    /// The sequence of each token or -1; None unless encoded with `offsets` and pairs.
    #[pyo3(get)]
    pub(crate) sequence_ids: Option<LazyArray<i8>>,
    /// The index of the text of each row; None unless encoded with `overflow`.
    #[pyo3(get)]
    pub(crate) samples: Option<LazyArray<i64>>,
    /// The number of tokens of all rows.
    #[pyo3(get)]
    token_count: usize,
    rows: usize,
    numbers: Arc<Numbers>,
}

impl RawBatch {
    /// Wrap the result of the encoder.
    pub(crate) fn new(batch: BatchIds, numbers: Arc<Numbers>) -> Self {
        let (offsets, word_ids, sequence_ids) = match batch.spans {
            Some(Spans { offsets, word_ids, sequence_ids }) => {
                (Some(offsets.into_flattened()), Some(word_ids), sequence_ids)
            }
            None => (None, None, None),
        };
        Self {
            token_count: batch.ids.len(),
            rows: batch.row_offsets.len().saturating_sub(1),
            ids: batch.ids.into(),
            row_offsets: batch.row_offsets.into(),
            type_ids: batch.type_ids.map(LazyArray::from),
            attention_mask: batch.attention_mask.map(LazyArray::from),
            offsets: offsets.map(LazyArray::from),
            word_ids: word_ids.map(LazyArray::from),
            sequence_ids: sequence_ids.map(LazyArray::from),
            samples: batch.samples.map(LazyArray::from),
            numbers,
        }
    }
}

#[python]
impl RawBatch {
    /// Wrap contiguous arrays.
    #[staticmethod]
    #[pyo3(signature = (
        ids, row_offsets, type_ids=None, attention_mask=None, offsets=None, word_ids=None,
        sequence_ids=None, samples=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "one for each column")]
    fn of_arrays(
        ids: Bound<'_, PyArray1<u32>>,
        row_offsets: Bound<'_, PyArray1<i64>>,
        type_ids: Option<LazyArray<u8>>,
        attention_mask: Option<LazyArray<u8>>,
        offsets: Option<LazyArray<u32>>,
        word_ids: Option<LazyArray<i32>>,
        sequence_ids: Option<LazyArray<i8>>,
        samples: Option<LazyArray<i64>>,
    ) -> PyResult<Self> {
        Ok(Self {
            token_count: ids.len()?,
            rows: row_offsets.len()?.saturating_sub(1),
            ids: ids.extract()?,
            row_offsets: row_offsets.extract()?,
            type_ids,
            attention_mask,
            offsets,
            word_ids,
            sequence_ids,
            samples,
            numbers: Arc::default(),
        })
    }

    /// Return a list of ids for each row.
    fn lists<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.ids.read(py, |ids| {
            let rows = self.row_offsets.read(py, |offsets| rows(ids, offsets))??;
            let lists = rows.into_iter().map(|row| self.numbers.list(py, row.iter().copied()));
            PyList::new(py, lists.collect::<PyResult<Vec<_>>>()?)
        })?
    }

    /// Return the ids of one row.
    pub(crate) fn row<'py>(&self, py: Python<'py>, row: usize) -> PyResult<Bound<'py, PyList>> {
        self.ids.read(py, |ids| {
            let of_row = |offsets: &[i64]| offsets.get(row..row + 2).map(|two| rows(ids, two));
            let found = self.row_offsets.read(py, of_row)?.ok_or_else(|| PyIndexError::new_err(row))?;
            self.numbers.list(py, found?.into_iter().flatten().copied().collect::<Vec<_>>().into_iter())
        })?
    }

    fn __len__(&self) -> usize {
        self.rows
    }
}

/// Return the ids of each row.
pub(crate) fn rows<'i>(ids: &'i [u32], row_offsets: &[i64]) -> PyResult<Vec<&'i [u32]>> {
    let row = |two: &[i64]| {
        let (start, end) = (usize::try_from(two[0]).ok()?, usize::try_from(two[1]).ok()?);
        ids.get(start..end)
    };
    let rows: Option<Vec<&[u32]>> = row_offsets.windows(2).map(row).collect();
    rows.ok_or_else(|| {
        bad_argument("row_offsets", "an offset beyond the ids", "ascending offsets up to the number of ids")
    })
}

/// A vector that is moved into a numpy array when the array is first requested.
pub(crate) struct LazyArray<T> {
    values: Mutex<Option<Arc<Vec<T>>>>,
    array: PyOnceLock<Py<PyArray1<T>>>,
}

impl<T: Element + Clone> LazyArray<T> {
    /// Return the array; the values are copied only while another thread reads them.
    fn array<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyArray1<T>>> {
        if self.array.get(py).is_none() {
            need_numpy(py)?;
        }
        let array = self.array.get_or_init(py, || {
            let values = self.values().take().map_or_else(Vec::new, Arc::unwrap_or_clone);
            values.into_pyarray(py).unbind()
        });
        Ok(array.bind(py))
    }

    /// Read the values, from the array once there is one.
    pub(crate) fn read<R>(&self, py: Python<'_>, work: impl FnOnce(&[T]) -> R) -> PyResult<R> {
        let values = self.values().clone();
        match values {
            Some(values) => Ok(work(&values)),
            None => Ok(work(self.array(py)?.try_readonly()?.as_slice()?)),
        }
    }

    /// Lock the values; no Python code runs under this lock.
    fn values(&self) -> MutexGuard<'_, Option<Arc<Vec<T>>>> {
        self.values.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> From<Vec<T>> for LazyArray<T> {
    fn from(values: Vec<T>) -> Self {
        Self { values: Mutex::new(Some(Arc::new(values))), array: PyOnceLock::new() }
    }
}

impl<'py, T: Element> FromPyObject<'_, 'py> for LazyArray<T> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let values = object.cast::<PyArray1<T>>()?;
        let array = PyOnceLock::new();
        array.get_or_init(object.py(), || values.to_owned().unbind());
        Ok(Self { values: Mutex::new(None), array })
    }
}

impl<'py, T: Element + Clone> IntoPyObject<'py> for &LazyArray<T> {
    type Target = PyArray1<T>;
    type Output = Bound<'py, PyArray1<T>>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Self::Output> {
        self.array(py).cloned()
    }
}

/// Cached integers below the size of a vocabulary.
#[derive(Default)]
pub(crate) struct Numbers {
    count: usize,
    slots: OnceLock<Vec<OnceLock<Py<PyInt>>>>,
}

impl Numbers {
    /// Cache integers below `count`; larger ones are not cached.
    pub(crate) fn below(count: usize) -> Self {
        Self { count, slots: OnceLock::new() }
    }

    /// Make a list of ids.
    pub(crate) fn list<'py>(
        &self,
        py: Python<'py>,
        ids: impl ExactSizeIterator<Item = u32>,
    ) -> PyResult<Bound<'py, PyList>> {
        let slots = self.slots.get_or_init(|| self.empty_slots(py));
        PyList::new(py, ids.map(|id| number(py, slots, id)))
    }

    /// Return empty slots; none in free-threaded Python, where threads would contend for the reference counts.
    fn empty_slots(&self, py: Python<'_>) -> Vec<OnceLock<Py<PyInt>>> {
        let is_free_threaded = py.version().contains("free-threading");
        std::iter::repeat_with(OnceLock::new).take(if is_free_threaded { 0 } else { self.count }).collect()
    }
}

/// Return the integer of an id, cached if the id has a slot.
#[inline(always)]
fn number<'py>(py: Python<'py>, slots: &[OnceLock<Py<PyInt>>], id: u32) -> Bound<'py, PyInt> {
    let Some(slot) = slots.get(id as usize) else { return new_number(py, id) };
    match slot.get() {
        Some(number) => number.bind(py).clone(),
        None => {
            let number = new_number(py, id);
            // Another thread may have filled the slot first, with an equal integer.
            let _ = slot.set(number.clone().unbind());
            number
        }
    }
}

/// Make an integer.
fn new_number(py: Python<'_>, id: u32) -> Bound<'_, PyInt> {
    let Ok(number) = id.into_pyobject(py);
    number
}

/// Import numpy; without this check, the `numpy` crate panics if the import fails.
pub(crate) fn need_numpy(py: Python<'_>) -> PyResult<()> {
    py.import(intern!(py, "numpy")).map(drop)
}

/// Move values into an array; raise `ImportError` if numpy cannot be imported.
pub(crate) fn array<T: Element>(py: Python<'_>, values: Vec<T>) -> PyResult<Bound<'_, PyArray1<T>>> {
    need_numpy(py)?;
    Ok(values.into_pyarray(py))
}
