//! Custom stages: functions passed beside the document, in the order of its stages. Files have none.

use std::cell::Cell;
use std::sync::Arc;

use piecework_core::error::Error;
use piecework_core::spec::{CustomSpec, TextFunction};
use serde_json::{json, Value};

use crate::json::Field;

const KIND: &str = "Custom";

/// The functions of the custom stages that are not read yet.
#[derive(Default)]
pub(super) struct Functions<'f>(Cell<&'f [Arc<dyn TextFunction>]>);

impl<'f> Functions<'f> {
    pub(super) fn new(functions: &'f [Arc<dyn TextFunction>]) -> Self {
        Self(Cell::new(functions))
    }

    fn take(&self) -> Option<Arc<dyn TextFunction>> {
        let (next, rest) = self.0.get().split_first()?;
        self.0.set(rest);
        Some(Arc::clone(next))
    }
}

/// Read a component that is a custom stage.
pub(super) fn read_custom(field: &Field, functions: &Functions<'_>) -> Result<Option<CustomSpec>, Error> {
    let Some(kind) = field.find("type")?.filter(|kind| kind.is(KIND)) else { return Ok(None) };
    let Some(function) = functions.take() else {
        let expected = "a component of this format: custom stages are functions, which files do not hold";
        return Err(kind.error(expected));
    };
    field.fields(&["type", "name"])?;
    Ok(Some(CustomSpec { name: field.get("name")?.text()?.to_owned(), function }))
}

pub(super) fn write_custom(custom: &CustomSpec) -> Value {
    json!({ "type": KIND, "name": custom.name })
}
