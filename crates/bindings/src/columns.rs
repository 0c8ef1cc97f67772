//! Text columns: Arrow strings, read without a copy, copies of numpy arrays of bytes, and the lines of a block.

use std::borrow::Cow;
use std::ops::Range;

use numpy::{PyArray1, PyArrayMethods};
use piecework_capsules::{column_of_array, column_of_stream};
use piecework_catch_panics::python;
use piecework_core::engine::batch::MAX_TEXT_BYTES;
use piecework_core::error::{Error, ErrorKind};
use piecework_formats::json_lines::{read_block, TextField, UnreadLine};
use piecework_formats::text_rows::TextRows;
use piecework_kernels::arrow::{Column, ColumnError};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyIterator, PyList, PyTuple};

use crate::errors::{bad_argument, null_text, raise};
use crate::release::ReleaseGil;
use crate::strings::string;

/// The index of the line, and the bytes at which it starts and ends.
type Unread = (usize, usize, usize);

/// Texts of an Arrow column, of a numpy array, or of a block of lines.
#[pyclass(frozen, module = "piecework._internal._core")]
pub struct TextColumn {
    rows: Rows,
}

enum Rows {
    Arrow(Column),
    /// Consecutive values of `width` bytes, padded with zeros.
    Bytes {
        flat: Vec<u8>,
        width: usize,
        len: usize,
    },
    Lines(TextRows),
}

/// A column that is borrowed while its texts are read.
pub(crate) struct BorrowedColumn<'a>(&'a Rows);

#[python]
impl TextColumn {
    /// Borrow an Arrow column of strings by `__arrow_c_stream__` or `__arrow_c_array__`.
    #[staticmethod]
    fn of_arrow(column: &Bound<'_, PyAny>, place: &str) -> PyResult<Self> {
        let unreadable = |ColumnError(found): ColumnError| {
            let expected = "a column of strings, such as one of a table's columns; dictionaries must be \
                decoded, or encoded with encode_column of piecework.integrations.arrow";
            bad_argument(place, found, expected)
        };
        let stream = column.getattr_opt("__arrow_c_stream__")?;
        let read = if let Some(export) = stream {
            column_of_stream(&export.call0()?)?
        } else {
            let capsules = column.call_method0("__arrow_c_array__")?.cast_into::<PyTuple>()?;
            column_of_array(&capsules.get_item(0)?, &capsules.get_item(1)?)?
        };
        Ok(Self { rows: Rows::Arrow(read.map_err(unreadable)?) })
    }

    /// Copy `len` values of `width` bytes each, padded with zeros.
    ///
    /// Other threads may write to the array while its texts are encoded without the GIL; what was checked as UTF-8 must
    /// not change.
    #[staticmethod]
    fn of_bytes(flat: &Bound<'_, PyArray1<u8>>, width: usize, len: usize) -> PyResult<Self> {
        if flat.len()? != width * len {
            let expected = format!("{len} rows of {width} bytes");
            return Err(bad_argument("flat", format!("{} bytes", flat.len()?), &expected));
        }
        Ok(Self { rows: Rows::Bytes { flat: flat.to_vec()?, width, len } })
    }

    /// Copy the lines of a block; `None` for invalid UTF-8.
    #[staticmethod]
    fn of_lines(py: Python<'_>, block: &[u8]) -> Option<Self> {
        let lines = py.release(|| simdutf8::basic::from_utf8(block).ok().map(TextRows::of_lines));
        lines.map(Self::of_rows)
    }

    /// Copy the text of each line of a block of JSON lines; return also the lines that Python must parse, whose texts
    /// are empty.
    #[staticmethod]
    fn of_json_lines(py: Python<'_>, block: &[u8], key: &str, path: Vec<String>) -> (Self, Vec<Unread>) {
        let (rows, unread) = py.release(|| {
            let found = read_block(block, TextField { key, path: &path });
            (TextRows::collect(&found.texts), found.unread)
        });
        let place = |line: UnreadLine| (line.line, line.start, line.end);
        (Self::of_rows(rows), unread.into_iter().map(place).collect())
    }

    /// Return a column of the texts of several columns, in order; columns of other libraries are copied.
    #[staticmethod]
    fn joined(columns: Vec<Bound<'_, Self>>) -> PyResult<Self> {
        let rows: Vec<Cow<'_, TextRows>> = columns.iter().map(Self::text_rows).collect::<PyResult<_>>()?;
        Ok(Self::of_rows(TextRows::joined(rows.iter().map(AsRef::as_ref))))
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

    /// Return the texts `start` to `end`.
    fn slice(slf: &Bound<'_, Self>, start: usize, end: usize) -> PyResult<Self> {
        let end = end.min(slf.get().len());
        let start = start.min(end);
        Self::selected(slf, |rows| rows.slice(start..end))
    }

    /// Return the texts that have a character other than whitespace.
    fn without_blank(slf: &Bound<'_, Self>) -> PyResult<Self> {
        Self::selected(slf, TextRows::without_blank)
    }

    /// Return the size of each text in bytes.
    fn sizes<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let column = Self::borrow(slf);
        let sizes = match column.0 {
            Rows::Lines(rows) => rows.sizes().map(|size| size as i64).collect(),
            _ => column.texts("texts")?.into_iter().map(|text| text.len() as i64).collect(),
        };
        Ok(PyArray1::from_vec(slf.py(), sizes))
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyIterator>> {
        Self::to_list(slf)?.try_iter()
    }

    /// Return the texts as strings.
    fn to_list<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyList>> {
        let column = Self::borrow(slf);
        let mut units = Vec::new();
        let texts = column.texts("texts")?;
        let strings = texts.into_iter().map(|text| string(slf.py(), text.as_bytes(), &mut units));
        PyList::new(slf.py(), strings.collect::<PyResult<Vec<_>>>()?)
    }
}

impl TextColumn {
    fn of_rows(rows: TextRows) -> Self {
        Self { rows: Rows::Lines(rows) }
    }

    /// Return a selection of the texts.
    fn selected(slf: &Bound<'_, Self>, select: impl FnOnce(&TextRows) -> TextRows) -> PyResult<Self> {
        Ok(Self::of_rows(select(Self::text_rows(slf)?.as_ref())))
    }

    /// Return the rows, copied from a column of another library.
    fn text_rows<'a>(slf: &'a Bound<'_, Self>) -> PyResult<Cow<'a, TextRows>> {
        Ok(match &slf.get().rows {
            Rows::Lines(rows) => Cow::Borrowed(rows),
            _ => Cow::Owned(TextRows::collect(Self::borrow(slf).texts("texts")?)),
        })
    }

    fn len(&self) -> usize {
        match &self.rows {
            Rows::Arrow(column) => column.len(),
            Rows::Bytes { len, .. } => *len,
            Rows::Lines(rows) => rows.len(),
        }
    }

    /// Borrow the column.
    pub(crate) fn borrow<'a>(slf: &'a Bound<'_, Self>) -> BorrowedColumn<'a> {
        BorrowedColumn(&slf.get().rows)
    }
}

impl BorrowedColumn<'_> {
    /// Borrow some rows as text; errors name the row.
    pub(crate) fn texts_of_rows(&self, rows: Range<usize>, place: &str) -> PyResult<Vec<&str>> {
        rows.map(|row| text(self.row(row), place, row)).collect()
    }

    /// Borrow every row as text; errors name the row.
    pub(crate) fn texts(&self, place: &str) -> PyResult<Vec<&str>> {
        match self.0 {
            Rows::Arrow(column) => {
                column.iter().enumerate().map(|(row, bytes)| text(bytes, place, row)).collect()
            }
            Rows::Bytes { len, .. } => self.texts_of_rows(0..*len, place),
            Rows::Lines(rows) => {
                let sized = |(row, text)| check_size(text, || format!("{place}[{row}]")).map(|()| text);
                rows.iter().enumerate().map(sized).collect()
            }
        }
    }

    /// Return the bytes of a row, without the zeros at its end; `None` for a null.
    fn row(&self, row: usize) -> Option<&[u8]> {
        match self.0 {
            Rows::Arrow(column) => column.get(row),
            Rows::Bytes { flat, width, .. } => {
                let value = flat.get(row * width..(row + 1) * width)?;
                let end = value.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
                Some(&value[..end])
            }
            Rows::Lines(rows) => Some(rows.row(row).as_bytes()),
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

/// Reject a text of 4 GiB or more.
pub(crate) fn check_size(text: &str, place: impl Fn() -> String) -> PyResult<()> {
    if text.len() > MAX_TEXT_BYTES {
        return Err(bad_argument(place(), format!("{} bytes", text.len()), "less than 4 GiB in one text"));
    }
    Ok(())
}
