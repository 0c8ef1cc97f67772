//! Reads the memory of Python objects: Arrow columns out of capsules, and the code units of strings.
//!
//! `piecework_kernels::arrow` imports from raw pointers, which is unsafe. This crate discharges that obligation:
//! Python returns the pointer of a capsule only for the right name, and the name determines the type. It is a
//! separate crate because the kernels do not depend on Python and the bindings contain no `unsafe`.

mod strings;

use std::ffi::CStr;
use std::ptr::NonNull;

use piecework_kernels::arrow::{Column, ColumnError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

pub use strings::code_units;

const STREAM: &CStr = c"arrow_array_stream";
const ARRAY: &CStr = c"arrow_array";
const SCHEMA: &CStr = c"arrow_schema";

/// Import the column of a capsule that `__arrow_c_stream__` returned.
///
/// Raises if the object is not a capsule named `arrow_array_stream`. The inner result is `Err` if the column does not
/// contain strings.
pub fn column_of_stream(capsule: &Bound<'_, PyAny>) -> PyResult<Result<Column, ColumnError>> {
    let stream = pointer(capsule, STREAM)?;
    // SAFETY: by the Arrow PyCapsule interface, a capsule of this name contains a valid `struct ArrowArrayStream`,
    // released or not. No other code uses it during the call: this thread is attached to the
    // interpreter.
    Ok(unsafe { Column::from_stream(stream) })
}

/// Import the column of the capsules that `__arrow_c_array__` returned.
///
/// Raises if the objects are not capsules named `arrow_schema` and `arrow_array`. The inner result is `Err` if the
/// column does not contain strings.
pub fn column_of_array(
    schema: &Bound<'_, PyAny>,
    array: &Bound<'_, PyAny>,
) -> PyResult<Result<Column, ColumnError>> {
    let (schema, array) = (pointer(schema, SCHEMA)?, pointer(array, ARRAY)?);
    // SAFETY: by the Arrow PyCapsule interface, capsules of these names contain a valid `struct ArrowSchema` and a
    // valid `struct ArrowArray`, released or not. No other code uses them during the call, as above.
    Ok(unsafe { Column::from_array(schema, array) })
}

/// Return the pointer of a capsule; Python checks its name.
fn pointer<T>(capsule: &Bound<'_, PyAny>, name: &CStr) -> PyResult<NonNull<T>> {
    Ok(capsule.cast::<PyCapsule>()?.pointer_checked(Some(name))?.cast())
}
