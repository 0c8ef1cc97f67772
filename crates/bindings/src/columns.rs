//! Columns of texts that others hold, read where they lie: Arrow strings and numpy arrays of bytes.

use std::ffi::{c_void, CStr};
use std::ptr::NonNull;

use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1};
use piecework_core::error::{Error, ErrorKind};
use piecework_kernels::arrow::{Column, Unreadable};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

use crate::errors::{bad_argument, null_text, raise};
use crate::text::check_size;

const STREAM: &CStr = c"arrow_array_stream";
const ARRAY: &CStr = c"arrow_array";
const SCHEMA: &CStr = c"arrow_schema";

/// Texts that an Arrow column or a numpy array holds.
#[pyclass(frozen, module = "piecework._core")]
pub struct TextColumn {
    rows: Rows,
}

enum Rows {
    Arrow(Column),
    /// Values one after another, each of `width` bytes, zeros after its end.
    Bytes {
        flat: Py<PyArray1<u8>>,
        width: usize,
        len: usize,
    },
}

/// A column whose memory is lent as long as this lives.
pub(crate) enum Lent<'py> {
    Arrow(&'py Column),
    Bytes { flat: PyReadonlyArray1<'py, u8>, width: usize, len: usize },
}

#[pymethods]
impl TextColumn {
    #[staticmethod]
    fn of_arrow(column: &Bound<'_, PyAny>, place: &str) -> PyResult<Self> {
        let unreadable = |Unreadable(found)| bad_argument(place, found, "a column of strings");
        let stream = column.getattr_opt("__arrow_c_stream__")?;
        let read = if let Some(lend) = stream {
            let capsule = lend.call0()?;
            Column::of_stream(pointer(&capsule, STREAM)?)
        } else {
            let two = column.call_method0("__arrow_c_array__")?.cast_into::<PyTuple>()?;
            Column::of_array(pointer(&two.get_item(0)?, SCHEMA)?, pointer(&two.get_item(1)?, ARRAY)?)
        };
        Ok(Self { rows: Rows::Arrow(read.map_err(unreadable)?) })
    }

    #[staticmethod]
    fn of_bytes(flat: Bound<'_, PyArray1<u8>>, width: usize, len: usize) -> PyResult<Self> {
        if flat.len()? != width * len {
            let expected = "as many bytes as rows times their width";
            return Err(bad_argument("flat", format!("{} bytes", flat.len()?), expected));
        }
        Ok(Self { rows: Rows::Bytes { flat: flat.unbind(), width, len } })
    }

    fn __len__(&self) -> usize {
        match &self.rows {
            Rows::Arrow(column) => column.len(),
            Rows::Bytes { len, .. } => *len,
        }
    }

    fn __getitem__(slf: &Bound<'_, Self>, row: usize) -> PyResult<String> {
        let lent = Self::lend(slf);
        if row >= slf.get().__len__() {
            return Err(PyIndexError::new_err(row));
        }
        text(lent.row(row), "texts", row).map(str::to_owned)
    }
}

impl TextColumn {
    /// Borrow the memory.
    pub(crate) fn lend<'py>(slf: &'py Bound<'_, Self>) -> Lent<'py> {
        match &slf.get().rows {
            Rows::Arrow(column) => Lent::Arrow(column),
            Rows::Bytes { flat, width, len } => {
                Lent::Bytes { flat: flat.bind(slf.py()).readonly(), width: *width, len: *len }
            }
        }
    }
}

impl Lent<'_> {
    /// Borrow every row as text; errors name it.
    pub(crate) fn texts(&self, place: &str) -> PyResult<Vec<&str>> {
        let checked = |(row, bytes)| text(bytes, place, row);
        match self {
            Self::Arrow(column) => column.iter().enumerate().map(checked).collect(),
            Self::Bytes { len, .. } => (0..*len).map(|row| checked((row, self.row(row)))).collect(),
        }
    }

    fn row(&self, row: usize) -> Option<&[u8]> {
        match self {
            Self::Arrow(column) => column.get(row),
            Self::Bytes { flat, width, .. } => {
                let value = flat.as_slice().ok()?.get(row * width..(row + 1) * width)?;
                let end = value.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
                Some(&value[..end])
            }
        }
    }
}

fn text<'r>(bytes: Option<&'r [u8]>, place: &str, row: usize) -> PyResult<&'r str> {
    let place = || format!("{place}[{row}]");
    let bytes = bytes.ok_or_else(|| null_text(place()))?;
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let found = format!("bytes that are not UTF-8 from byte {} on", error.valid_up_to());
        raise(Error::new(ErrorKind::Utf8, place(), found, "UTF-8 text"))
    })?;
    check_size(text, place)?;
    Ok(text)
}

/// What a capsule of this name holds; Python checks the name.
fn pointer(capsule: &Bound<'_, PyAny>, name: &CStr) -> PyResult<NonNull<c_void>> {
    capsule.cast::<PyCapsule>()?.pointer_checked(Some(name))
}
