//! Columns of texts in the memory of another library, read without a copy: Arrow strings, numpy arrays of bytes.

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
    #[staticmethod]
    fn of_arrow(column: &Bound<'_, PyAny>, place: &str) -> PyResult<Self> {
        let unreadable = |ColumnError(found)| bad_argument(place, found, "a column of strings");
        let stream = column.getattr_opt("__arrow_c_stream__")?;
        let read = if let Some(lend) = stream {
            column_of_stream(&lend.call0()?)?
        } else {
            let two = column.call_method0("__arrow_c_array__")?.cast_into::<PyTuple>()?;
            column_of_array(&two.get_item(0)?, &two.get_item(1)?)?
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
        self.len()
    }

    fn __getitem__(slf: &Bound<'_, Self>, row: usize) -> PyResult<String> {
        let lent = Self::lend(slf);
        if row >= slf.get().len() {
            return Err(PyIndexError::new_err(row));
        }
        text(lent.row(row), "texts", row).map(str::to_owned)
    }
}

impl TextColumn {
    fn len(&self) -> usize {
        match &self.rows {
            Rows::Arrow(column) => column.len(),
            Rows::Bytes { len, .. } => *len,
        }
    }

    /// Borrow the memory.
    pub(crate) fn lend<'py>(slf: &'py Bound<'_, Self>) -> BorrowedColumn<'py> {
        match &slf.get().rows {
            Rows::Arrow(column) => BorrowedColumn::Arrow(column),
            Rows::Bytes { flat, width, len } => {
                BorrowedColumn::Bytes { flat: flat.bind(slf.py()).readonly(), width: *width, len: *len }
            }
        }
    }
}

impl BorrowedColumn<'_> {
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
