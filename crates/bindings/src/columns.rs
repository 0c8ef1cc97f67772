//! Text columns that another library owns, read without a copy: Arrow strings and numpy arrays of bytes.

use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1};
use piecework_capsules::{column_of_array, column_of_stream};
use piecework_catch_panics::catch_panics;
use piecework_core::error::{Error, ErrorKind};
use piecework_kernels::arrow::{Column, ColumnError};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::errors::{bad_argument, null_text, raise};
use crate::text::check_size;

/// Texts of an Arrow column or of a numpy array.
#[pyclass(frozen, module = "piecework._core")]
pub struct TextColumn {
    rows: Rows,
}

enum Rows {
    Arrow(Column),
    /// Consecutive values of `width` bytes, padded with zeros.
    Bytes {
        flat: Py<PyArray1<u8>>,
        width: usize,
        len: usize,
    },
}

/// A column that is borrowed while its texts are read.
pub(crate) enum BorrowedColumn<'py> {
    Arrow(&'py Column),
    Bytes { flat: PyReadonlyArray1<'py, u8>, width: usize, len: usize },
}

#[catch_panics]
#[pymethods]
impl TextColumn {
    /// Borrow an Arrow column of strings by `__arrow_c_stream__` or `__arrow_c_array__`.
    #[staticmethod]
    fn of_arrow(column: &Bound<'_, PyAny>, place: &str) -> PyResult<Self> {
        let unreadable = |ColumnError(found)| bad_argument(place, found, "a column of strings");
        let stream = column.getattr_opt("__arrow_c_stream__")?;
        let read = if let Some(export) = stream {
            column_of_stream(&export.call0()?)?
        } else {
            let capsules = column.call_method0("__arrow_c_array__")?.cast_into::<PyTuple>()?;
            column_of_array(&capsules.get_item(0)?, &capsules.get_item(1)?)?
        };
        Ok(Self { rows: Rows::Arrow(read.map_err(unreadable)?) })
    }

    /// Borrow `len` values of `width` bytes each, padded with zeros.
    #[staticmethod]
    fn of_bytes(flat: Bound<'_, PyArray1<u8>>, width: usize, len: usize) -> PyResult<Self> {
        if flat.len()? != width * len {
            let expected = format!("{len} rows of {width} bytes");
            return Err(bad_argument("flat", format!("{} bytes", flat.len()?), &expected));
        }
        Ok(Self { rows: Rows::Bytes { flat: flat.unbind(), width, len } })
    }

    fn __len__(&self) -> usize {
        self.len()
    }

    fn __getitem__(slf: &Bound<'_, Self>, row: usize) -> PyResult<String> {
        let column = Self::borrow(slf);
        if row >= slf.get().len() {
            return Err(PyIndexError::new_err(row));
        }
        text(column.row(row), "texts", row).map(str::to_owned)
    }
}

impl TextColumn {
    fn len(&self) -> usize {
        match &self.rows {
            Rows::Arrow(column) => column.len(),
            Rows::Bytes { len, .. } => *len,
        }
    }

    /// Borrow the column.
    pub(crate) fn borrow<'py>(slf: &'py Bound<'_, Self>) -> BorrowedColumn<'py> {
        match &slf.get().rows {
            Rows::Arrow(column) => BorrowedColumn::Arrow(column),
            Rows::Bytes { flat, width, len } => {
                BorrowedColumn::Bytes { flat: flat.bind(slf.py()).readonly(), width: *width, len: *len }
            }
        }
    }
}

impl BorrowedColumn<'_> {
    /// Borrow every row as text; errors name the row.
    pub(crate) fn texts(&self, place: &str) -> PyResult<Vec<&str>> {
        let checked = |(row, bytes)| text(bytes, place, row);
        match self {
            Self::Arrow(column) => column.iter().enumerate().map(checked).collect(),
            Self::Bytes { len, .. } => (0..*len).map(|row| checked((row, self.row(row)))).collect(),
        }
    }

    /// Return the bytes of a row, without the zeros at its end; `None` for a null.
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

/// Check one row of a column: a null and invalid UTF-8 are errors.
fn text<'r>(bytes: Option<&'r [u8]>, place: &str, row: usize) -> PyResult<&'r str> {
    let place = || format!("{place}[{row}]");
    let bytes = bytes.ok_or_else(|| null_text(place()))?;
    let text = simdutf8::compat::from_utf8(bytes).map_err(|error| {
        let found = format!("bytes that are not UTF-8 from byte {} on", error.valid_up_to());
        raise(Error::new(ErrorKind::Utf8, place(), found, "UTF-8 text"))
    })?;
    check_size(text, place)?;
    Ok(text)
}
