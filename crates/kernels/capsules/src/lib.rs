//! Arrow columns out of Python capsules.
//!
//! `piecework_kernels::arrow` imports from raw pointers, which is unsafe. Here that obligation is met: Python
//! gives the pointer of a capsule only to who names what it holds. It is a crate of its own because the kernels
//! know nothing of Python, and the bindings contain no `unsafe`.

use std::ffi::CStr;
use std::ptr::NonNull;

use piecework_kernels::arrow::{Column, ColumnError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

const STREAM: &CStr = c"arrow_array_stream";
const ARRAY: &CStr = c"arrow_array";
const SCHEMA: &CStr = c"arrow_schema";

/// Import the column of a capsule that `__arrow_c_stream__` returned.
///
/// Raises where it is not a capsule named `arrow_array_stream`; `Err` inside where it is not a column of strings.
pub fn column_of_stream(capsule: &Bound<'_, PyAny>) -> PyResult<Result<Column, ColumnError>> {
    let stream = pointer(capsule, STREAM)?;
    // SAFETY: by the Arrow PyCapsule interface, a capsule of this name holds a valid `struct ArrowArrayStream`,
    // released or not. Nobody else uses it meanwhile: this thread is attached to the interpreter.
    Ok(unsafe { Column::from_stream(stream) })
}

/// Import the column of the capsules that `__arrow_c_array__` returned.
///
/// Raises where they are not capsules named `arrow_schema` and `arrow_array`; `Err` inside where they are not a
/// column of strings.
pub fn column_of_array(
    schema: &Bound<'_, PyAny>,
    array: &Bound<'_, PyAny>,
) -> PyResult<Result<Column, ColumnError>> {
    let (schema, array) = (pointer(schema, SCHEMA)?, pointer(array, ARRAY)?);
    // SAFETY: by the Arrow PyCapsule interface, capsules of these names hold a valid `struct ArrowSchema` and a
    // valid `struct ArrowArray`, released or not. Nobody else uses them meanwhile, as above.
    Ok(unsafe { Column::from_array(schema, array) })
}

/// The pointer of a capsule, whose name Python checks.
fn pointer<T>(capsule: &Bound<'_, PyAny>, name: &CStr) -> PyResult<NonNull<T>> {
    Ok(capsule.cast::<PyCapsule>()?.pointer_checked(Some(name))?.cast())
}
